/** Names: range variables, their columns and fields, aliases of the SELECT list, and what to write for one that is unknown. */
import { sameName } from '../columns.ts'
import { nameKey } from '../relations.ts'
import type { Identifier, Path } from '../tree.ts'
import type { Column, Context, Place, RangeVariable, Reference, Rows, Scope, Source } from './resolution.ts'
import { anything, isUnknown, type Type, type Value, valueOf, recordOf } from './types.ts'
import { ambiguous, fieldsOfArray, noField, unknownName, withNames } from './messages.ts'

/** Takes room for columns that are passed on; `false` where there is none. */
export function hasRoom(context: Context, columns: number): boolean {
  context.room -= columns
  return context.room >= 0
}

/** Rows for which there is no room. */
export const tooManyColumns: Rows = { columns: [], open: 'there are too many columns', isValue: false }

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
  return fields.map(({ name, type }, at) => ({ name, type, from: { kind: 'field', of, at } }))
}

/** The columns or fields of a name, by its key, as a query may name thousands. */
export function findColumns<Named extends { name: string | null }>(
  columns: readonly Named[],
  key: string,
): readonly Named[] {
  if (columns.length <= few) return columns.filter(({ name }) => sameName(name, key))
  const named = byKey.get(columns) ?? Map.groupBy(columns, ({ name }) => nameKey(name ?? ''))
  byKey.set(columns, named)
  return (named.get(key) ?? []) as Named[]
}

/** So many are walked through: to remember them by name costs more. */
const few = 32

const byKey = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown[]>>()

/** The first range variable of a name, by its key. */
export function findVariable(variables: readonly RangeVariable[], key: string): RangeVariable | undefined {
  return variables.find(({ name }) => sameName(name, key))
}

/** The columns of range variables that have a name, by its key. */
export function columnsOfAll(variables: readonly RangeVariable[], key: string): Reference[] {
  return variables.flatMap(variable =>
    findColumns(variable.columns, key).map(column => ({ parts: 1, variable, column })),
  )
}

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
  const key = nameKey(first.name)
  const alias = aliases?.get(key)
  if (alias) return { parts: 1, variable: null, column: alias }
  const variable = findVariable(variables, key)
  if (variable) return inVariable(context, variable, second)
  const own = findColumns(merged, key).at(-1)
  if (own) return { parts: 1, variable: null, column: own }
  const hits = columnsOfAll(variables, key)
  if (hits.length > 1) context.fault(first, () => ambiguous(first, variables))
  return hits[0] ?? (variables.some(({ open }) => open !== null) ? 'open' : null)
}

function inVariable(context: Context, variable: RangeVariable, name: Identifier | undefined): Reference {
  const { element, columns, open } = variable
  if (element) return { parts: 1, variable, column: element }
  if (!name) return { parts: 1, variable, column: null }
  const [column, other] = findColumns(columns, nameKey(name.name))
  if (other) context.fault(name, () => ambiguous(name, []))
  if (column) return { parts: 2, variable, column }
  if (open === null)
    context.fault(name, () => {
      const names = columns.flatMap(({ name }) => name ?? [])
      return withNames(`Name ${name.name} not found inside ${variable.name}`, name.name, names)
    })
  return { parts: 2, variable, column: unknownColumn(context, name, variable) }
}

/** One of the columns that the queries around the place may have, once for each name. */
function openReference(context: Context, { parts: [first] }: Path, scope: Scope): Reference {
  const byName = openReferences.get(scope) ?? new Map<string, Reference>()
  openReferences.set(scope, byName)
  const known = byName.get(first!.name) ?? newOpenReference(context, first!, scope)
  byName.set(first!.name, known)
  return known
}

const openReferences = new WeakMap<Scope, Map<string, Reference>>()

function newOpenReference(context: Context, first: Identifier, scope: Scope): Reference {
  const among: { variable: RangeVariable | null; column: Column }[] = []
  for (let at: Scope | null = scope; at; at = at.outer) {
    const found = referenceHere(context, [first], at)
    const open = found === 'open' ? at.variables.filter(variable => variable.open !== null) : []
    among.push(...open.map(variable => ({ variable, column: unknownColumn(context, first, variable) })))
    if (found === null || found === 'open') continue
    among.push({ variable: found.variable, column: found.column ?? unknownColumn(context, first, null) })
    break
  }
  if (among.length === 1) return { parts: 1, ...among[0]! }
  const from = { kind: 'columns' as const, columns: among.map(({ column }) => column) }
  return { parts: 1, variable: null, column: { name: first.name, type: anything, from } }
}

/** A column that only the engine knows, once for each name. */
export function unknownColumn(context: Context, name: Identifier, variable: RangeVariable | null): Column {
  const byName = (variable && unknownColumns.get(variable)) ?? new Map<string, Column>()
  if (variable) unknownColumns.set(variable, byName)
  const column = byName.get(name.name) ?? newUnknownColumn(context, name, variable)
  byName.set(name.name, column)
  return column
}

const unknownColumns = new WeakMap<RangeVariable, Map<string, Column>>()

function newUnknownColumn(context: Context, identifier: Identifier, variable: RangeVariable | null): Column {
  const { name } = identifier
  const { node = null, element = null, passed = [] } = variable ?? {}
  const isTable = node?.kind === 'TableReference' && context.found.tables.get(node) === 'real'
  if (element) return { name, type: anything, from: { kind: 'field', of: element, at: null } }
  if (isTable) return { name, type: anything, from: { kind: 'table', table: node } }
  const columns = passed.flatMap(({ variable, except }) =>
    except.has(nameKey(name)) ? [] : unknownColumn(context, identifier, variable),
  )
  return { name, type: anything, from: { kind: 'columns', columns } }
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
  const [found] = findColumns<{ name: string | null; type: Type }>(type.fields, nameKey(field.name))
  if (found) return { type: found.type }
  return context.fault(field, () => {
    const names = type.fields.flatMap(({ name }) => name ?? [])
    return withNames(`Field name ${field.name} does not exist`, field.name, names)
  })
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
