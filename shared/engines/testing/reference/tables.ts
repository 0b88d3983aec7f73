/**
 * The rows that the corpus is run over. A grid holds awkward inputs, numbered from 1 in the column `n`; the other tables
 * are small logs with NULLs, ties and gaps, and one is empty.
 */
import { defaultLimits } from '../../../sql/limits.ts'
import { parse } from '../../../sql/parser.ts'
import type { Cast } from '../../../sql/tree.ts'
import type { Column } from '../../../sql/types.ts'
import type { Row, Value } from '../../engine.ts'
import { logColumns, logRows } from './logs.ts'

/** Values are in the forms of a binding: TIMESTAMP as ISO text in UTC, with a `Z` at its end. */
export interface Table {
  columns: Column[]
  rows: Row[]
}

/** Columns as the fields of a STRUCT. */
function columnsOf(fields: string): Column[] {
  const query = parse(`SELECT CAST(NULL AS STRUCT<${fields}>)`, defaultLimits)
  const { expression } = (query.body as unknown as { items: { expression: Cast }[] }).items[0]!
  return (expression.type as { fields: Column[] }).fields
}

function table(fields: string, rows: Value[][]): Table {
  const columns = columnsOf(fields)
  return {
    columns,
    rows: rows.map(values => Object.fromEntries(columns.map(({ name }, at) => [name, values[at] ?? null]))),
  }
}

function grid(columns: string, rows: Value[][]): Table {
  return table(
    `n INT64, ${columns}`,
    rows.map((values, at) => [at + 1, ...values]),
  )
}

/** A grid of one column. */
const list = (column: string, values: Value[]) =>
  grid(
    column,
    values.map(value => [value]),
  )

const grids = {
  bools: grid('a BOOL, b BOOL', [
    [true, true],
    [true, false],
    [true, null],
    [false, true],
    [false, false],
    [false, null],
    [null, true],
    [null, false],
    [null, null],
  ]),
  ints: grid('i INT64, j INT64', [
    [null, 2],
    [0, 0],
    [1, null],
    [-1, 3],
    [7, -3],
    [-7, 2],
    [255, 8],
    [1_000_000, 1_000],
    ['9007199254740993', 1],
    ['9223372036854775807', 1],
    ['-9223372036854775808', -1],
    ['9223372036854775807', '-9223372036854775808'],
    [5, 63],
    [-5, 64],
  ]),
  floats: grid('x FLOAT64, y FLOAT64', [
    [null, 1],
    ['NaN', 1],
    ['Infinity', 2],
    ['-Infinity', 0],
    [0, 0],
    [0.5, -0.5],
    [1.5, 'NaN'],
    [2.5, 0.1],
    [-2.5, 3],
    [2.675, 2],
    [0.1, 0.2],
    [-7.75, 2],
    [1e15, 1e-7],
    [123456789.12345679, 'Infinity'],
    [1e22, 1e21],
    [1.7976931348623157e308, 10],
    [5e-324, 2],
    [9007199254740992, 1],
  ]),
  numerics: grid('d NUMERIC, e NUMERIC', [
    [null, '1'],
    ['0', '0'],
    ['0.5', '-0.5'],
    ['1.5', '3'],
    ['-2.5', '0.000000001'],
    ['2.675', '2'],
    ['123.456', '-7.8'],
    ['1000000000000000', '0.1'],
    ['0.000000001', '2'],
    ['99999999999999999999999999999.999999999', '1'],
    ['-99999999999999999999999999999.999999999', '-1'],
  ]),
  strings: grid('s STRING, t STRING', [
    [null, 'a'],
    ['', ''],
    ['abc', 'b'],
    ['  padded\t', ' '],
    ['ÄÖÜ straße', 'ß'],
    ['日本語', '本'],
    ['a😀b', '😀'],
    ['e\u0301te\u0301', 'e'],
    ['İstanbul ıI', 'i'],
    ['a,b,,c', ','],
    ['100%_\\x', '%'],
    ['line one\nline two', '\n'],
    ['Hello World hello', 'hello'],
    ['aaa', 'aa'],
    ['GET /rest/v1/items?select=*', '/'],
    ['O\'Brien "x"', null],
  ]),
  /** Texts that are, or nearly are, values of other types. */
  texts: list('s STRING', [
    null,
    '',
    '0',
    '12',
    '-7',
    '+5',
    ' 42 ',
    '12.5',
    '1e3',
    '0x1F',
    '12x',
    '9223372036854775808',
    'NaN',
    '-inf',
    'true',
    'FALSE',
    'yes',
    '2024-02-29',
    '2024-2-9',
    '2023-02-29',
    '2024-03-31 02:30:00',
    '2024-03-31T02:30:00.123456Z',
    '2024-03-31 02:30:00+02:00',
    '2024-03-31 02:30:00 Europe/Berlin',
    '12:34:56',
    '12:34:56.789',
    '24:00:00',
    '0.123456789012',
  ]),
  lines: list('line STRING', [
    null,
    '',
    'GET | 200 | 203.0.113.7 | 0f1e | https://abc.example.co/rest/v1/items?select=id | curl/8.5.0',
    'POST | 500 | 2001:db8::1 | - | https://abc.example.co/auth/v1/token | Mozilla/5.0 (X11; Linux x86_64)',
    'connection authorized: user=app database=postgres application_name=psql',
    'duration: 1234.567 ms  statement: select * from "items" where id = $1',
    'ERROR:  relation "public.missing" does not exist at character 15',
    'level=warn ts=2024-03-31T01:00:00Z msg="slow query" took=1.5s rows=0',
    'TypeError: x is undefined\n    at handler (file:///src/index.ts:12:7)',
    'Zahlung über 12,50 € für Größe „XL“ 👍',
    '[12.345678] kernel: eth0: link up, 1000 Mbps',
    'a=1&b=&c=%20x&a=2',
  ]),
  urls: list('url STRING', [
    null,
    '',
    'https://abc.example.co/rest/v1/items?select=id&limit=10#top',
    'http://user:pw@WWW.Example.COM:8080/a/b.html',
    'https://sub.domain.example.co.uk',
    '//cdn.example.org/x.js',
    'example.com/path',
    '/rest/v1/items',
    'ftp://203.0.113.7/file',
    'https://[2001:db8::1]:443/x',
    'https://müller.example/ö',
    'mailto:a@example.com',
    'localhost:3000',
    'not a url',
  ]),
  times: list('ts TIMESTAMP', [
    null,
    '1970-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999999Z',
    '1965-06-15T12:34:56.789Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
    // Summer time begins in Berlin at 01:00 UTC, and ends at 01:00 UTC.
    '2024-03-31T00:59:59Z',
    '2024-03-31T01:00:00Z',
    '2024-10-27T00:30:00Z',
    '2024-10-27T01:30:00Z',
    '2024-02-29T23:59:59.999Z',
    '2020-12-31T12:00:00Z',
    '2021-01-03T23:00:00.5Z',
    '2026-03-14T09:26:53.589793Z',
    '1900-03-01T00:00:00Z',
  ]),
  spans: grid('a TIMESTAMP, b TIMESTAMP', [
    [null, '1970-01-01T00:00:00Z'],
    ['2024-03-31T00:00:00Z', '2024-03-30T23:59:59.999999Z'],
    ['2024-03-30T23:59:59.999999Z', '2024-03-31T00:00:00Z'],
    ['2024-03-31T12:00:00Z', '2024-03-31T12:00:00Z'],
    ['1970-01-01T00:00:00.5Z', '1969-12-31T23:59:59.25Z'],
    ['9999-12-31T23:59:59.999999Z', '0001-01-01T00:00:00Z'],
    ['2026-03-14T09:26:53.589793Z', '2025-03-14T09:26:53.589794Z'],
    ['2024-02-29T00:00:00Z', '2023-02-28T00:00:00Z'],
  ]),
  dates: grid('d DATE, e DATE', [
    [null, '2024-01-01'],
    ['1970-01-01', '1969-12-31'],
    ['2024-02-29', '2023-02-28'],
    ['2024-01-31', '2024-02-01'],
    ['0001-01-01', '9999-12-31'],
    ['9999-12-31', '0001-01-01'],
    ['2021-01-03', '2020-12-28'],
    ['2026-03-14', '2026-03-16'],
    ['1900-03-01', '1900-02-28'],
    ['2024-12-30', '2025-01-05'],
  ]),
  datetimes: grid('d DATETIME, e DATETIME', [
    [null, '2024-01-01T00:00:00'],
    ['1970-01-01T00:00:00', '1969-12-31T23:59:59.999999'],
    ['2024-02-29T12:34:56.789', '2023-02-28T12:34:56.789'],
    ['2024-03-31T02:30:00', '2024-10-27T02:30:00'],
    ['0001-01-01T00:00:00', '9999-12-31T23:59:59.999999'],
    ['9999-12-31T23:59:59.999999', '0001-01-01T00:00:00'],
    ['2021-01-03T23:00:00.5', '2020-12-28T00:00:00'],
    ['2026-03-14T09:26:53.589793', '2026-03-14T09:26:53.589794'],
  ]),
  clocks: grid('c TIME, d TIME', [
    [null, '12:00:00'],
    ['00:00:00', '23:59:59.999999'],
    ['12:34:56.789', '12:34:57'],
    ['23:59:59.999999', '00:00:00'],
    ['09:05:00', '09:05:00'],
  ]),
  /** JSON as text, as messages hold it; some is damaged. */
  bodies: list('s STRING', [
    null,
    '',
    'null',
    '{}',
    '[]',
    '{"a":1,"b":"two","c":null,"d":[1,2,{"e":true}],"f":{"g":"h"}}',
    '{"a":1.0,"b":1e3,"c":12345678901234567890,"d":0.1,"f":-0}',
    '{"a":"12","b":"","c":"null","d":"a\\"b\\\\c\\u00e9\\n"}',
    '{"a":{"a":{"a":{"a":{"a":"deep"}}}},"d":[[1],[2,[3]]]}',
    '{"a.b":1,"a b":2,"ü":3,"a\'s":4,"":5}',
    '{"a":true,"b":false,"c":[null,"x"]}',
    ' { "a" : [ 1 , 2 ] } ',
    '[{"a":1},{"a":2},{"b":3}]',
    '"text"',
    '12.50',
    'true',
    '{"a":1,"a":2}',
    '{"a":1',
    '{a:1}',
    'plain text',
  ]),
  /** Whole JSON values as text, to be parsed. */
  documents: list('s STRING', [
    null,
    'null',
    '{}',
    '[]',
    '"text"',
    '""',
    '12',
    '-1.5',
    '1e3',
    '9223372036854775807',
    'true',
    '{"a":1,"b":"two","c":null,"d":[1,2,{"e":true}]}',
    '{"a":{"b":{"c":"deep"}},"d":["x","y"]}',
    '{"a":"12","b":"true","c":"1.5","d":"x"}',
    '[1,"two",null,true,{"a":3}]',
  ]),
  arrays: grid('a ARRAY<INT64>, s ARRAY<STRING>', [
    [null, null],
    [[], []],
    [[1], ['x']],
    [
      [3, 1, 2, 3],
      ['b', 'a', 'b', ''],
    ],
    [
      [-5, 0, 5],
      ['ä', 'z', 'Z', '日'],
    ],
    [
      ['9223372036854775807', 1],
      ['a,b', 'c'],
    ],
  ]),
}

const minute = (index: number, seconds: string) =>
  `2026-03-14T09:${String(index).padStart(2, '0')}:${seconds}Z`

const logs = {
  /** Requests of twenty minutes: NULLs, ties, a gap, Unicode, tags and nested headers. */
  requests: table(
    'id INT64, ts TIMESTAMP, method STRING, path STRING, status INT64, ms FLOAT64, bytes INT64, cost NUMERIC, country STRING, tags ARRAY<STRING>, headers ARRAY<STRUCT<name STRING, value STRING>>, body STRING',
    [
      [1, minute(0, '05'), 'GET', '/rest/v1/items', 200, 12.5, 512, '0.01', 'DE', ['a', 'b'], [{ name: 'host', value: 'x' }], '{"ok":true,"n":1}'],
      [2, minute(0, '45.5'), 'GET', '/rest/v1/items', 200, 7.25, 512, '0.02', 'US', [], [], '{"ok":false,"n":2.5}'],
      [3, minute(1, '10'), 'POST', '/auth/v1/token', 400, 101, 80, null, 'US', ['b'], [{ name: 'host', value: 'y' }, { name: 'via', value: null }], 'plain'],
      [4, minute(1, '10'), 'POST', '/auth/v1/token', 429, null, 0, '0.5', null, null, null, null],
      [5, minute(2, '00'), 'GET', '/storage/v1/object/ü.png', 304, 0, null, '1.25', 'FR', ['c', 'a', 'a'], [], '{"ok":true,"n":null}'],
      [6, minute(3, '59.999999'), 'DELETE', '/rest/v1/items', 500, 2500.75, 1024, '2', 'DE', ['z'], [{ name: 'Host', value: 'X' }], '[1,2]'],
      [7, minute(4, '00'), null, '/', 503, 'Infinity', 10, '-1', '', [''], [], ''],
      [8, minute(9, '30'), 'GET', null, 200, 'NaN', 2048, '0', 'US', ['b', 'a'], [{ name: 'via', value: 'proxy' }], '{"n":3,"ok":true}'],
      [9, minute(9, '30'), 'get', '/REST/v1/Items', 200, 33.3, '9007199254740993', '0.000000001', 'de', ['日本'], [], '{"n":"4"}'],
      [10, minute(12, '00'), 'PATCH', '/rest/v1/orders', 204, 12.5, -1, '10', 'GB', [], [{ name: 'host', value: 'x' }], null],
      [11, minute(12, '00.000001'), 'GET', '/rest/v1/orders', 404, 3, 77, '0.1', 'US', ['a'], [{ name: 'host', value: 'x' }, { name: 'host', value: 'z' }], '{"n":-5}'],
      [12, minute(19, '59'), 'GET', '/realtime/v1/websocket', 101, 60_000, 0, '0.2', null, ['a', 'd'], [], 'null'],
      [13, null, 'GET', '/rest/v1/items', null, null, null, null, 'DE', null, null, null],
      [14, '1969-12-31T23:59:59.5Z', 'HEAD', '/rest/v1/items', 200, -1, 5, '3', 'US', ['b', 'b'], [], '{"n":7}'],
    ],
  ),
  /** Whom the requests' countries belong to; a code without requests, and one twice. */
  regions: table('country STRING, region STRING, since DATE', [
    ['DE', 'EU', '2020-01-01'],
    ['FR', 'EU', '2021-06-15'],
    ['US', 'NA', '1999-12-31'],
    ['US', 'AMER', '2024-02-29'],
    ['JP', 'APAC', null],
    [null, 'none', '1970-01-01'],
  ]),
  /** A table without a row, as a window of time may be. */
  nothing: table(
    'id INT64, ts TIMESTAMP, method STRING, path STRING, status INT64, ms FLOAT64, bytes INT64, cost NUMERIC, country STRING, tags ARRAY<STRING>, headers ARRAY<STRUCT<name STRING, value STRING>>, body STRING',
    [],
  ),
} // prettier-ignore

const nested = Object.fromEntries(
  Object.entries(logColumns).map(([name, fields]) => [
    name,
    { columns: columnsOf(fields), rows: logRows[name as keyof typeof logRows] },
  ]),
)

export const tables: Record<string, Table> = { ...grids, ...logs, ...nested }
