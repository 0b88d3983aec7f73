/** The commands of the operators' pages, as far as they can be checked in seconds; `guide.soak.ts` runs them. */
import { expect, test } from '@jest/globals'
import { lint, testWithGcloud } from '../google/testing/gcloud.ts'
import { blocksOfGuide, notRun } from './testing/guide.ts'

const commands = blocksOfGuide().flatMap(block => block.commands)

testWithGcloud()('gcloud has every command and flag of the guide', async () => {
  const ofGcloud = commands.flatMap(command => /^gcloud .*?(?= > \S+$|$)/.exec(command) ?? [])
  const wrong = `${ofGcloud[0]} --no-such-flag`
  expect(ofGcloud.length).toBeGreaterThan(15)
  // All at once: gcloud takes seconds to learn its own flags.
  expect(await lint([...ofGcloud, wrong])).toEqual([expect.stringContaining('--no-such-flag')])
})

test('each reason not to run a command is that of one', () => {
  for (const [pattern] of notRun) expect(commands).toContainEqual(expect.stringMatching(pattern))
})
