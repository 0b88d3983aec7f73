/** Random queries: valid ones compose, and broken ones neither crash, nor hang, nor reach another table. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { SqlError } from '../sql/error.ts'
import { nameKey } from '../sql/relations.ts'
import { parse } from '../sql/parser.ts'
import { sandbox } from './sandbox.ts'
import { callerLimits, statementLimits } from '../sql/limits.ts'
import { endpoint } from './testing/endpoints.ts'
import { fuzz } from './testing/fuzz.ts'
import { leavesOf } from './testing/leaves.ts'
import { Random } from './testing/random.ts'
import { randomQuery } from './testing/random-queries.ts'
import { rounds } from '../testing/rounds.ts'

const own = endpoint(
  `WITH One AS (SELECT id FROM real_one WHERE p = @project), two AS (SELECT id FROM real_two),
   both AS (SELECT id FROM one UNION ALL SELECT id FROM two), alone AS (SELECT 1 AS id)
   SELECT id FROM both JOIN real_three USING (id)`,
  'project',
)
const names = ['One', 'two', 'both', 'alone']
const leavesBehind: Record<string, string[]> = {
  one: ['real_one'],
  two: ['real_two'],
  both: ['real_one', 'real_two'],
  alone: [],
}

const seeds = fc.integer()
const written = (seed: number, tables = names) => {
  const query = randomQuery(new Random(seed), tables)
  fc.pre(fits(query.sql))
  return query
}

/** A random query may have more tables than a caller's may have. */
function fits(sql: string): boolean {
  try {
    parse(sql, callerLimits)
    return true
  } catch (error) {
    if (error instanceof SqlError && error.message.includes('over 64 tables')) return false
    throw error
  }
}

describe('a random valid query', () => {
  test('composes to a statement that reads the real tables behind its own, and nothing else', () => {
    const holds = fc.property(seeds, seed => {
      const { sql, tables } = written(seed)
      const composed = sandbox(own, sql)
      expect(composed.tables.map(nameKey).toSorted()).toEqual([...tables].toSorted())
      const expected = new Set([...tables].flatMap(table => leavesBehind[table]!))
      expect([...leavesOf(parse(composed.sql, statementLimits))].toSorted()).toEqual([...expected].toSorted())
    })
    fc.assert(holds, { numRuns: rounds(30, 20_000) })
  })

  test('has one normal form, whose own normal form is itself', () => {
    const holds = fc.property(seeds, seed => {
      const { normal, sql } = sandbox(own, written(seed).sql)
      fc.pre(fits(normal)) // the operators of a pipe are queries there
      expect(sandbox(own, normal)).toMatchObject({ normal, sql })
    })
    fc.assert(holds, { numRuns: rounds(30, 20_000) })
  })

  test('is refused once a real table stands in the place of one of its tables', () => {
    const holds = fc.property(seeds, seed => {
      const { sql } = written(seed, ['secret'])
      if (/secret/i.test(sql)) expect(() => sandbox(own, sql)).toThrow(/"secret" is not a table/i)
    })
    fc.assert(holds, { numRuns: rounds(30, 20_000) })
  })
})

describe('a mutation of a valid or hostile query', () => {
  test('never crashes, takes over 100 ms or composes to anything outside', () => {
    const { tried, accepted, failures } = fuzz(5_000, 1)
    expect(failures).toEqual([])
    expect(tried).toBe(5_000)
    // Some have to pass, or the search would be looking at nothing but syntax errors.
    expect(accepted).toBeGreaterThan(50)
  })
})
