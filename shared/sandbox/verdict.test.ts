/** A statement runs only if the engine's own dry run reads nothing beyond the endpoint's tables. */
import { expect, test } from '@jest/globals'
import { type Description, EngineError, type QueryEngine, type Statement } from '../engines/engine.ts'
import { describeError } from '../log.ts'
import { rememberVerdicts } from './verdict.ts'

const endpoint = {
  sql: 'WITH edge AS (SELECT id FROM `edge.logs`), auth AS (SELECT id FROM `auth.logs`) SELECT id FROM edge',
  parameters: {},
  version: '1',
}
const statement: Statement = {
  sql: 'WITH edge AS (SELECT id FROM `edge.logs`) (SELECT id FROM edge WHERE id = @id)',
  bindings: [{ name: 'id', type: { kind: 'STRING' }, value: 'secret' }],
}

/** An engine whose dry runs answer with `reads`, and the statements that it described. */
function engineThatReads(reads: (sql: string) => Partial<Description>) {
  const described: Statement[] = []
  const engine: QueryEngine = {
    run: () => Promise.reject(new Error('nothing is to run')),
    describe(statement) {
      described.push(statement)
      return Promise.resolve({
        kind: 'SELECT',
        tables: [],
        columns: [],
        bytes: null,
        ...reads(statement.sql),
      })
    },
    rollups: { has: async () => true, create: async () => {}, remove: async () => {} },
    close: () => Promise.resolve(),
  }
  return { assertWithin: rememberVerdicts(engine), described }
}

test('a statement within the endpoint’s tables passes, and is described once', async () => {
  const { assertWithin, described } = engineThatReads(() => ({ tables: ['edge.logs'] }))
  await assertWithin(endpoint, statement)
  await assertWithin(endpoint, statement)
  expect(described).toHaveLength(1)
})

test('a dry run gets no values', async () => {
  const { assertWithin, described } = engineThatReads(() => ({}))
  await assertWithin(endpoint, statement)
  expect(JSON.stringify(described)).not.toContain('secret')
})

test.each<[string, (one: typeof endpoint, other: Statement) => [typeof endpoint, Statement]]>([
  ['definition', (one, other) => [{ ...one, version: '2' }, other]],
  ['SQL', (one, other) => [one, { ...other, sql: `${other.sql} LIMIT 1` }]],
])('another %s is described too', async (_, change) => {
  const { assertWithin, described } = engineThatReads(() => ({ tables: ['edge.logs'] }))
  await assertWithin(endpoint, statement)
  await assertWithin(...change(endpoint, statement))
  expect(described).toHaveLength(2)
})

test.each<[string, Partial<Description>]>([
  ['a table', { tables: ['edge.logs', 'acme.warehouse.salaries'] }],
  ['a table of another case', { tables: ['EDGE.logs'] }],
  ['a routine', { tables: ['edge.logs'], routines: ['acme.warehouse.read_all'] }],
])('%s that is not the endpoint’s is refused every time, by its name in the log alone', async (_, reads) => {
  const { assertWithin } = engineThatReads(sql => (sql === statement.sql ? reads : { tables: ['edge.logs'] }))
  for (const attempt of [assertWithin, assertWithin]) {
    const error = await attempt(endpoint, statement).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'ApiError', code: 'internal', message: 'An internal error.' })
    const named = [...(reads.tables ?? []), ...(reads.routines ?? [])].find(name => name !== 'edge.logs')
    expect(describeError(error)['engine']).toBe(`the dry run of a sandboxed statement reads ${named}`)
  }
})

test('a statement that is no query by the dry run is refused', async () => {
  const { assertWithin } = engineThatReads(() => ({ kind: 'INSERT' }))
  await expect(assertWithin(endpoint, statement)).rejects.toMatchObject({ code: 'internal' })
})

test('the tables of a view pass, where the endpoint’s own tables read that view', async () => {
  const { assertWithin } = engineThatReads(sql => ({
    tables: sql.includes('edge.logs') ? ['edge.logs', 'acme.raw.edge'] : ['auth.logs', 'acme.raw.auth'],
    routines: ['acme.raw.mask'],
  }))
  await assertWithin(endpoint, statement)
})

test('a dry run that fails gives its reason, and is not remembered', async () => {
  let down = true
  const { assertWithin } = engineThatReads(() => {
    if (down) throw new EngineError('unavailable', 'BigQuery is not available')
    return { tables: ['edge.logs'] }
  })
  await expect(assertWithin(endpoint, statement)).rejects.toMatchObject({ reason: 'unavailable' })
  down = false
  await assertWithin(endpoint, statement)
})
