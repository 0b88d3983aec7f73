/** As `confined.test.ts`, with many more random queries, and all dashboards. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Confined } from './testing/confined.ts'
import { confinedQuery } from './testing/confined-queries.ts'
import { dashboardsOf, subjects } from './testing/dashboards/dashboards.ts'
import { Random } from './testing/random.ts'

const count = 1_500
const first = 1_000

const stores = new Confined()

beforeAll(() => stores.open(), 60_000)

afterAll(() => stores.close())

test(`${count} random queries and all dashboards answer as if others had no rows`, async () => {
  let answered = 0
  let rows = 0
  const random = Array.from({ length: count }, (_, at) => confinedQuery(new Random(first + at)))
  for (const sql of [...random, ...subjects.flatMap(dashboardsOf).map(dashboard => dashboard.sql)]) {
    const [alone, among] = await stores.answers(sql)
    expect({ sql, answer: among }).toEqual({ sql, answer: alone })
    if (!Array.isArray(alone)) continue
    answered++
    rows += alone.length
  }
  process.stdout.write(`seeds ${first} to ${first + count - 1}: ${answered} answered, ${rows} rows\n`)
  expect(answered).toBeGreaterThan(0.9 * count)
}, 1_800_000)
