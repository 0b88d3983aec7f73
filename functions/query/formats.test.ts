import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { csv } from '../../shared/answers/csv.ts'
import { startService, type TestService } from '../testing/service.ts'

let folder: string
let service: TestService

const sql = `
SELECT @text AS text, 1 AS number, 9007199254740993 AS big, CAST(NULL AS STRING) AS nothing,
  [STRUCT('x' AS a, [1, 2] AS b)] AS nested, TRUE AS yes
FROM UNNEST(GENERATE_ARRAY(1, @rows)) AS i`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'formats-'))
  writeFileSync(join(folder, 'shapes.sql'), sql)
  writeFileSync(
    join(folder, 'shapes.yaml'),
    `id: 00000000-0000-4000-8000-00000000000b
description: d
parameters: {properties: {text: {type: string, default: plain}, rows: {type: integer, default: 1}}}
maxRows: 3
cache: {seconds: 60}
`,
  )
  writeFileSync(
    join(folder, 'times.sql'),
    `SELECT TIMESTAMP '2026-01-31 12:00:00.123456+00' AS moment, TIMESTAMP '2026-01-31 12:00:00+00' AS whole,
      DATETIME '2026-01-31 12:00:00' AS \`local\`, DATE '2026-01-31' AS day, 12 AS count, 1769860800123456789 AS big`,
  )
  writeFileSync(
    join(folder, 'times.yaml'),
    `id: 00000000-0000-4000-8000-00000000000c
description: d
parameters: {properties: {}}
`,
  )
  service = await startService({ tables: {}, queries: folder })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const shapes = '/api/endpoints/query/shapes'
const times = '/api/endpoints/query/times'

async function text(query: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await service.fetch(`${shapes}?${query}`, { headers })
  expect(response.status).toBe(200)
  return response.text()
}

describe('JSON', () => {
  test('is the rows and their endpoint, and nothing that changes from call to call', async () => {
    const body = JSON.parse(await text('')) as { meta: { version: string } }
    expect(body).toEqual({
      result: [
        {
          text: 'plain',
          number: 1,
          big: '9007199254740993',
          nothing: null,
          nested: [{ a: 'x', b: [1, 2] }],
          yes: true,
        },
      ],
      meta: {
        endpoint: 'shapes',
        version: expect.stringMatching(/^[0-9a-f]{16}$/),
        rows: 1,
        truncated: false,
        redacted: false,
      },
    })
  })
})

describe('CSV', () => {
  test('has a header, CRLF, and nested values as JSON', async () => {
    expect(await text('format=csv')).toBe(
      'text,number,big,nothing,nested,yes\r\nplain,1,9007199254740993,,"[{""a"":""x"",""b"":[1,2]}]",true\r\n',
    )
  })

  test('has its header without rows too', async () => {
    expect(await text('rows=0&format=csv')).toBe('text,number,big,nothing,nested,yes\r\n')
  })

  test('is no formula where a line that begins with a negative number is one cell', () => {
    expect(csv([{ c: -1, b: "2+cmd|'/C calc'!A0", d: -2.5, e: null }], ['c', 'b', 'd', 'e'])).toBe(
      `c,b,d,e\r\n-1,"2+cmd|'/C calc'!A0",-2.5,\r\n`,
    )
  })

  test('begins no formula in names and nested values', () => {
    const name = 'a;=1+1'
    expect(csv([{ [name]: [{ [name]: '|@x' }] }], [name])).toBe(`"a;'=1+1"\r\n"[{""a;'=1+1"":""|'@x""}]"\r\n`)
  })

  test.each([
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['=1+1', "'=1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+cmd', "'+cmd"],
    ['-2+3', "'-2+3"],
    ['-2.5', '-2.5'],
    ['-Infinity', '-Infinity'],
    ['-1e-7', '-1e-7'],
    ['\t=1', `"\t'=1"`],
    ['\r\r@x', `"\r\r'@x"`],
    ['a;=1+1', `"a;'=1+1"`],
    ['a;"=1+1"', `"a;'""=1+1"""`],
    ['a|@SUM(A1)\t+cmd\n-2+3', `"a|'@SUM(A1)\t'+cmd\n'-2+3"`],
    ['1;-2;+3.5;x', '"1;-2;+3.5;x"'],
    ['＝1+1', "'＝1+1"],
    ['a;\u200b＠x', `"a;'\u200b＠x"`],
    ['a-b, c=d; e', '"a-b, c=d; e"'],
  ])('writes %j as %j', async (value, field) => {
    const written = await text(`text=${encodeURIComponent(value)}&format=csv`)
    expect(written.slice(written.indexOf('\r\n') + 2).startsWith(`${field},1,`)).toBe(true)
  })
})

describe('CSV for a spreadsheet', () => {
  const sheet = (query: string) => text(`${query}&format=spreadsheet`)

  test('begins with a byte order mark, and has times that it reads, with their zone in the header', async () => {
    const response = await service.fetch(`${times}?format=spreadsheet`)
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(Buffer.from(await response.arrayBuffer()).toString()).toBe(
      '\ufeffmoment (UTC),whole (UTC),local,day,count,big\r\n2026-01-31 12:00:00.123,2026-01-31 12:00:00,2026-01-31 12:00:00,2026-01-31,12,1769860800123456789\r\n',
    )
  })

  test('is CSV otherwise', async () => {
    expect(await sheet('text=%3D1')).toContain("'=1,1,9007199254740993,,")
    // fetch takes the mark away.
    expect(await sheet('rows=0')).toBe('text,number,big,nothing,nested,yes\r\n')
  })

  test('leaves CSV as it is', async () => {
    expect(await (await service.fetch(`${times}?format=csv`)).text()).toContain(
      '1769860800123456,1769860800000000,2026-01-31T12:00:00,',
    )
  })
})

describe('NDJSON', () => {
  test('is one row a line', async () => {
    const lines = (await text('rows=2&format=ndjson')).split('\n')
    expect(lines).toHaveLength(3)
    expect(JSON.parse(lines[1]!)).toMatchObject({ text: 'plain', big: '9007199254740993' })
  })
})

describe('the format', () => {
  test.each([
    ['text/csv', 'text/csv; charset=utf-8'],
    ['application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['text/html, application/json;q=0.5', 'application/json; charset=utf-8'],
    ['text/csv;q=0.1, */*', 'application/json; charset=utf-8'],
    ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
    ['application/json; indent=4;q=0.1 , text/csv ; header=present; q=0.5', 'text/csv; charset=utf-8'],
  ])('for Accept: %s is %s', async (accept, type) => {
    const response = await service.fetch(shapes, { headers: { Accept: accept } })
    expect(response.headers.get('content-type')).toBe(type)
  })

  test('in the URL goes before Accept', async () => {
    expect(await text('format=json', { Accept: 'text/csv' })).toMatch(/^\{/)
  })

  test('that does not exist is a 406, or a 400 for a name', async () => {
    expect((await service.fetch(shapes, { headers: { Accept: 'image/png' } })).status).toBe(406)
    const response = await service.fetch(`${shapes}?format=xml`)
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      400,
      'format must be one of json, csv, ndjson, spreadsheet, prometheus',
    ])
  })
})

describe('rows beyond the limit', () => {
  test('are cut, and the body and a header say so', async () => {
    const response = await service.fetch(`${shapes}?rows=4`)
    expect(response.headers.get('x-result-truncated')).toBe('true')
    expect(((await response.json()) as { meta: object }).meta).toMatchObject({ rows: 3, truncated: true })
    const whole = await service.fetch(`${shapes}?rows=3`)
    expect(whole.headers.has('x-result-truncated')).toBe(false)
  })
})
