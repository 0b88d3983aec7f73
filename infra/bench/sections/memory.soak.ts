/** One instance under the largest load that it is set up for stays under 60 % of its memory. */
import { expect, test } from '@jest/globals'
import { openSite } from '../site.ts'
import { boundMB, countsByStatus, memoryOfAnswers, memoryOfRuns } from './memory.ts'

test('an instance of 1 GiB with 100,000 small answers in use serves 80 callers of a largest answer in 60 % of it', async () => {
  const site = await openSite()
  const { figures: ofAnswers, isEnforced } = await memoryOfAnswers(site, { count: 100_000 })
  const figures = [...ofAnswers, ...(await memoryOfRuns(site))]
  await site.close()
  console.log(
    [
      `limit by a control group: ${isEnforced}`,
      ...figures.map(
        ({ what, peakMB, statuses }) => `${what}: ${peakMB.toFixed(0)} MB (${countsByStatus(statuses)})`,
      ),
    ].join('\n'),
  )
  for (const { what, peakMB } of figures) expect([what, peakMB <= boundMB]).toEqual([what, true])
  const ofOne = figures.filter(({ what }) => what.includes('the largest answer'))
  expect(ofOne.map(({ statuses }) => statuses)).toEqual(ofOne.map(() => ({ 200: 80 })))
}, 1_200_000)
