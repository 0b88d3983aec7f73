import { describe, expect, test } from '@jest/globals'
import { endpointIn, fieldsOf, typeOf } from './definition.ts'
import { DefinitionError, endpointFrom } from './definition-file.ts'

const id = '00000000-0000-4000-8000-000000000001'
const definition = {
  id,
  description: 'Something.',
  parameters: { type: 'object', required: ['project'], properties: { project: { type: 'string' } } },
}

function problems(change: object, name = 'a.b'): string[] {
  try {
    endpointFrom(name, { ...definition, ...change }, 'SELECT 1')
    return []
  } catch (error) {
    if (error instanceof DefinitionError)
      return error.problems.map(({ pointer, detail }) => `${pointer} ${detail}`)
    throw error
  }
}

describe('a definition', () => {
  test('gets the schema’s defaults', () => {
    expect(endpointFrom('a.b', definition, 'SELECT 1')).toMatchObject({
      id,
      name: 'a.b',
      required: ['project'],
      maxRows: 1000,
      maxResultBytes: null,
      timeoutSeconds: 30,
      cacheSeconds: 0,
      warm: null,
      sandbox: false,
      redact: false,
      sandboxDespiteRedaction: false,
    })
  })

  test('may allow callers’ SQL though the endpoint redacts', () => {
    const settings = [true, false, { redacted: 'refuse' }, { redacted: 'allow' }].map(sandbox => {
      const endpoint = endpointFrom('a.b', { ...definition, sandbox }, 'SELECT 1')
      return [endpoint.sandbox, endpoint.sandboxDespiteRedaction]
    })
    expect(settings).toEqual([
      [true, false],
      [false, false],
      [true, false],
      [true, true],
    ])
    expect(problems({ sandbox: { redacted: true } }).join()).toContain('/sandbox')
    expect(problems({ sandbox: {} }).join()).toContain('/sandbox')
  })

  test('is left unchanged', () => {
    const before = structuredClone(definition)
    endpointFrom('a.b', definition, 'SELECT 1')
    expect(definition).toEqual(before)
  })

  test.each([
    [{ id: 'x' }, '/id must be a UUID, such as '],
    [{ description: '' }, '/description must NOT have fewer than 1 characters'],
    [{ cached: true }, '/cached is not known; did you mean cache?'],
    [{ maxRows: 0 }, '/maxRows must be >= 1'],
    [{ maxResultBytes: 40_000_000 }, '/maxResultBytes must be <= 33000000'],
    [{ cache: {} }, '/cache needs seconds: How long'],
    [{ warm: { seconds: 5 } }, '/warm/seconds must be >= 60'],
    [{ warm: { seconds: 300, maxSets: 10_001 } }, '/warm/maxSets must be <= 10000'],
    [{ warm: { seconds: 300, query: 'a.warm.sql' } }, '/warm/query is gone: '],
    [{ warm: { seconds: 300, apart: { project: ['a'] } } }, '/warm/apart is gone: '],
    [
      { parameters: { properties: { a: { type: 'array' } } } },
      '/parameters/properties/a/type must be string or integer or number or boolean',
    ],
    [
      { parameters: { properties: { sql: { type: 'string' } } } },
      '/parameters/properties/sql is taken: another name is needed',
    ],
    [{ parameters: { required: ['x'], properties: {} } }, '/parameters/required names x, not declared'],
    [{ parameters: { properties: { a: { type: 'string', pattern: '(' } } } }, '/pattern must match format'],
    [
      { parameters: { properties: { a: { type: 'integer', format: 'iso-timestamp' } } } },
      '/parameters/properties/a/type must be string',
    ],
  ])('with %j is refused, naming the place', (change, expected) => {
    expect(problems(change).join('\n')).toContain(expected)
  })

  test.each(['Logs', '1a', 'a/b', 'a b', '', '00000000-0000-4000-8000-000000000001'])(
    'cannot have the name %j',
    name => {
      expect(problems({}, name)).toHaveLength(1)
    },
  )

  test('keeps its version where only what is of jobs changes', () => {
    const job = { labels: { team: 'a' }, callerLabels: ['page'], reservation: 'none' }
    const [before, after] = [definition, { ...definition, ...job }].map(one =>
      endpointFrom('a.b', one, 'SELECT 1'),
    )
    expect(after).toMatchObject(job)
    expect(after!.version).toBe(before!.version)
    expect(problems({ labels: { team: 'a' }, callerLabels: ['team'] })).toEqual([
      expect.stringContaining('names team, which labels fixes'),
    ])
    expect(problems({ labels: { key: 'a' } })).not.toEqual([])
    expect(problems({ reservation: 'logs' })).not.toEqual([])
  })

  test('reads back from the store as it was', () => {
    const endpoint = endpointFrom('a.b', definition, 'SELECT 1')
    const document = { id, fields: fieldsOf(endpoint), version: '1', writtenAt: 0 }
    expect(endpointIn(document.fields)).toEqual(endpoint)
  })

  test('has a roll-up or a list of them, and is read with the one that it was stored with before there were lists', () => {
    const rollup = { query: 'a.rollup.sql', from: 'a.from.sql' }
    const sql = 'SELECT MAX(d) AS d, t, k, COUNT(*) AS n FROM logs GROUP BY t, k'
    const from = (change: object) => endpointFrom('a.b', { ...definition, ...change }, 'SELECT 1', () => sql)
    const [made] = from({ rollup }).rollups
    expect(made).toEqual({ name: 'a.rollup', sql, partition: 't', cluster: ['k'], refreshMinutes: 30 })
    const [warmed] = from({ rollup: { ...rollup, cluster: [] }, warm: { seconds: 300 } }).rollups
    expect(warmed).toEqual({ ...made, cluster: [], refreshMinutes: 5 })
    expect(from({ rollup: {} }).rollups).toEqual([{ ...made, name: 'a.b.rollup' }])
    const two = from({ rollup: [rollup, { ...rollup, query: 'b.rollup.sql' }] }).rollups
    expect(two).toEqual([made, { ...made, name: 'b.rollup' }])
    const { rollups: _, ...endpoint } = from({ rollup })
    const stored = (change: object) => ({ definition: JSON.stringify({ ...endpoint, ...change }) })
    expect(endpointIn(stored({ rollup: made })).rollups).toEqual([made])
    expect(endpointIn(stored({ rollup: null })).rollups).toEqual([])
  })

  test.each([
    [['by'], "IF(@by = 'm', t, TIMESTAMP_TRUNC(t, HOUR))", { by: { enum: ['h', 'd'] } }],
    [[], 'TIMESTAMP_TRUNC(t, DAY)', null],
    [null, "IF(@by = 'm' OR @other = 'm', t, NULL)", null],
    [null, "IF(@other = 'm', t, NULL)", null],
    [null, "IF(@by != 'x', t, NULL)", null],
  ])('lets whole hours answer the calls for which they do: %j', (deciding, bucket, properties) => {
    const parameters = {
      properties: { by: { type: 'string', enum: ['m', 'h', 'd'] }, other: { type: 'string' } },
    }
    const rollup = { query: 'a.rollup.sql', from: 'a.sql', when: { required: ['by'] } }
    const made = 'SELECT l.t AS t, COUNT(*) AS n FROM logs AS l GROUP BY t'
    const from = `SELECT ${bucket}, SUM(n) FROM \`a.rollup\` GROUP BY 1`
    const { rollups, answers } = endpointFrom(
      'a.b',
      { ...definition, parameters, rollup },
      'SELECT 1',
      file => (file === 'a.sql' ? from : made),
    )
    expect(rollups.map(({ name }) => name)).toEqual(deciding ? ['a.rollup', 'a.hours.rollup'] : ['a.rollup'])
    expect(answers.at(-1)).toEqual({ sql: from, when: rollup.when })
    expect(answers.slice(0, -1).map(({ when }) => when)).toEqual(
      deciding
        ? [properties ? { allOf: [rollup.when, { required: deciding, properties }] } : rollup.when]
        : [],
    )
  })
})

describe('the version of a definition', () => {
  const version = (change: object, sql = 'SELECT 1') =>
    endpointFrom('a.b', { ...definition, ...change }, sql).version

  test('changes with everything that decides an answer', () => {
    const changes = [
      { maxRows: 5 },
      { maxResultBytes: 5000 },
      { redact: true },
      { sandbox: true },
      { sandbox: { redacted: 'allow' } },
      { cache: { seconds: 60 } },
    ]
    const versions = [version({}), version({}, 'SELECT 2'), ...changes.map(change => version(change))]
    expect(new Set(versions).size).toBe(versions.length)
  })

  test('does not change with the description', () => {
    expect(version({ description: 'Other words.' })).toBe(version({}))
  })
})

describe('a parameter', () => {
  test('is bound with the type that its schema says', () => {
    expect(typeOf({ type: 'integer' })).toEqual({ kind: 'INT64' })
    expect(typeOf({ type: 'string', format: 'iso-timestamp' })).toEqual({ kind: 'TIMESTAMP' })
    expect(typeOf({ type: 'string', format: 'regular-expression' })).toEqual({ kind: 'STRING' })
  })
})
