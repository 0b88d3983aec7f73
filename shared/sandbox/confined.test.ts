/**
 * Under a pinned parameter, whatever a caller's SQL asks, and in whichever form, it answers as if the rows of others
 * were not there: the same query over a store with and without them.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Confined } from './testing/confined.ts'
import { confinedQuery } from './testing/confined-queries.ts'
import { dashboardsOf } from './testing/dashboards/dashboards.ts'
import { Random } from './testing/random.ts'

const stores = new Confined()

beforeAll(() => stores.open())

afterAll(() => stores.close())

test('random queries of all forms answer as if others had no rows', async () => {
  let answered = 0
  for (let seed = 1; seed <= 15; seed++) {
    const sql = confinedQuery(new Random(seed))
    const [alone, among] = await stores.answers(sql)
    expect({ seed, sql, answer: among }).toEqual({ seed, sql, answer: alone })
    if (Array.isArray(alone)) answered++
  }
  expect(answered).toBeGreaterThan(12)
})

test('dashboards whose tables turn answer as if others had no rows', async () => {
  for (const { sql } of dashboardsOf('turns')) {
    const [alone, among] = await stores.answers(sql)
    expect(among).toEqual(alone)
  }
})
