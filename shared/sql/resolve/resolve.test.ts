/** What is not to be seen in the corpus (`shared/engines/resolution.test.ts`): where values come from, and what is not known. */
import { describe, expect, test } from '@jest/globals'
import { statementLimits } from '../limits.ts'
import { parse } from '../parser.ts'
import { descendants } from '../walk.ts'
import type { Column, Columns } from './resolution.ts'
import { resolve } from './resolve.ts'
import { firm, typeName } from './types.ts'

const tables: Record<string, Columns> = {
  logs: [
    { name: 'id', type: { kind: 'INT64' } },
    { name: 'path', type: { kind: 'STRING' } },
    {
      name: 'metadata',
      type: {
        kind: 'ARRAY',
        element: { kind: 'STRUCT', fields: [{ name: 'status', type: { kind: 'INT64' } }] },
      },
    },
  ],
  named: [{ name: 'a' }, { name: 'b' }],
  open: { unknown: 'nobody said them' },
}

function resolved(sql: string) {
  const tree = parse(sql, statementLimits)
  const catalog = {
    columnsOf: (name: string) => tables[name],
    tables: Object.keys(tables),
    parameters: new Map(),
  }
  return { tree, ...resolve(sql, tree, catalog) }
}

function rowsOf(sql: string): string {
  const { tree, rows } = resolved(sql)
  const { columns, open } = rows.get(tree)!
  const shown = columns.map(({ name, type }) => `${name} ${typeName(firm(type))}`)
  return [...shown, ...(open === null ? [] : ['...'])].join(', ')
}

/** The columns of tables that a column is made of, as `table.column`. */
function stored({ name, from }: Column): string[] {
  if (from.kind === 'table') return [`${from.table.path[0]!.name}.${name}`]
  if (from.kind === 'columns') return from.columns.flatMap(stored)
  return from.kind === 'field' ? stored(from.of).map(of => `${of}.${name}`) : [from.kind]
}

test.each([
  ['SELECT * FROM named', 'a UNKNOWN, b UNKNOWN'],
  ['SELECT *, 1 AS n FROM open', 'n INT64, ...'],
  [
    "SELECT * FROM (SELECT id, path, 'x' AS day, CURRENT_DATE() AS d FROM logs) AS t PIVOT(MAX(DATE_TRUNC(d, DAY)) FOR t.path IN ('/'))",
    'id INT64, day STRING, / DATE',
  ],
  ['SELECT SUM(SUM(id)) OVER (), SUM((SELECT COUNT(*) FROM named)) FROM logs', 'null INT64, null INT64'],
  ['SELECT n.*, path FROM (SELECT x FROM open) AS n, logs', 'x UNKNOWN, path STRING'],
  [
    'SELECT a = 1 AS x, a + 1 AS y, CONCAT(a, b) AS z, LENGTH(a) AS l FROM named',
    'x BOOL, y UNKNOWN, z UNKNOWN, l INT64',
  ],
  [
    'SELECT IF(a, [1], b) AS x, COALESCE(a, path) AS y, MAX(a) AS z, SPLIT(a)[OFFSET(0)] AS s FROM named, logs',
    'x UNKNOWN, y UNKNOWN, z UNKNOWN, s STRING',
  ],
  [
    'SELECT ARRAY_AGG(a) AS x, SUM(id) AS y, COUNTIF(a) AS z FROM named, logs',
    'x ARRAY<UNKNOWN>, y INT64, z INT64',
  ],
  ['SELECT a FROM named UNION ALL SELECT 1', 'a UNKNOWN'],
  ['SELECT status FROM logs, UNNEST(metadata)', 'status INT64'],
  ['SELECT m.status, n FROM logs AS l, l.metadata AS m WITH OFFSET AS n', 'status INT64, n INT64'],
])('of %s the columns are %s', (sql, columns) => {
  expect(rowsOf(sql)).toBe(columns)
  expect(resolved(sql).problem).toBeNull()
})

test.each([
  [
    'WITH t AS (SELECT *, 1 AS n FROM logs) SELECT * EXCEPT (metadata) FROM t',
    [['logs.id'], ['logs.path'], ['item']],
  ],
  [
    'SELECT * FROM (SELECT id FROM logs) AS l JOIN (SELECT a AS id FROM named) AS n USING (id)',
    [['item', 'item']],
  ],
  [
    'SELECT * EXCEPT (metadata, path) FROM logs UNION ALL SELECT * EXCEPT (b) FROM named',
    [['logs.id', 'named.a']],
  ],
  ['SELECT m.* FROM logs, UNNEST(metadata) AS m', [['array.status']]],
])('a column is followed to those that it is made of: %s', (sql, from) => {
  const { tree, rows } = resolved(sql)
  expect(rows.get(tree)!.columns.map(stored)).toEqual(from)
})

test('a path has a column, behind which are fields, or the row of a table', () => {
  const sql = 'SELECT l.path, m.status, l, named.a.b.c FROM logs AS l, l.metadata AS m, named'
  const { tree, paths } = resolved(sql)
  const found = [...descendants(tree)].flatMap(node => {
    const reference = node.kind === 'Path' ? paths.get(node) : undefined
    return reference ? [[reference.variable?.name, reference.column?.name ?? null, reference.parts]] : []
  })
  expect(found).toEqual([
    ['l', 'path', 2],
    ['m', 'm', 1],
    ['l', null, 1],
    ['named', 'a', 2],
  ])
})

test('expressions are coerced to the type of the others, and of what takes them', () => {
  const { coercions } = resolved(
    "SELECT id = 1.5, IF(TRUE, id, 2.5), DATE '2026-01-01' = '2026-01-02', POW(id, 2) FROM logs",
  )
  const found = [...coercions].map(([node, type]) => [node.kind, type.kind])
  expect(found).toEqual([
    ['Path', 'FLOAT64'],
    ['Path', 'FLOAT64'],
    ['Literal', 'DATE'],
  ])
})

describe('a fault', () => {
  test.each([
    ['SELECT pth FROM logs', 'Unrecognized name: pth; did you mean path?'],
    [
      'SELECT status FROM logs',
      'Unrecognized name: status, a field inside metadata: add CROSS JOIN UNNEST(metadata) AS m to FROM, and write m.status',
    ],
    ['SELECT 1 FROM lgs', 'Table not found: lgs; did you mean logs?'],
    [
      'SELECT id + path FROM logs',
      'No matching signature for operator + for argument types: INT64, STRING; it takes NUMBER + NUMBER or TIMESTAMP + INTERVAL; for the STRING write SAFE_CAST(x AS FLOAT64)',
    ],
    ['SELECT l.x FROM logs AS l', 'Name x not found inside l; there are id, path, metadata'],
  ])('is told of with a place: %s', (sql, message) => {
    const { problem } = resolved(sql)
    expect(problem?.message).toBe(message)
    expect(problem?.place).not.toBeNull()
  })

  test('leaves the rest of the query resolved', () => {
    expect(rowsOf('SELECT nothing AS x, id FROM logs WHERE nowhere = 1')).toBe('x UNKNOWN, id INT64')
  })

  test.each([
    'SELECT x FROM open',
    'SELECT x.y.z, COUNT(*) FROM open, logs GROUP BY 1',
    'SELECT (SELECT x) FROM open',
  ])('is none where a name may be a column that is not known: %s', sql => {
    expect(resolved(sql).problem).toBeNull()
  })
})

test('columns and types that each query doubles end', () => {
  const doubled = (n: number): string =>
    n === 0 ? 'SELECT 1 AS a' : `SELECT a.*, b.* FROM (${doubled(n - 1)}) AS a, named AS b, named AS c`
  const again = Array.from(
    { length: 40 },
    (_, at) => `t${at + 1} AS (SELECT x.*, y.* FROM t${at} AS x, t${at} AS y)`,
  )
  const nested = Array.from({ length: 40 }, (_, at) => `t${at + 1} AS (SELECT x, x AS y FROM t${at} AS x)`)
  expect(rowsOf(doubled(20)).length).toBeGreaterThan(0)
  expect(rowsOf(`WITH t0 AS (SELECT 1 AS a), ${again.slice(0, 30).join(', ')} SELECT * FROM t30`)).toBe('...')
  expect(
    rowsOf(`WITH t0 AS (SELECT 1 AS a), ${nested.slice(0, 30).join(', ')} SELECT x = x AS same FROM t30`),
  ).toBe('same BOOL')
})
