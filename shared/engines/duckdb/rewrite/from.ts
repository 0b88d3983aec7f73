/** FROM: tables, common tables, subqueries and their joins. Arrays are in unnest.ts. */
import { sameName } from '../../../sql/columns.ts'
import { nameKey } from '../../../sql/relations.ts'
import type {
  DerivedTable,
  From,
  Identifier,
  Join,
  Pivot,
  TableReference,
  Unpivot,
} from '../../../sql/tree.ts'
import { nearestName } from '../../../sql/nearest.ts'
import { descendants } from '../../../sql/walk.ts'
import { quoteName } from '../syntax.ts'
import { condition, unifyOrThrow } from './coercion.ts'
import { refuseOverRows } from './functions/calls.ts'
import type { Context, RangeVariable, Relation, Scope } from './context.ts'
import { pivot, unpivot } from './pivot.ts'
import { findColumn, findPath, newScope, type Source, visibleColumn, withSource } from './scope.ts'
import { type ArrayReference, arrayStep, firstArray } from './unnest.ts'

/** Rewrites FROM. `scope` is the scope around it, without any range variable of this FROM. Throws SqlError. */
export function fromClause(context: Context, node: From, scope: Scope): Source {
  if (node.kind === 'Join') return join(context, node, scope)
  if (node.kind === 'JoinInParentheses') return fromClause(context, node.join, scope)
  if (node.kind === 'DerivedTable') return derivedTable(context, node, scope)
  if (node.kind === 'Pivot' || node.kind === 'Unpivot') return turnedTable(context, node, scope)
  const array = arrayReference(node, scope)
  return array ? firstArray(context, array, scope) : tableReference(context, node as TableReference, scope)
}

/** UNNEST, or a path that begins with a range variable in sight. */
function arrayReference(node: From, scope: Scope): ArrayReference | null {
  if (node.kind === 'UnnestReference') return node
  if (node.kind !== 'TableReference' || node.path.length < 2) return null
  for (let at: Scope | null = scope; at; at = at.outer)
    if (at.variables.some(variable => sameName(variable.name, node.path[0]!.name)))
      return {
        array: { kind: 'Path', parts: node.path, at: node.at },
        alias: node.alias ?? node.path.at(-1)!,
        offset: node.offset,
        at: node.at,
      }
  return null
}

function tableReference(context: Context, node: TableReference, scope: Scope): Source {
  if (node.offset) throw context.invalid(node.offset, 'WITH OFFSET is for arrays')
  const last = node.path.at(-1)!
  const alias = node.alias?.name ?? last.name.split('.').at(-1)!
  const common = node.path.length === 1 ? scope.ctes.get(nameKey(last.name)) : undefined
  if (common) return relationSource(context, alias, quoteName(common.duck), common)
  const name = node.path.map(part => part.name).join('.')
  const columns = context.tables.get(name)
  if (!columns) throw unknownTable(context, node, name, scope)
  return relationSource(context, alias, context.relationOf(name), {
    columns: columns.map(column => ({ ...column, duck: column.name })),
    valueTable: false,
    order: [],
  })
}

function unknownTable(context: Context, node: TableReference, name: string, scope: Scope) {
  const near = nearestName(name, [...scope.ctes.keys(), ...context.tables.keys()])
  return context.invalid(node, `Table not found: ${name}${near ? `; did you mean ${near}?` : ''}`)
}

/** A derived table does not see its neighbours, only the scope around the whole query. */
function derivedTable(context: Context, node: DerivedTable, scope: Scope): Source {
  const relation = context.query(node.query, scope.outer, scope.ctes, 'deferred')
  return relationSource(context, node.alias?.name ?? null, `(${relation.sql})`, relation)
}

function turnedTable(context: Context, node: Pivot | Unpivot, scope: Scope): Source {
  const { of } = node
  const bare = newScope(scope.ctes, scope.outer)
  const input =
    of.kind === 'TableReference' ? tableReference(context, of, bare) : derivedTable(context, of, bare)
  const relation =
    node.kind === 'Pivot' ? pivot(context, node, input, scope) : unpivot(context, node, input, scope)
  return relationSource(context, node.alias?.name ?? null, `(${relation.sql})`, relation)
}

function relationSource(
  context: Context,
  name: string | null,
  sql: string,
  relation: Pick<Relation, 'columns' | 'valueTable' | 'order'>,
): Source {
  const duck = quoteName(context.uniqueName(name ?? 't'))
  // Outside the query that has it, a column of bare NULLs is of type INT64.
  const columns = relation.columns.map(column =>
    visibleColumn(duck, { ...column, type: column.type ?? { kind: 'INT64' } }),
  )
  const variable: RangeVariable = relation.valueTable
    ? { kind: 'value', name, value: columns[0]! }
    : { kind: 'relation', name, columns, order: relation.order }
  return { sql: `${sql} AS ${duck}`, joined: false, variables: [variable], merged: new Map() }
}

function join(context: Context, node: Join, scope: Scope): Source {
  const left = fromClause(context, node.left, scope)
  const leftScope = withSource(scope, left)
  const array = arrayReference(node.right, leftScope)
  if (array && !standsAlone(context, node, array, leftScope)) {
    const step = arrayStep(context, node, array, left, scope)
    checkNames(context, node, step.variables)
    return step
  }
  const right = fromClause(context, node.right, scope)
  checkNames(context, node, [...left.variables, ...right.variables])
  const both: Source = {
    sql: '',
    joined: true,
    variables: [...left.variables, ...right.variables],
    merged: new Map([...left.merged, ...right.merged]),
  }
  const sql = `${left.sql} ${joinWord(node)} ${right.joined ? `(${right.sql})` : right.sql}`
  if (node.using.length > 0) return usingJoin(context, node, { ...both, sql }, left, right, scope)
  if (!node.on) return { ...both, sql }
  refuseOverRows(context, node.on, 'ON')
  const on = context.expression(node.on, withSource(scope, both))
  return { ...both, sql: `${sql} ON ${condition(context, node.on, 'ON', on)}` }
}

/** Whether an array is joined as a table is: RIGHT and FULL JOIN do not see the left side, and USING seldom needs it. */
function standsAlone(context: Context, node: Join, { array }: ArrayReference, left: Scope): boolean {
  if (node.type === 'RIGHT' || node.type === 'FULL') return true
  const ofLeft = { ...left, outer: null }
  return (
    node.using.length > 0 &&
    ![...descendants(array)].some(part => part.kind === 'Path' && findPath(context, ofLeft, part.parts))
  )
}

function joinWord(node: Join): string {
  return node.type === 'COMMA' || node.type === 'CROSS' ? 'CROSS JOIN' : `${node.type} JOIN`
}

function checkNames(context: Context, node: Join, variables: RangeVariable[]): void {
  const seen = new Set<string>()
  const twice = variables.find(({ name }) => name !== null && seen.size === seen.add(nameKey(name)).size)
  if (twice) throw context.invalid(node.right, `Duplicate table alias ${twice.name} in the same FROM clause`)
}

/** USING as ON, and each of its columns once, from the side that has it. */
function usingJoin(
  context: Context,
  node: Join,
  both: Source,
  left: Source,
  right: Source,
  scope: Scope,
): Source {
  const bare: Scope = { ...scope, variables: [], merged: new Map(), outer: null, aliases: null }
  const conditions: string[] = []
  const merged = new Map(both.merged)
  for (const name of node.using) {
    const sides = [left, right].map(side => columnOf(context, name, withSource(bare, side)))
    const common = unifyOrThrow(context, name, 'USING', sides)
    const [a, b] = common.values.map(value => value.sql) as [string, string]
    conditions.push(`${a} = ${b}`)
    const kept = { RIGHT: b, FULL: `COALESCE(${a}, ${b})` }[node.type as string] ?? a
    merged.set(nameKey(name.name), { name: name.name, sql: kept, type: common.type })
  }
  // The name of an array's elements stands for the merged column, as they are NULL in rows of the other side.
  const variables = both.variables.map(variable => {
    const name = node.using.find(name => isElement(variable, name))
    const column = name && merged.get(nameKey(name.name))
    return column && variable.kind === 'value' ? { ...variable, value: column } : variable
  })
  return { ...both, variables, sql: `${both.sql} ON ${conditions.join(' AND ')}`, merged }
}

/** The elements of an array are a column of their own name. */
function columnOf(context: Context, name: Identifier, scope: Scope) {
  const element = scope.variables.find(variable => isElement(variable, name))
  const column = findColumn(context, scope, name) ?? (element?.kind === 'value' ? element.value : null)
  if (!column) throw context.invalid(name, `Column ${name.name} in USING is not on both sides of the join`)
  return column
}

function isElement({ kind, name }: RangeVariable, of: Identifier): boolean {
  return kind === 'value' && sameName(name, of.name)
}
