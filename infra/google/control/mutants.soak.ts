/** Each thing that set-up makes is needed: without it the rehearsal fails and says what is missing. */
import { expect, test } from '@jest/globals'
import { mutants } from './testing/mutants.ts'
import { partsOfSetUp, rehearse } from './rehearsal.ts'
import { openRehearsal } from './open-rehearsal.ts'

const minutes = 10 * 60_000

test.each(mutants)(
  'without $title the rehearsal fails',
  async ({ take, says }) => {
    const rehearsal = await openRehearsal({ out: () => {}, folder: process.cwd(), mutate: take })
    try {
      await expect(rehearse(rehearsal, partsOfSetUp, () => {})).rejects.toThrow(says)
    } finally {
      await rehearsal.stop()
    }
  },
  minutes,
)
