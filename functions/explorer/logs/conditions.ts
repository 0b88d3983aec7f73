/** Which rows are asked for: the tables they are read of, and the conditions of the state. */
import { patternOfShape } from '../../../shared/sandbox/message-patterns.ts'
import {
  as,
  at,
  first,
  groupable,
  Joins,
  lines,
  literal,
  name,
  severityOf,
  string,
  timestamp,
} from './values.ts'
import type { Range } from './range.ts'
import { type Field, fieldAt, type Shape, tableColumn } from './shape.ts'
import type { Filter, Severity, State } from './state.ts'

export interface Asked extends Pick<State, 'search' | 'scope' | 'severity' | 'filters'> {
  /** What the time is compared with at the ends of the range, in the SQL of an endpoint (`as-endpoint.ts`): `>= @since`. */
  bounds?: { from?: string; to?: string }
}

interface Reading {
  /** What is read of all tables; of one table, what the SQL names. */
  read: (Field | null | undefined)[]
  /** One more condition, of a table. */
  past?: (table: Shape) => string | null
  /** What stands behind the conditions of each of all tables. */
  each?: string[]
  joins?: Joins
  keys?: string
}

/** The rows that are asked for, as `t`. */
export function from(state: Asked, shape: Shape, range: Range, reading: Reading): string[] {
  const { past = () => null, joins, keys } = reading
  const clauses = [...(joins?.clauses ?? []), ...(keys ? [keys] : [])]
  if (shape.parts) return ['FROM (', union(state, shape, range, reading), ') AS t', ...clauses]
  const table = `FROM ${name(shape.table)} AS t`
  return [table, ...clauses, ...where([...conditions(state, shape, range), past(shape)])]
}

/** What is read of each table, in columns of the same names; a table that cannot have such rows is left out. */
function union(
  state: Asked,
  all: Shape,
  range: Range,
  { read, past = () => null, each = [] }: Reading,
): string {
  const needed = [...all.fields, all.severity].filter(
    column => column !== null && read.some(field => field?.steps === column.steps),
  ) as Field[]
  const columns = needed.length > 0 ? needed : [all.time] // rows are counted by something
  // Each has its messages in a column of its own.
  const asked = (part: Shape): Asked => ({
    ...state,
    filters: state.filters.map(filter =>
      filter.path === all.message.path ? { ...filter, path: part.message.path } : filter,
    ),
  })
  const possible = all.parts!.filter(part => mayHave(asked(part), part))
  const none = possible.length === 0
  const selects = (none ? all.parts!.slice(0, 1) : possible).map(part => {
    const values = columns.map(column => as(readOf(part, column, all), column.steps[0]!.name!))
    const rows = from(asked(part), part, range, { read, past: none ? () => 'FALSE' : past })
    return `  (${lines(`SELECT ${values.join(', ')}`, ...rows, ...each).replaceAll('\n', '\n   ')})`
  })
  return selects.join('\n  UNION ALL\n')
}

/** A column of all tables, as a table has it: NULL where it has none. */
function readOf(part: Shape, column: Field, all: Shape): string {
  if (column.path === tableColumn) return string(part.table)
  const role = (['time', 'message', 'id', 'severity'] as const).find(name => all[name] === column)
  const field = role ? part[role] : fieldAt(part, column.path)
  if (role === 'severity' && field?.type === 'INT64') return severityOf(field)
  return field ? first(field) : `CAST(NULL AS ${column.type})`
}

/** Whether an entry of the table can pass: one without a field is as one that has NULL there. */
function mayHave({ filters, severity }: Asked, part: Shape): boolean {
  const none = severity.length > 0 && !part.severity && !severity.includes('other')
  return (
    !none &&
    [...alike(filters).values()].every(group => {
      const [{ path, operator }] = group as [Filter]
      if (fieldAt(part, path)) return true
      const isListed = group.some(({ value }) => value === (path === tableColumn ? part.table : null))
      return operator === '=' ? isListed : operator === '!~' || (operator === '!=' && !isListed)
    })
  )
}

/** By path and operator. */
export function alike(filters: Filter[]): Map<string, Filter[]> {
  return Map.groupBy(filters, ({ path, operator }) => `${path} ${operator}`)
}

export function where(terms: (string | null)[]): string[] {
  const all = terms.filter(term => term !== null)
  return all.length === 0 ? [] : [`WHERE ${all.join('\n  AND ')}`]
}

function conditions(
  { search, scope, severity, filters, bounds = {} }: Asked,
  shape: Shape,
  { from, to }: Range,
): (string | null)[] {
  return [
    from === null ? null : `${at(shape.time)} ${bounds.from ?? `>= ${timestamp(from)}`}`,
    to === null ? null : `${at(shape.time)} ${bounds.to ?? `< ${timestamp(to)}`}`,
    searched(search, scope, shape),
    shape.severity && severity.length > 0
      ? `${severityOf(shape.severity)} IN (${severity.map(string).join(', ')})`
      : null,
    ...[...alike(filters).values()].map(group => filtered(group, shape)),
  ]
}

/** Whether a row passes. */
export function conditionOf(of: Filter | Severity, shape: Shape): string {
  if (typeof of === 'string') return `${severityOf(shape.severity!)} = ${string(of)}`
  return filtered([of], shape) ?? 'FALSE'
}

/** `/text/` and `/text/i` are regular expressions; `null` where it is anything else, which is text in any case. */
export function patternIn(search: string): { pattern: string; anyCase: boolean } | null {
  const [, pattern, flag] = /^\/(.+)\/(i?)$/s.exec(search) ?? []
  return pattern === undefined ? null : { pattern, anyCase: flag === 'i' }
}

function searched(search: string, scope: State['scope'], shape: Shape): string | null {
  if (search === '') return null
  const regex = patternIn(search)
  const message = scope === 'message' && at(shape.message)
  if (!regex) return `CONTAINS_SUBSTR(${message || allValues(shape)}, ${string(search)})`
  const text = message || 'TO_JSON_STRING(t)'
  return `REGEXP_CONTAINS(${text}, ${string(regex.anyCase ? `(?i)${regex.pattern}` : regex.pattern)})`
}

/** https://cloud.google.com/bigquery/docs/reference/standard-sql/string_functions#contains_substr */
const searchable = /^(STRING|INT64|BOOL|(BIG)?NUMERIC|TIME(STAMP)?|DATE(TIME)?|JSON)$/

/** All values of an entry, as CONTAINS_SUBSTR takes them: without the names of fields, but for types that it does not take. */
function allValues({ fields }: Shape): string {
  const columns = [...Map.groupBy(fields, ({ steps }) => steps[0]!.name!)].map(([column, own]) => {
    const value = `t.${name(column)}`
    return own.every(({ type }) => searchable.test(type)) ? value : `TO_JSON_STRING(${value})`
  })
  return columns.every(column => column.startsWith('t.')) ? 't' : `(${columns.join(', ')})`
}

/** The search for a value as it is, also where it looks like a regular expression. */
export function searchFor(value: string): string {
  return patternIn(value) ? `/${escaped(value)}/` : value
}

/** As a regular expression that finds it. */
export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function valueOr(parameter: string | undefined, text: string): string {
  return parameter === undefined ? text : `@${parameter}`
}

/** Filters of one path and operator: several equal values are alternatives, several unequal ones are all left out. */
function filtered(filters: Filter[], shape: Shape): string | null {
  const [{ path, operator }] = filters as [Filter]
  const field = fieldAt(shape, path)
  if (!field) return null
  if (operator === '=~' || operator === '!~') {
    const isText = field.type === 'STRING'
    const has = (text: string) =>
      filters
        .map(({ value }) => `REGEXP_CONTAINS(${text}, ${string(patternOfShape(String(value)))})`)
        .join(' OR ')
    const some = exists(field, value => has(isText ? value : `CAST(${value} AS STRING)`))
    return operator === '=~' ? some : `NOT ${some}`
  }
  const literals = filters
    .filter(({ value }) => value !== null)
    .map(({ value, parameter }) => valueOr(parameter, literal(value, field)))
  const absent = filters.length > literals.length
  if (operator === '=' || operator === '!=') {
    const listed = literals.length === 1 ? `= ${literals[0]}` : `IN (${literals.join(', ')})`
    const some = [
      literals.length > 0 && exists(field, value => `${groupable(value, field)} ${listed}`),
      absent && `NOT ${exists(field, value => `${value} IS NOT NULL`)}`,
    ].filter(term => term !== false)
    const either = some.length === 1 ? some[0]! : `(${some.join(' OR ')})`
    return operator === '=' ? either : `NOT ${parenthesised(either)}`
  }
  return exists(field, value =>
    literals.map(other => `${groupable(value, field)} ${operator} ${other}`).join(' AND '),
  )
}

/** Whether the value, or any element of the lists on its path, passes. NULL does not, so that NOT means the rest. */
function exists(field: Field, test: (value: string) => string): string {
  const joins = new Joins()
  const value = joins.chain(field)
  if (joins.lists.length === 0) return `IFNULL(${test(value)}, FALSE)`
  return `EXISTS (SELECT 1 FROM ${joins.lists.map(({ list, alias }) => `UNNEST(${list}) AS ${alias}`).join(' CROSS JOIN ')} WHERE ${test(value)})`
}

function parenthesised(term: string): string {
  return /^(EXISTS|IFNULL|\()/.test(term) ? term : `(${term})`
}
