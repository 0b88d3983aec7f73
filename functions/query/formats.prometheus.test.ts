import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Row } from '../../shared/engines/engine.ts'
import { startService, type TestService } from '../testing/service.ts'
import { prometheus } from './formats.ts'

/** A reader by the format's own grammar: anything that it does not know is an error. */
function read(text: string) {
  const unescaped = (escaped: string) =>
    escaped.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
  const samples: { name: string; labels: Record<string, string>; value: number; millis: number | null }[] = []
  const comments: string[][] = []
  for (const line of text.split('\n').slice(0, -1)) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/s.exec(line)
    if (comment) {
      comments.push([comment[1]!, comment[2]!, unescaped(comment[3]!)])
      continue
    }
    const [, name, inner = '', value, millis] =
      /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:\\[\\n"]|[^\\"])*",?)*)\})? (\S+)(?: (-?\d+))?$/s.exec(
        line,
      )!
    const labels = [...inner.matchAll(/(\w+)="((?:\\.|[^\\"])*)"/gs)].map(each => [
      each[1],
      unescaped(each[2]!),
    ])
    samples.push({
      name: name!,
      labels: Object.fromEntries(labels),
      value: Number(value!.replace('Inf', 'Infinity')),
      millis: millis === undefined ? null : Number(millis),
    })
  }
  return { samples, comments }
}

const written = (...rows: Row[]) => prometheus(rows, [...new Set(rows.flatMap(row => Object.keys(row)))])

describe('a sample', () => {
  test('reads back as it was, whatever its labels and help hold', () => {
    const label = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,9}$/)
    const text = fc.string({ minLength: 1, unit: 'binary' })
    const value = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(fc.dictionary(label, text), text, value, (labels, help, number) => {
        const { samples, comments } = read(
          written({ name: 'a:b_1', value: number, labels, help, type: 'gauge' }),
        )
        expect(samples).toEqual([{ name: 'a:b_1', labels: { ...labels }, value: number + 0, millis: null }])
        expect(comments).toEqual([
          ['HELP', 'a:b_1', help],
          ['TYPE', 'a:b_1', 'gauge'],
        ])
      }),
      { numRuns: 25 },
    )
  })

  test.each([
    ['NaN', 'NaN'],
    ['Infinity', '+Inf'],
    ['-Infinity', '-Inf'],
    ['-12.50', '-12.50'],
    ['9007199254740993', '9007199254740993'],
    [1e21, '1e+21'],
    [0, '0'],
  ])('has the value %j as %s', (value, text) => expect(written({ name: 'a', value })).toBe(`a ${text}\n`))

  test('has its time in milliseconds, and none where it is NULL', () => {
    const at = 1_769_860_800_123_456
    expect(written({ name: 'a', value: 1, timestamp: at }, { name: 'b', value: 1, timestamp: null })).toBe(
      'a 1 1769860800123\nb 1\n',
    )
  })

  test('is left out where its value is NULL, and so is a label without text', () => {
    const labels = { z: true, a: 5, none: null, empty: '' }
    expect(written({ name: 'a', value: null, labels }, { name: 'b', value: 1, labels })).toBe(
      'b{a="5",z="true"} 1\n',
    )
  })
})

test('the lines of a metric stand together, below its comments, in any order of the rows', () => {
  const labelled = (name: string, value: number, path: string) => ({
    name,
    value,
    labels: { path },
    help: `${name}\\s`,
    type: 'counter',
  })
  expect(written(labelled('a', 1, '/x'), labelled('b', 2, '/x'), labelled('a', 3, '/"y\n'))).toBe(
    [
      '# HELP a a\\\\s\n# TYPE a counter\na{path="/x"} 1\na{path="/\\"y\\n"} 3\n',
      '# HELP b b\\\\s\n# TYPE b counter\nb{path="/x"} 2\n',
    ].join(''),
  )
})

test.each<[string, Row[], string]>([
  ['no name', [{ value: 1 }], 'needs a column name, and the answer has value: name one so, AS name'],
  [
    'no value',
    [{ name: 'a', n: 1 }],
    'needs a column value, and the answer has name, n: name one so, AS value',
  ],
  [
    'a column that no sample has',
    [{ name: 'a', value: 1, path: '/' }],
    'takes no column path: make it a label, STRUCT(path) AS labels, or leave it out',
  ],
  [
    'a name of other letters',
    [{ name: 'a.b', value: 1 }],
    'column name of row 1: it must be text of letters',
  ],
  ['a name that is NULL', [{ name: null, value: 1 }], 'column name of row 1'],
  [
    'a value that is text',
    [{ name: 'a', value: 'x' }],
    'column value of row 1: it must be a number: CAST it AS FLOAT64',
  ],
  ['a value that is a BOOL', [{ name: 'a', value: true }], 'column value of row 1'],
  [
    'a label’s list',
    [{ name: 'a', value: 1, labels: { l: [1] } }],
    'column labels.l of row 1: it must be text',
  ],
  ['labels as text', [{ name: 'a', value: 1, labels: '{}' }], 'column labels of row 1: it must be a STRUCT'],
  [
    'a label of other letters',
    [{ name: 'a', value: 1, labels: { 'a-b': 1 } }],
    'it must have names of letters',
  ],
  [
    'a label of Prometheus’s own',
    [{ name: 'a', value: 1, labels: { __a: 1 } }],
    'it must have names of letters',
  ],
  [
    'a type',
    [{ name: 'a', value: 1, type: 'histogram' }],
    'type of row 1: it must be one of gauge, counter, untyped',
  ],
  ['help that is a number', [{ name: 'a', value: 1, help: 1 }], 'column help of row 1: it must be text'],
  [
    'a time',
    [{ name: 'a', value: 1, timestamp: 'noon' }],
    'column timestamp of row 1: it must be a TIMESTAMP',
  ],
  [
    'a second row for a series',
    [
      { name: 'b', value: 1 },
      { name: 'a', value: 1, labels: { x: '' } },
      { name: 'a', value: 2 },
    ],
    'column labels of row 3: it must differ from those of row 2: group by them, or add one',
  ],
  [
    'another type of the same metric',
    [
      { name: 'a', value: 1, type: 'gauge' },
      { name: 'a', value: 1, labels: { x: 1 }, type: 'counter' },
    ],
    'column type or help of row 2: it must be the same in all rows of a metric',
  ],
])('refused, with the column and the remedy: %s', (_, rows, detail) => {
  let error = {}
  try {
    written(...rows)
  } catch (thrown) {
    error = thrown as object
  }
  expect(error).toMatchObject({ code: 'invalid_parameter', message: expect.stringContaining(detail) })
})

describe('over HTTP', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
  let service: TestService

  beforeAll(async () => {
    writeFileSync(
      join(folder, 'metrics.sql'),
      `SELECT CONCAT(@name, CAST(i AS STRING)) AS name, NUMERIC '1.5' AS value, STRUCT(@path AS path, i AS i) AS labels
       FROM UNNEST(GENERATE_ARRAY(1, @rows)) AS i`,
    )
    writeFileSync(
      join(folder, 'metrics.yaml'),
      `id: 00000000-0000-4000-8000-00000000000d
description: d
parameters:
  properties:
    name: {type: string, default: big_}
    path: {type: string, default: /}
    rows: {type: integer, default: 1}
cache: {seconds: 60}
`,
    )
    service = await startService({ tables: {}, queries: folder })
  })

  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const metrics = '/api/endpoints/query/metrics'

  test('a copy that was made for JSON serves a scrape, under a tag of its own', async () => {
    const json = await service.fetch(metrics)
    const scrape = await service.fetch(`${metrics}?format=prometheus`)
    expect(scrape.headers.get('cache-status')).toMatch(/^lqe; hit/)
    expect(scrape.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(scrape.headers.get('etag')).not.toBe(json.headers.get('etag'))
    expect(await scrape.text()).toBe('big_1{i="1",path="/"} 1.5\n')
  })

  // Of Prometheus 2.42 and 3.5, Telegraf, Spring's RestTemplate, axios, and a shell.
  test.each([
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'text/plain',
    ],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
      'text/plain',
    ],
    [
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3',
      'text/plain',
    ],
    ['text/plain, application/json, application/*+json, */*', 'application/json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['text/plain', 'application/problem+json'],
  ])('Accept: %s gets %s', async (accept, type) => {
    const response = await service.fetch(metrics, { headers: { Accept: accept } })
    expect(response.headers.get('content-type')!.split(';')[0]).toBe(type)
  })

  test('a large answer that cannot be written is refused each time, and can still be had as JSON', async () => {
    const large = `${metrics}?rows=500&path=${'x'.repeat(1000)}`
    const statuses = []
    for (const more of ['', '&name=a-', '&name=a-'])
      statuses.push((await service.fetch(`${large}${more}&format=prometheus`)).status)
    statuses.push((await service.fetch(`${large}&name=a-`)).status)
    expect(statuses).toEqual([200, 400, 400, 200])
  })
})
