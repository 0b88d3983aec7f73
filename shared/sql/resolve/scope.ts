/** Names: range variables, their columns and fields, aliases of the SELECT list, and what to write for one that is unknown. */
import { sameName } from '../columns.ts'
import { nameKey } from '../relations.ts'
import type { Identifier, Path } from '../tree.ts'
import type { Column, Context, Place, RangeVariable, Reference, Scope } from './resolution.ts'
import { anything, isUnknown, type Type, type Value, valueOf, recordOf } from './types.ts'
import { ambiguous, fieldsOfArray, noField, unknownName, withNames } from './unknown-names.ts'

/** FROM, or a part of it. */
export type Source = Pick<Scope, 'variables' | 'merged'>

/** A scope with the range variables of a source as well. */
export function withSource(scope: Scope, { variables, merged }: Source): Scope {
  return { ...scope, variables: [...scope.variables, ...variables], merged: [...scope.merged, ...merged] }
}

/** The range variable of an array's elements, of a lambda's parameter and the like. */
export function elementVariable(element: Column, node: RangeVariable['node']): RangeVariable {
  const { type } = element
  const columns = type?.kind === 'STRUCT' ? fieldColumns(element, type.fields) : []
  const isOpen = type?.kind === 'STRUCT' ? columns.length === 0 : isUnknown(type) && !type.scalar
  const open = isOpen ? 'the fields of the array are not known' : null
  return { name: element.name, node, columns, open, element }
}

export function fieldColumns(of: Column, fields: { name: string | null; type: Type }[]): Column[] {
  return fields.map(({ name, type }) => ({ name, type, from: { kind: 'field', of } }))
}

/** The columns of a name, as a query may name thousands. */
export function columnsNamed(columns: readonly Column[], name: string): readonly Column[] {
  if (columns.length < 8) return columns.filter(column => sameName(column.name, name))
  const known = byKey.get(columns) ?? Map.groupBy(columns, column => nameKey(column.name ?? ''))
  byKey.set(columns, known)
  return known.get(nameKey(name)) ?? []
}

const byKey = new WeakMap<readonly Column[], ReadonlyMap<string, Column[]>>()

/** The value of a path such as `status`, `t.metadata` or `r.headers.host`; `null` if its first name is unknown. */
export function pathValue(context: Context, node: Path, scope: Scope): Value | null {
  for (let at: Scope | null = scope; at; at = at.outer) {
    const found = referenceHere(context, node.parts, at)
    if (!found) continue
    const reference = found === 'open' ? openReference(context, node, at) : found
    context.found.paths.set(node, reference)
    checkVisible(context, node.parts, at, reference)
    return fieldsOf(context, valueOfReference(reference), node.parts, reference.parts)
  }
  return null
}

/** Whether a name stands for something in this scope or, as its columns are not all known, may do so. */
export function referenceHere(
  context: Context,
  path: Identifier[],
  { aliases, variables, merged }: Scope,
): Reference | 'open' | null {
  const [first, second] = path as [Identifier, ...Identifier[]]
  const alias = aliases?.get(nameKey(first.name))
  if (alias) return { parts: 1, variable: null, column: alias }
  const variable = variables.find(({ name }) => sameName(name, first.name))
  if (variable) return inVariable(context, variable, second)
  const own = merged.findLast(({ name }) => sameName(name, first.name))
  if (own) return { parts: 1, variable: null, column: own }
  const hits = variables.flatMap(variable =>
    columnsNamed(variable.columns, first.name).map(column => ({ parts: 1, variable, column })),
  )
  if (hits.length > 1) context.fault(first, () => ambiguous(first, variables))
  return hits[0] ?? (variables.some(({ open }) => open !== null) ? 'open' : null)
}

function inVariable(context: Context, variable: RangeVariable, name: Identifier | undefined): Reference {
  const { element, columns, open } = variable
  if (element) return { parts: 1, variable, column: element }
  if (!name) return { parts: 1, variable, column: null }
  const [column, other] = columnsNamed(columns, name.name)
  if (other) context.fault(name, () => ambiguous(name, []))
  if (column) return { parts: 2, variable, column }
  if (open === null) {
    const names = columns.flatMap(({ name }) => name ?? [])
    context.fault(name, () =>
      withNames(`Name ${name.name} not found inside ${variable.name}`, name.name, names),
    )
  }
  return { parts: 2, variable, column: unknownColumn(context, name, variable) }
}

/** One of the columns that the queries around the place may have. */
function openReference(context: Context, { parts: [first] }: Path, scope: Scope): Reference {
  const among: { variable: RangeVariable | null; column: Column }[] = []
  for (let at: Scope | null = scope; at; at = at.outer) {
    const found = referenceHere(context, [first!], at)
    const open = found === 'open' ? at.variables.filter(variable => variable.open !== null) : []
    among.push(...open.map(variable => ({ variable, column: unknownColumn(context, first!, variable) })))
    if (found === null || found === 'open') continue
    among.push({ variable: found.variable, column: found.column ?? unknownColumn(context, first!, null) })
    break
  }
  if (among.length === 1) return { parts: 1, ...among[0]! }
  const from = { kind: 'columns' as const, columns: among.map(({ column }) => column) }
  return { parts: 1, variable: null, column: { name: first!.name, type: anything, from } }
}

/** A column that only the engine knows. */
export function unknownColumn(
  context: Context,
  { name }: Identifier,
  variable: RangeVariable | null,
): Column {
  const { node = null, element = null } = variable ?? {}
  const isTable = node?.kind === 'TableReference' && context.found.tables.get(node) === 'real'
  if (element) return { name, type: anything, from: { kind: 'field', of: element } }
  if (isTable) return { name, type: anything, from: { kind: 'table', table: node } }
  return { name, type: anything, from: { kind: 'columns', columns: [] } }
}

function valueOfReference({ variable, column }: Reference): Value {
  if (column) return column
  const { columns, open } = variable!
  return { type: open === null ? recordOf([...columns]) : anything }
}

/** ORDER BY sees what SELECT DISTINCT selects, and fields of it. */
function checkVisible(context: Context, path: Identifier[], { visible }: Scope, reference: Reference): void {
  if (!visible) return
  const { root, fields } = placeOf(reference, path)
  const isSeen = visible.some(
    seen => seen.root === root && seen.fields.every((name, at) => sameName(name, fields[at] ?? '')),
  )
  if (isSeen) return
  const name = path.map(part => part.name).join('.')
  context.fault(
    path[0]!,
    `${name} is not visible after SELECT DISTINCT: ORDER BY takes what is selected, by its name or number`,
  )
}

/** The column, or the row of a table, that a path begins at, and the fields that lead on. */
export function placeOf({ variable, column, parts }: Reference, path: Identifier[]): Place {
  const fields = path.slice(parts).map(({ name }) => name)
  return column ? placeOfColumn(column, fields) : { root: variable, fields }
}

export function placeOfColumn(column: Column, fields: string[] = []): Place {
  const { from, name } = column
  return from.kind === 'field' ? placeOfColumn(from.of, [name ?? '', ...fields]) : { root: column, fields }
}

/** The `fields` at the end of a path, of the value that the names before them stand for. */
function fieldsOf(context: Context, value: Value, path: Identifier[], from: number): Value {
  let of = value
  for (let at = from; at < path.length; at++) {
    const records = of.type?.kind === 'ARRAY' ? of.type.element : null
    if (records?.kind === 'STRUCT') {
      const fields = path.slice(at)
      return context.fault(fields[0]!, () => fieldsOfArray(records, path, fields))
    }
    of = fieldOf(context, of, path[at]!)
  }
  return of
}

/** One field of a STRUCT or JSON value. */
export function fieldOf(context: Context, { type }: Value, field: Identifier): Value {
  if (type?.kind === 'JSON') return valueOf('JSON')
  if (isUnknown(type)) return { type: anything }
  if (type?.kind !== 'STRUCT') return context.fault(field, noField(type, field))
  const found = type.fields.find(({ name }) => sameName(name, field.name))
  if (found) return { type: found.type }
  const names = type.fields.flatMap(({ name }) => name ?? [])
  return context.fault(field, () => withNames(`Field name ${field.name} does not exist`, field.name, names))
}

/** For a path whose first name is unknown. */
export function unknownPath(context: Context, scope: Scope, path: Identifier[]): Value {
  const [first] = path as [Identifier]
  const message = `Unrecognized name: ${first.name}`
  if (scope.later?.has(nameKey(first.name)))
    return context.fault(
      first,
      `${message}, a name of the SELECT list, which WHERE does not see: repeat its expression, or filter in a query around this one`,
    )
  if (!scope.outer && scope.variables.length === 0)
    return context.fault(first, `${message}: the query has no FROM, so there are no columns`)
  return context.fault(first, () => unknownName(path, namesIn(scope), scope.variables))
}

function namesIn(scope: Scope): string[] {
  const names: (string | null)[] = []
  for (let at: Scope | null = scope; at; at = at.outer)
    for (const { name, columns } of at.variables) names.push(name, ...columns.map(column => column.name))
  return names.filter(name => name !== null)
}
