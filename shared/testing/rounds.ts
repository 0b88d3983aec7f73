import { expect, jest } from '@jest/globals'

/** A soak of a file of tests imports it, and its tests then have more rounds, and an hour each. */
const isSoak = expect.getState().testPath!.endsWith('.soak.ts')
if (isSoak) jest.setTimeout(3_600_000)

/** How many rounds a random test has: `few` beside all other tests, `many` in the soak. */
export const rounds = (few: number, many: number): number => (isSoak ? many : few)
