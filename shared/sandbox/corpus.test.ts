/**
 * What the sandbox writes out and composes gives the rows that Google's reference evaluator gives for the query as its
 * caller wrote it: the reference's corpus, over an endpoint with its tables.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { EngineError, type QueryEngine } from '../engines/engine.ts'
import { duckDb, type OpenEngine } from '../engines/testing/adapters.ts'
import { isFailed, questionsOf } from '../engines/testing/reference/corpus.ts'
import { differencesOf, knownDifferences } from '../engines/testing/reference/judge.ts'
import { tables } from '../engines/testing/reference/tables.ts'
import { ApiError } from '../errors.ts'
import { sandbox } from './sandbox.ts'
import { endpoint } from './testing/endpoints.ts'
import { rounds } from '../testing/rounds.ts'

const ctes = Object.entries(tables).map(
  ([name, { columns }]) =>
    `${name} AS (SELECT ${columns.map(column => column.name).join(', ')} FROM \`${name}\`)`,
)
const corpus = endpoint(`WITH ${ctes.join(', ')} SELECT 1 AS one`)

let open: OpenEngine

beforeAll(async () => {
  open = await duckDb.open(
    Object.fromEntries(Object.entries(tables).map(([name, { columns }]) => [name, columns])),
  )
  for (const [name, { rows }] of Object.entries(tables)) await open.append(name, rows)
})

afterAll(() => open.close())

/** The engine behind the sandbox, whose refusals it gives as its own. */
function sandboxed(engine: QueryEngine): QueryEngine {
  return {
    ...engine,
    run: async ({ sql, bindings }, limits) => {
      try {
        return await engine.run({ sql: sandbox(corpus, sql).sql, bindings }, limits)
      } catch (error) {
        if (error instanceof ApiError) throw new EngineError('rejected', error.message)
        throw error
      }
    },
  }
}

describe('behind the sandbox', () => {
  test.each([
    ['turns', 0.96],
    ['selects', 0.85],
  ])('the rows of %s are those of the reference, where it does not refuse them', async (subject, share) => {
    const own = knownDifferences(subject)
    const asked = questionsOf(subject).filter((_, at) => at % rounds(3, 1) === 0)
    const found = await differencesOf(sandboxed(open.engine), subject, asked)
    const others = [...found].filter(([id, difference]) => !own.has(id) && !isFailed(difference))
    expect(others).toEqual([])
    expect(1 - found.size / asked.length).toBeGreaterThan(share)
  })
})
