/** SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... QUALIFY ... ORDER BY. */
import { nameOfColumn } from '../columns.ts'
import { nameKey } from '../relations.ts'
import type * as ast from '../tree.ts'
import { descendantsHere } from '../walk.ts'
import { isOverRows, refuseOverRows } from './calls.ts'
import { condition, key as checkKey, refuseLiteral } from './coercion.ts'
import { from } from './from.ts'
import { refusePartsOfKeys } from './grouping.ts'
import {
  type Column,
  type Context,
  type Ctes,
  newScope,
  type Passed,
  type Place,
  type RangeVariable,
  type Rows,
  type Scope,
  type Shown,
} from './resolution.ts'
import {
  findColumns,
  fieldColumns,
  hasRoom,
  placeOf,
  placeOfColumn,
  tooManyColumns,
  findVariable,
  withSource,
} from './scope.ts'
import { anything, isUnknown, recordOf } from './types.ts'
import { namedWindows, resolveWindow } from './windows.ts'

/** Resolves a SELECT, with the ORDER BY behind it. */
export function select(
  context: Context,
  node: ast.Select,
  outer: Scope | null,
  ctes: Ctes,
  orderBy: ast.OrderItem[],
): Rows {
  const bare = { ...newScope(ctes, outer), windows: namedWindows(context, node.windows) }
  refusePartsOfKeys(context, node, orderBy)
  const scope = node.from ? withSource(bare, from(context, node.from, bare)) : bare
  const list: List = { columns: [], open: null, passed: [] }
  for (const item of node.items)
    if (item.kind === 'SelectColumn') list.columns.push(selectItem(context, item, scope))
    else starColumns(context, item, scope, list)
  if (node.distinct) for (const column of list.columns) checkKey(context, node, 'SELECT DISTINCT', column)
  context.found.lists.set(node, list.columns)
  const aliases = aliasesOf(node, list.columns)
  const aliased: Scope = { ...scope, aliases }
  if (!node.from) refuseWithoutRows(context, node, scope)
  if (node.having && !node.groupBy && !scope.aggregation.found)
    context.fault(node.having, 'HAVING needs a GROUP BY, or an aggregate function in the SELECT list')
  if (node.qualify && ![...node.items, node.qualify].some(hasWindow))
    context.fault(
      node.qualify,
      'QUALIFY needs a window function, there or in the SELECT list: filter by WHERE or HAVING',
    )
  clause(context, 'WHERE', node.where, { ...scope, later: new Set(aliases.keys()) })
  groupBy(context, node, list, scope)
  clause(context, 'HAVING', node.having, aliased)
  clause(context, 'QUALIFY', node.qualify, aliased)
  for (const window of scope.windows.values()) resolveWindow(context, window, scope)
  const sorted = node.distinct ? { ...aliased, visible: visibleOf(context, list, scope) } : aliased
  for (const item of orderBy) {
    if (node.distinct) refuseOverDistinct(context, item)
    const named = itemOf(context, item.expression, list)
    checkKey(context, item, 'ORDER BY', named ?? context.value(item.expression, sorted))
  }
  return rowsOf(context, node, list)
}

function hasWindow(part: ast.AnyNode): boolean {
  return [...descendantsHere(part)].some(node => node.kind === 'Call' && node.over !== null)
}

/** A SELECT list. */
interface List {
  columns: Column[]
  /** Why there may be more columns. */
  open: string | null
  passed: Passed[]
}

function selectItem(context: Context, item: ast.SelectColumn, scope: Scope): Column {
  const value = context.value(item.expression, scope)
  return { ...value, name: nameOfColumn(item), from: { kind: 'item', item } }
}

/** Without FROM there is one row, and nothing to filter or to aggregate. */
function refuseWithoutRows(context: Context, node: ast.Select, scope: Scope): void {
  const { where: WHERE, groupBy, having: HAVING } = node
  const clauses = { DISTINCT: node.distinct ? node : null, WHERE, 'GROUP BY': groupBy, HAVING }
  const [keyword, clause] = Object.entries(clauses).find(([, clause]) => clause !== null) ?? []
  if (clause) context.fault(clause, `A query without FROM cannot have ${keyword}`)
  if (scope.aggregation.found) context.fault(node, 'A query without FROM cannot aggregate')
}

/** `*` and `t.*`: all columns but those of EXCEPT, with those of REPLACE in place. */
function starColumns(context: Context, node: ast.SelectStar, scope: Scope, list: List): void {
  const shown = node.of ? shownOfRow(context, node.of, scope) : allShown(context, scope)
  context.found.stars.set(node, shown)
  const columns = shown.flatMap(({ column }) => column ?? [])
  const replaced = node.replace.map(item => selectItem(context, item, scope))
  const isOpen = columns.length < shown.length
  if (isOpen) list.open ??= 'the columns of * inside it are not known'
  if (shown.length === 0)
    context.fault(node, () =>
      node.of
        ? '* stands for the fields of values here, and these have none: name the columns, in a pipe with SELECT'
        : 'SELECT * needs a FROM clause with columns',
    )
  const lists = {
    EXCEPT: node.except,
    REPLACE: node.replace.map(({ alias }) => alias!),
    RENAME: node.rename.map(({ column }) => column),
  }
  for (const [name, named] of Object.entries(lists)) {
    if (named.length === 0 || isOpen) continue
    const unknown = named.find(one => findColumns(columns, nameKey(one.name)).length === 0)
    if (unknown) context.fault(unknown, `Column ${unknown.name} in SELECT * ${name} list does not exist`)
  }
  const dropped = new Set(node.except.map(({ name }) => nameKey(name)))
  const instead = new Map(replaced.map(column => [nameKey(column.name!), column]))
  const renames = new Map(node.rename.map(({ column, name }) => [nameKey(column.name), name.name]))
  const renamed = [...renames].flatMap(([key, name]) => [key, nameKey(name)])
  const except = new Set([...dropped, ...instead.keys(), ...renamed])
  for (const { variable, column } of shown) if (variable && !column) list.passed.push({ variable, except })
  for (const column of columns) {
    const key = nameKey(column.name ?? '')
    if (dropped.has(key)) continue
    const passed: Column = { ...column, from: { kind: 'columns', columns: [column] } }
    list.columns.push({ ...(instead.get(key) ?? passed), name: renames.get(key) ?? column.name })
  }
}

/** The columns of every range variable in order, those merged by USING first and once. */
function allShown(context: Context, { variables, merged }: Scope): Shown[] {
  const count = variables.reduce((sum, { columns }) => sum + columns.length, variables.length)
  if (!hasRoom(context, count))
    return [{ variable: { name: null, node: null, element: null, ...tooManyColumns }, column: null }]
  const own = variables.flatMap((variable): Shown[] => {
    const { columns, element, open } = variable
    if (element && columns.length === 0 && open === null) return [{ variable, column: element }]
    return shownOf(variable)
  })
  if (merged.length === 0) return own
  const keys = new Set(merged.map(({ name }) => nameKey(name!)))
  const isMerged = ({ column }: Shown) => column?.name != null && keys.has(nameKey(column.name))
  return [...merged.map(column => ({ variable: null, column })), ...own.filter(shown => !isMerged(shown))]
}

function shownOf(variable: RangeVariable): Shown[] {
  const known = variable.columns.map(column => ({ variable, column }))
  return variable.open === null ? known : [...known, { variable, column: null }]
}

function shownOfRow(context: Context, node: ast.Expression, scope: Scope): Shown[] {
  const [only, ...more] = node.kind === 'Path' ? node.parts : []
  const named = only && more.length === 0 && findVariable(scope.variables, nameKey(only.name))
  if (named && node.kind === 'Path') {
    const variable = hasRoom(context, named.columns.length) ? named : { ...named, ...tooManyColumns }
    context.found.paths.set(node, { parts: 1, variable, column: variable.element })
    return shownOf(variable)
  }
  const { type } = context.value(node, scope)
  if (type?.kind === 'STRUCT' && hasRoom(context, type.fields.length)) {
    const value: Column = { name: null, type, from: { kind: 'node', node } }
    return fieldColumns(value, type.fields).map(column => ({ variable: null, column }))
  }
  if (!isUnknown(type) && type?.kind !== 'STRUCT')
    context.fault(node, 'Dot-star takes the fields of a STRUCT, and this is none: leave .* out')
  return [{ variable: null, column: null }]
}

/** By lower-case name, those that are written. */
function aliasesOf(node: ast.Select, columns: Column[]): ReadonlyMap<string, Column> {
  const written = new Set(
    node.items.flatMap(item => (item.kind === 'SelectColumn' && item.alias ? nameKey(item.alias.name) : [])),
  )
  const aliases = new Map<string, Column>()
  if (written.size === 0) return aliases
  for (const column of columns) {
    const key = column.name === null ? '' : nameKey(column.name)
    if (written.has(key)) aliases.set(key, column)
  }
  return aliases
}

function clause(context: Context, keyword: string, node: ast.Expression | null, scope: Scope): void {
  if (!node) return
  if (keyword !== 'QUALIFY') refuseOverRows(context, node, keyword)
  condition(context, node, `${keyword} clause`, scope)
}

/** A key is an item of the SELECT list by its number or its name, which hides a column's; or an expression. */
function groupBy(context: Context, node: ast.Select, list: List, scope: Scope): void {
  if (!node.groupBy || node.groupBy.grouping === 'ALL') return
  const isList = node.groupBy.grouping === 'LIST'
  const visit = (key: ast.Expression): void => {
    if (!isList && key.kind === 'Tuple') return key.items.forEach(visit)
    if (!isList && key.kind === 'Parenthesized') return visit(key.expression)
    const item = itemOf(context, key, list)
    const made = item?.from.kind === 'item' ? item.from.item.expression : key
    refuseOverRows(context, made, 'GROUP BY')
    checkKey(context, key, 'GROUP BY', item ?? context.value(key, scope))
  }
  for (const key of node.groupBy.items) visit(key)
}

/** The column of the SELECT list that a key of GROUP BY or ORDER BY names; `null` if it is an expression. */
export function itemOf(
  context: Context,
  key: ast.Expression,
  { columns, open }: Pick<List, 'columns' | 'open'>,
): Column | null {
  if (key.kind === 'Literal' && key.literal === 'INTEGER') {
    const column = open === null ? columns[Number(key.text) - 1] : undefined
    if (column) context.found.numbers.set(key, column)
    if (column || open !== null)
      return column ?? { name: null, type: anything, from: { kind: 'node', node: key } }
    context.fault(key, `There is no column ${key.text} in the SELECT list`)
    return null
  }
  refuseLiteral(context, key)
  if (key.kind !== 'Path' || key.parts.length > 1) return null
  const { name } = key.parts[0]!
  const [hit, ...others] = findColumns(columns, nameKey(name))
  if (!hit) return null
  if (others.some(other => !isSame(context, hit, other)))
    context.fault(key, `Column name ${name} is ambiguous`)
  context.found.paths.set(key, { parts: 1, variable: null, column: hit })
  return hit
}

/** Whether two columns have the same column of FROM in them. */
function isSame(context: Context, one: Column, other: Column): boolean {
  const [a, b] = [one, other].map(column => placeOfItem(context, column))
  return a!.root === b!.root && a!.fields.join('.') === b!.fields.join('.')
}

function placeOfItem(context: Context, column: Column): Place {
  const { from } = column
  if (from.kind === 'columns' && from.columns.length === 1) return placeOfColumn(from.columns[0]!)
  const expression = from.kind === 'item' ? from.item.expression : null
  const reference = expression?.kind === 'Path' ? context.found.paths.get(expression) : undefined
  if (!reference || expression?.kind !== 'Path') return placeOfColumn(column)
  return placeOf(reference, expression.parts)
}

/** What ORDER BY sees after SELECT DISTINCT, where all columns are known. */
function visibleOf(context: Context, { columns }: List, { variables }: Scope): Place[] | undefined {
  if (variables.some(({ open }) => open !== null)) return undefined
  return columns.flatMap(column => [placeOfColumn(column), placeOfItem(context, column)])
}

function refuseOverDistinct(context: Context, item: ast.OrderItem): void {
  const call = [...descendantsHere(item)].find(isOverRows)
  if (call)
    context.fault(
      call,
      'An aggregate or window function is not allowed in ORDER BY after SELECT DISTINCT: select it, and sort by its name',
    )
}

function rowsOf(context: Context, node: ast.Select, { columns, open, passed }: List): Rows {
  if (node.as === null) return { columns, open, passed, isValue: false }
  const from = { kind: 'node' as const, node }
  if (node.as === 'STRUCT') {
    const type = open === null ? recordOf(columns) : anything
    return { columns: [{ name: null, type, from }], open: null, isValue: true }
  }
  if (columns.length !== 1 && open === null)
    context.fault(node, 'SELECT AS VALUE must have exactly one column')
  const [column = { type: anything, from }] = columns
  return { columns: [{ ...column, name: null }], open: null, isValue: true }
}
