/** Many more random queries, and a million mutations from a new seed each time; the seed is in the title, so that a failure can be repeated. */
import { describe, expect, test } from '@jest/globals'
import { fuzz } from './testing/fuzz.ts'
import './fuzz.test.ts'

const seed = Date.now() % 1_000_000_000
const rounds = 20

describe(`a million mutations from seed ${seed} on`, () => {
  test.each(Array.from({ length: rounds }, (_, round) => seed + round))(
    'seed %i: none crashes, takes over 100 ms or reads another table',
    start => {
      expect(fuzz(1_000_000 / rounds, start).failures).toEqual([])
    },
    600_000,
  )
})
