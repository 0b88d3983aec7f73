/**
 * Conditions on columns and parameters together, such as `REGEXP_CONTAINS(url, @pattern)`: they are asked of each set and the
 * distinct values of their columns, not of each row. The rows are read once, as a table of the columns that are needed.
 */
import { sameName } from '../columns.ts'
import { placeOf } from '../resolve/scope.ts'
import type { Type } from '../resolve/types.ts'
import type * as ast from '../tree.ts'
import { conjuncts, descendants } from '../walk.ts'
import { isBound, withNeededText } from './prefilters.ts'
import {
  type Batch,
  columnOfSet,
  type Here,
  inExpression,
  numberItem,
  parametersIn,
  prefix,
  setColumn,
  setsInFrom,
  type Sight,
} from './sets.ts'
import * as make from '../nodes.ts'

/** FROM and WHERE of a SELECT, and how its expressions read them. */
export interface Tables extends Pick<Here, 'carrying' | 'columns'> {
  node: ast.From
  where: ast.Expression[]
}

/** A column of the rows, and fields of it. */
interface Read {
  column: string
  fields: ast.Identifier[]
  type: Type | null
}

/** What a SELECT reads of its tables. */
interface Narrow {
  /** By the columns' names. */
  columns: Map<string, ast.Path>
  reads: Map<ast.Path, Read>
}

const rowsName = `${prefix}r`

/**
 * FROM and WHERE of a SELECT over tables that no parameter decides, with its conditions by distinct values.
 * @param bounds further conditions on the rows
 * @returns `null` where it has no such condition, or where the columns that it reads are not all known by name
 */
export function joinMatches(
  batch: Batch,
  node: ast.Select,
  { sight, orderBy, bounds }: { sight: Sight; orderBy: ast.OrderItem[]; bounds: ast.Expression[] },
): Tables | null {
  const asked = conjuncts(node.where)
  const narrow = narrowColumns(batch, node, orderBy)
  const patterns = narrow ? asked.filter(condition => isPattern(batch, condition, narrow)) : []
  if (!narrow || patterns.length === 0) return null
  const ofRows = asked.filter(condition => parametersIn(condition).length === 0)
  const others = asked.filter(condition => !ofRows.includes(condition) && !patterns.includes(condition))
  const rows = batch.newName('rows')
  const items = [...narrow.columns].map(([name, path]) => make.item(path, name))
  const where = make.chain('AND', [...ofRows, ...bounds])
  batch.addTable(rows, make.queryOf(make.select(items, node.from, { where })))
  const tables = patterns.map(pattern => matches(batch, pattern, { narrow, rows, sight }))
  const from = tables.reduce<ast.From>(
    (left, { table, on }) => make.join('INNER', left, make.table(table, null), on(tables[0]!.table)),
    make.table(rows, rowsName),
  )
  const ofSet = make.binary('=', columnOfSet(setColumn), make.path(tables[0]!.table, setColumn))
  const here: Here = { batch, sight, carrying: new Set(), columns: readFrom(rowsName, narrow) }
  return {
    node: make.join('INNER', from, setsInFrom(), ofSet),
    where: others.map(condition => inExpression(condition, here)),
    carrying: here.carrying,
    columns: here.columns,
  }
}

/** Adds the table of the sets and values for which a condition holds. */
function matches(
  batch: Batch,
  pattern: ast.Expression,
  { narrow, rows, sight }: { narrow: Narrow; rows: string; sight: Sight },
): { table: string; on(first: string): ast.Expression } {
  const reads = pathsIn(pattern).flatMap(path => narrow.reads.get(path) ?? [])
  const keys = [...new Map(reads.map(({ column, type }) => [column, type]))]
  const table = batch.newName('matches')
  const values = `${prefix}v`
  const columns = (of: string | null) =>
    keys.map(([name]) => make.item(of === null ? make.path(name) : make.path(of, name), null))
  const distinct = make.select(columns(null), make.table(rows, null), { distinct: true })
  const here: Here = { batch, sight, carrying: new Set(), columns: readFrom(values, narrow) }
  const asked = withNeededText(pattern, inExpression(pattern, here))
  const pairs = make.select(
    [...columns(values), numberItem()],
    make.join('CROSS', asked.sets, make.derivedTable(make.queryOf(distinct), values)),
    { where: asked.condition },
  )
  batch.addTable(table, make.queryOf(pairs))
  const sameSet = (first: string) =>
    table === first ? [] : [make.binary('=', make.path(table, setColumn), make.path(first, setColumn))]
  const on = (first: string) => [
    ...keys.flatMap(([name, type]) => sameValue([make.path(table, name), make.path(rowsName, name)], type)),
    ...sameSet(first),
  ]
  return { table, on: first => make.chain('AND', on(first))! }
}

/** Equal, or both NULL: by conditions of which each is a key that engines can join by. */
function sameValue([one, other]: [ast.Path, ast.Path], type: Type | null): ast.Expression[] {
  const value = (path: ast.Path) =>
    make.call('IFNULL', [
      type?.kind === 'STRING' ? path : make.cast(path, { kind: 'STRING' }),
      make.emptyText(),
    ])
  return [make.binary('=', value(one), value(other)), make.binary('=', isNull(one), isNull(other))]
}

function isNull(path: ast.Path): ast.Expression {
  return { kind: 'Parenthesized', expression: make.isNull(path), at: path.at }
}

function readFrom(table: string, { reads }: Narrow): Map<ast.Path, ast.Path> {
  return new Map(
    [...reads].map(([path, { column, fields }]) => {
      const base = make.path(table, column)
      return [path, { ...base, parts: [...base.parts, ...fields] }] as const
    }),
  )
}

const keyTypes = new Set<string>([
  'BIGNUMERIC',
  'BOOL',
  'DATE',
  'DATETIME',
  'INT64',
  'NUMERIC',
  'STRING',
  'TIME',
  'TIMESTAMP',
])

/** Whether a condition on columns and parameters is worth a table of its own, and can have one. */
function isPattern(batch: Batch, condition: ast.Expression, { reads }: Narrow): boolean {
  const own = pathsIn(condition).flatMap(path => reads.get(path) ?? [])
  return (
    own.length > 0 &&
    parametersIn(condition).length > 0 &&
    !isBound(batch, condition) &&
    own.every(({ fields, type }) => fields.length === 0 && keyTypes.has(type?.kind ?? ''))
  )
}

function pathsIn(node: ast.AnyNode): ast.Path[] {
  return [...descendants(node)].filter(part => part.kind === 'Path')
}

const hiding = new Set<string>(['Lambda', 'Query', 'SelectStar', 'WithExpression'])

/** The columns that a SELECT reads, where no `*`, query or whole row hides some. */
function narrowColumns({ resolution }: Batch, node: ast.Select, orderBy: ast.OrderItem[]): Narrow | null {
  const clauses = [{ ...node, from: null }, ...orderBy]
  if (!node.from || clauses.some(clause => [...descendants(clause)].some(({ kind }) => hiding.has(kind))))
    return null
  const list = resolution.rows.get(node)?.columns ?? []
  const found = clauses.flatMap(pathsIn).flatMap(path => {
    const reference = resolution.paths.get(path)
    if (!reference || (reference.column && list.includes(reference.column))) return []
    return { path, ...placeOf(reference, path.parts), whole: reference.column === null }
  })
  if (found.some(({ whole }) => whole)) return null
  const narrow: Narrow = { columns: new Map(), reads: new Map() }
  const names = new Map<ast.Path, string>()
  for (const { path, root, fields } of found) {
    const around = found.filter(other => other.root === root && isStart(other.fields, fields))
    const base = around.reduce((shortest, other) =>
      other.fields.length < shortest.fields.length ? other : shortest,
    )
    const column = names.get(base.path) ?? `${prefix}c${names.size + 1}`
    names.set(base.path, column)
    narrow.columns.set(column, base.path)
    const rest = fields.length - base.fields.length
    const type = resolution.values.get(path)?.type ?? null
    narrow.reads.set(path, { column, fields: rest > 0 ? path.parts.slice(-rest) : [], type })
  }
  return narrow
}

function isStart(fields: readonly string[], of: readonly string[]): boolean {
  return fields.every((field, at) => sameName(field, of[at] ?? ''))
}
