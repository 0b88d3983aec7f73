/** FROM: tables, common tables, subqueries, arrays and their joins. PIVOT and UNPIVOT are in turned.ts. */
import { nearestName } from '../hints.ts'
import { firstTwice, nameKey } from '../relations.ts'
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'
import { refuseOverRows } from './calls.ts'
import { condition, unify } from './coercion.ts'
import { type Column, type Context, newScope, type Rows, type Scope, type Source } from './resolution.ts'
import {
  findColumns,
  columnsOfAll,
  elementVariable,
  hasRoom,
  referenceHere,
  tooManyColumns,
  unknownColumn,
  findVariable,
  withSource,
} from './scope.ts'
import { pivot, unpivot } from './pivot.ts'
import { anything, elementOf, firm, typeName, type Value } from './types.ts'

/** UNNEST, or a path that begins with a range variable in sight. */
interface ArrayReference {
  node: ast.From & { kind: 'UnnestReference' | 'TableReference' }
  array: ast.Expression
  alias: ast.Identifier | null
}

/** Resolves FROM. `scope` is the scope around it, without any range variable of this FROM. */
export function from(context: Context, node: ast.From, scope: Scope): Source {
  const source = sourceOf(context, node, scope)
  context.found.sources.set(node, source)
  return source
}

function sourceOf(context: Context, node: ast.From, scope: Scope): Source {
  switch (node.kind) {
    case 'Join':
      return join(context, node, scope)
    case 'JoinInParentheses':
      return from(context, node.join, scope)
    case 'DerivedTable':
      return one(context, node, derivedRows(context, node, scope))
    case 'Pivot':
    case 'Unpivot':
      return pivotOrUnpivot(context, node, scope)
    case 'UnnestReference':
    case 'TableReference': {
      const array = arrayReference(node, scope)
      if (array) return elements(context, array, scope)
      return one(context, node, tableRows(context, node as ast.TableReference, scope))
    }
  }
}

function arrayReference(node: ast.From, scope: Scope): ArrayReference | null {
  if (node.kind === 'UnnestReference') return { node, array: node.array, alias: node.alias }
  if (node.kind !== 'TableReference' || node.path.length < 2) return null
  const key = nameKey(node.path[0]!.name)
  for (let at: Scope | null = scope; at; at = at.outer)
    if (findVariable(at.variables, key))
      return {
        node,
        array: { kind: 'Path', parts: node.path, at: node.at },
        alias: node.alias ?? node.path.at(-1)!,
      }
  return null
}

function one(context: Context, node: Exclude<ast.From, ast.Join>, given: Rows): Source {
  const rows = hasRoom(context, given.columns.length) ? given : tooManyColumns
  context.found.rows.set(node, rows)
  const name = nameOfRows(node)
  const columns = rows.columns.map(column => passOn(column))
  if (!rows.isValue)
    return {
      variables: [{ name, node, columns, open: rows.open, passed: rows.passed, element: null }],
      merged: [],
    }
  const element = { ...columns[0]!, name }
  return { variables: [elementVariable(element, node)], merged: [] }
}

/** Outside the query that has it, a column of bare NULLs is of type INT64. */
function passOn(column: Column): Column {
  if (column.from.kind === 'table') return column
  return { name: column.name, type: firm(column.type), from: { kind: 'columns', columns: [column] } }
}

/** The name by which FROM knows the rows of one of its items. */
function nameOfRows(node: ast.From): string | null {
  if (node.kind === 'Join' || node.kind === 'JoinInParentheses') return null
  if (node.alias) return node.alias.name
  return node.kind === 'TableReference' ? node.path.at(-1)!.name.split('.').at(-1)! : null
}

function tableRows(context: Context, node: ast.TableReference, scope: Scope): Rows {
  if (node.offset) context.fault(node.offset, 'WITH OFFSET is for arrays')
  const common = node.path.length === 1 ? scope.ctes.get(nameKey(node.path[0]!.name)) : undefined
  context.found.tables.set(node, common ? 'common' : 'real')
  if (common) return common
  const name = node.path.map(part => part.name).join('.')
  const known = context.columnsOf(name)
  const from = { kind: 'table' as const, table: node }
  if (known && !('unknown' in known)) {
    const columns = known.map(({ name, type = anything }) => ({ name, type, from }))
    return { columns, open: null, isValue: false }
  }
  if (!known)
    context.fault(node, () => {
      const near = nearestName(name, [...scope.ctes.keys(), ...context.tables])
      return `Table not found: ${name}${near ? `; did you mean ${near}?` : ''}`
    })
  return { columns: [], open: known?.unknown ?? `the columns of ${name} are not known`, isValue: false }
}

/** A derived table does not see its neighbours, only the scope around the whole query. */
function derivedRows(context: Context, node: ast.DerivedTable, scope: Scope): Rows {
  return context.query(node.query, scope.outer, scope.ctes)
}

function pivotOrUnpivot(context: Context, node: ast.Pivot | ast.Unpivot, scope: Scope): Source {
  const { of } = node
  const bare = newScope(scope.ctes, scope.outer)
  const rows = of.kind === 'TableReference' ? tableRows(context, of, bare) : derivedRows(context, of, bare)
  const input = one(context, of, rows)
  context.found.sources.set(of, input)
  const inside = withSource(bare, input)
  return one(
    context,
    node,
    node.kind === 'Pivot' ? pivot(context, node, inside) : unpivot(context, node, inside),
  )
}

/** An array at the start of FROM, or on the right of a join, most often of the rows on its left, which `scope` shows. */
function elements(context: Context, { node, array, alias }: ArrayReference, scope: Scope): Source {
  if (node.kind === 'TableReference') context.found.tables.set(node, 'array')
  refuseOverRows(context, array, 'UNNEST')
  const { type } = context.value(array, scope)
  if (type && elementOf(type) === null)
    context.fault(
      node,
      `Values referenced in UNNEST must be arrays. UNNEST contains expression of type ${typeName(type)}`,
    )
  const from = { kind: 'array' as const, array }
  const element = { name: alias?.name ?? null, type: type ? (elementOf(type) ?? anything) : firm(null), from }
  const variables = [elementVariable(element, node)]
  if (node.offset) {
    const place: Column = { name: node.offset.name, ...int64, from: { kind: 'offset', array } }
    variables.push(elementVariable(place, null))
  }
  return { variables, merged: [] }
}

const int64: Value = { type: { kind: 'INT64' } }

function join(context: Context, node: ast.Join, scope: Scope): Source {
  const left = from(context, node.left, scope)
  const leftScope = withSource(scope, left)
  const array = arrayReference(node.right, leftScope)
  const seesLeft = array !== null && !standsAlone(context, node, array, leftScope)
  const right = seesLeft
    ? { ...elements(context, array, leftScope), ofLeft: true }
    : from(context, node.right, scope)
  context.found.sources.set(node.right, right)
  const both: Source = {
    variables: [...left.variables, ...right.variables],
    merged: [...left.merged, ...right.merged],
  }
  if (node.using.length > 0) return usingJoin(context, node, both, left, right)
  checkNames(context, node, both)
  if (node.on) {
    refuseOverRows(context, node.on, 'ON')
    condition(context, node.on, 'ON', withSource(scope, both))
  }
  return both
}

/** Whether an array is joined as a table is: RIGHT and FULL JOIN do not see the left side, and USING seldom needs it. */
function standsAlone(context: Context, node: ast.Join, { array }: ArrayReference, left: Scope): boolean {
  if (node.type === 'RIGHT' || node.type === 'FULL') return true
  if (node.using.length === 0) return false
  const paths = [...descendants(array)].filter(part => part.kind === 'Path')
  return !paths.some(({ parts }) => referenceHere(context, parts, left))
}

function checkNames(context: Context, node: ast.Join, { variables }: Source): void {
  const twice = firstTwice(variables, ({ name }) => name)
  if (twice) context.fault(node.right, `Duplicate table alias ${twice.name} in the same FROM clause`)
}

/** Each column of USING once, of both sides. */
function usingJoin(context: Context, node: ast.Join, both: Source, left: Source, right: Source): Source {
  const merged = new Map(both.merged.map(column => [nameKey(column.name!), column]))
  const own: Column[] = []
  for (const name of node.using) {
    const columns = [left, right].map(side => columnOf(context, name, side))
    const common = unify(context, name, 'USING', columns)
    const type = node.type === 'FULL' ? common : columns[node.type === 'RIGHT' ? 1 : 0]!.type
    const column: Column = { name: name.name, type, from: { kind: 'columns', columns } }
    context.found.merged.set(name, column)
    merged.delete(nameKey(name.name))
    own.push(column)
  }
  // The name of an array's elements stands for the merged column, as they are NULL in rows of the other side.
  const named = both.variables.map(variable => {
    const [column] = variable.element ? findColumns(own, nameKey(variable.name ?? '')) : []
    return column ? { ...variable, element: column } : variable
  })
  // So it may be that of both sides, as for `WITH OFFSET` twice.
  const variables = named.filter(
    ({ element }, at) => !element || at === named.findIndex(one => one.element === element),
  )
  checkNames(context, node, { variables, merged: [] })
  return { variables, merged: [...own, ...merged.values()] }
}

/** The elements of an array are a column of their own name. */
function columnOf(context: Context, name: ast.Identifier, { variables, merged }: Source): Column {
  const key = nameKey(name.name)
  const [own] = findColumns(merged, key)
  if (own) return own
  const hits = columnsOfAll(variables, key)
  const variable = findVariable(variables, key)
  if (variable && !variable.element)
    context.fault(name, `Name ${name.name} in USING is that of a table: give the table another alias`)
  const column = hits[0]?.column ?? variable?.element
  if (hits.length > 1) context.fault(name, `Column name ${name.name} is ambiguous`)
  if (column) return column
  const open = variables.filter(({ open }) => open !== null)
  if (open.length === 0) context.fault(name, `Column ${name.name} in USING is not on both sides of the join`)
  if (open.length === 0) return unknownColumn(context, name, null)
  const columns = open.map(variable => unknownColumn(context, name, variable))
  return { name: name.name, type: anything, from: { kind: 'columns', columns } }
}
