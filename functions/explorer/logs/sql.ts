/**
 * The SQL of the logs view, made from its state. A filter finds an entry by EXISTS over the lists on its path, so an entry
 * with several elements is found once; columns show the first. All tables are the union of what is read of each.
 */
import { as, literal, name, string, timestamp } from './literals.ts'
import type { Range } from './range.ts'
import { type Field, fieldAt, measureOf, type measures, nameOf, type Shape, tableColumn } from './shape.ts'
import type { Filter, Scalar, Severity, State } from './state.ts'

/** The last row of a page, or how many rows came before where rows are not sorted by time and id. */
export type After = Entry | { offset: number } | null

/** Where an entry is: its time in microseconds since 1970, its table and its id. */
export interface Entry {
  time: number
  id: string
  table: string
}

export type Asked = Pick<State, 'search' | 'scope' | 'severity' | 'filters'>

interface Rows extends Asked, Pick<State, 'columns' | 'sort' | 'ascending'> {}

/**
 * Columns of a row: id, time, severity as it is in the table, message, then the state's columns by `columnNames`. Of all
 * tables, `tableColumn` follows the time, and the severity is a level, or what a status of HTTP stands for.
 */
export function rowsSql(state: Rows, shape: Shape, range: Range, limit: number, after: After = null): string {
  const names = columnNames(shape, state.columns)
  const columns = names.map(([field, name]) => as(first(field), name))
  const { id, time, severity, message } = shape
  const source = shape.parts && fieldAt(shape, tableColumn)
  const sorted = fieldAt(shape, state.sort)
  const [offset, last] = after && 'offset' in after ? [after.offset, null] : [0, after]
  const ordered = (fields: (Field | null | undefined)[], term: (field: Field) => string) => {
    const terms = fields.flatMap(field => (field ? `${term(field)}${state.ascending ? '' : ' DESC'}` : []))
    return `ORDER BY ${terms.join(', ')}`
  }
  const read = [id, time, source, severity, message, ...names.map(([field]) => field), sorted]
  const shown = [id && at(id), at(time), source && at(source), severity && as(first(severity), 'severity')]
  return lines(
    `SELECT ${[...shown, at(message), ...columns].filter(Boolean).join(', ')}`,
    ...from(state, shape, range, {
      read,
      past: part => last && past(part, last, state.ascending),
      each: [
        ordered([sorted, time, id], ({ steps, json }) => inJson(name(steps[0]!.name!), json)),
        `LIMIT ${offset + limit}`,
      ],
    }),
    ordered([sorted, time, id, source], first),
    `LIMIT ${limit}${offset > 0 ? ` OFFSET ${offset}` : ''}`,
  )
}

/** Whether pages go on behind a row; else they go on by counting. */
export function hasCursor({ sort }: Pick<State, 'sort'>, { id }: Shape): boolean {
  return sort === '' && id !== null
}

/** One entry with all its columns. */
export function entrySql({ table, time, id }: Shape, key: Pick<Entry, 'time' | 'id'>): string {
  const columns = [equals(time, key.time), id && key.id !== '' ? equals(id, key.id) : null]
  return lines('SELECT t.*', `FROM ${name(table)} AS t`, ...where(columns), 'LIMIT 1')
}

/**
 * Rows of bucket, value, entries and, where these are measured, `counted`, the rows that have a number, and `all_rows`; the
 * value is the severity, or one of `values` of the state's field, or NULL for others, of which `absent` tells those without
 * the field.
 */
export function histogramSql(
  state: Asked & Pick<State, 'by' | 'measure'>,
  shape: Shape,
  range: Range,
  { width, values }: { width: number; values: Scalar[] },
): string {
  const field = fieldAt(shape, state.by)
  const bucket = `TIMESTAMP_MICROS(DIV(UNIX_MICROS(${at(shape.time)}), ${width}) * ${width}) AS bucket`
  const kind = field ? among(field, values) : shape.severity && severityOf(shape.severity)
  // A number of all severities together is one line.
  const isSplit = kind && (field || state.measure === 'rows')
  const split = isSplit
    ? [as(kind, field ? splitName(field) : 'severity'), field && `${first(field)} IS NULL AS absent`]
    : []
  const keys = [bucket, ...split].filter(Boolean)
  const all = measureOf(state.measure, shape) ? ['COUNT(*) AS all_rows'] : []
  return lines(
    `SELECT ${[...keys, ...measured(state, shape, first), ...all].join(', ')}`,
    ...from(state, shape, range, {
      read: [shape.time, isSplit ? (field ?? shape.severity) : null, measureOf(state.measure, shape)?.field],
    }),
    `GROUP BY ${keys.map((_, i) => i + 1).join(', ')}`,
    'ORDER BY 1',
  )
}

/** Rows of value, entries and perhaps `counted`, the most first: each element counts, and an entry without any counts as NULL. */
export function topSql(
  state: Asked & Pick<State, 'measure'>,
  shape: Shape,
  range: Range,
  field: Field,
  limit: number,
): string {
  const joins = new Joins()
  const value = joins.value(field)
  return lines(
    `SELECT ${[as(value, splitName(field)), ...measured(state, shape, each => joins.chain(each))].join(', ')}`,
    ...from(state, shape, range, { read: [field, measureOf(state.measure, shape)?.field], joins }),
    'GROUP BY 1',
    'ORDER BY entries DESC',
    `LIMIT ${limit}`,
  )
}

/** Rows of a path inside a JSON column, as `user.id`, and entries, the most first. Lists are not looked into. */
export function namesSql(state: Asked, shape: Shape, range: Range, field: Field, limit: number): string {
  const joins = new Joins()
  const value = joins.chain(field)
  return lines(
    'SELECT path, COUNT(*) AS entries',
    ...from(state, shape, range, {
      read: [field],
      joins,
      keys: `CROSS JOIN UNNEST(JSON_KEYS(${value})) AS path`,
    }),
    'GROUP BY 1',
    'ORDER BY entries DESC, path',
    `LIMIT ${limit}`,
  )
}

/** The first and the last time of what is asked, for a range without bounds. */
export function extentSql(state: Asked, shape: Shape, range: Range): string {
  const time = at(shape.time)
  const read = [shape.time]
  return lines(`SELECT MIN(${time}) AS first, MAX(${time}) AS last`, ...from(state, shape, range, { read }))
}

/** The columns with names of their own; the last name of the path where that is free, as redaction goes by names. */
export function columnNames(shape: Shape, paths: string[]): [Field, string][] {
  const taken = new Set(
    [shape.id, shape.time, shape.message]
      .map(field => field && nameOf(field))
      .concat('severity', shape.parts ? tableColumn : []),
  )
  return paths.flatMap(path => {
    const field = fieldAt(shape, path)
    if (!field) return []
    const [own, whole] = [nameOf(field), field.path].map(text => text.replaceAll(/\W/g, '_')) as [
      string,
      string,
    ]
    const free = [own, whole, ...paths.map((_, i) => `${whole}_${i + 2}`)].find(name => !taken.has(name))!
    taken.add(free)
    return [[field, free]] as [Field, string][]
  })
}

/** The last name of a path, by which redaction knows it. */
function splitName(field: Field): string {
  const own = nameOf(field).replaceAll(/\W/g, '_')
  return ['bucket', 'absent', 'entries', 'counted', 'all_rows'].includes(own) ? `${own}_value` : own
}

// ---- tables and conditions

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
function from(state: Asked, shape: Shape, range: Range, reading: Reading): string[] {
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
  const columns = [...all.fields, all.severity].filter(
    column => column !== null && read.some(field => field?.steps === column.steps),
  ) as Field[]
  const possible = all.parts!.filter(part => mayHave(state, part))
  const none = possible.length === 0
  const selects = (none ? all.parts!.slice(0, 1) : possible).map(part => {
    const values = columns.map(column => as(readOf(part, column, all), column.steps[0]!.name!))
    const rows = from(state, part, range, { read, past: none ? () => 'FALSE' : past })
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
      return operator === '=' ? isListed : operator === '!=' && !isListed
    })
  )
}

/** By path and operator. */
function alike(filters: Filter[]): Map<string, Filter[]> {
  return Map.groupBy(filters, ({ path, operator }) => `${path} ${operator}`)
}

function where(terms: (string | null)[]): string[] {
  const all = terms.filter(term => term !== null)
  return all.length === 0 ? [] : [`WHERE ${all.join('\n  AND ')}`]
}

function conditions(
  { search, scope, severity, filters }: Asked,
  shape: Shape,
  { from, to }: Range,
): (string | null)[] {
  return [
    from === null ? null : `${at(shape.time)} >= ${timestamp(from)}`,
    to === null ? null : `${at(shape.time)} < ${timestamp(to)}`,
    searched(search, scope, shape),
    shape.severity && severity.length > 0
      ? `${severityOf(shape.severity)} IN (${severity.map(string).join(', ')})`
      : null,
    ...[...alike(filters).values()].map(group => filtered(group, shape)),
  ]
}

/** `/text/` and `/text/i` are regular expressions, anything else is text in any case. */
function searched(search: string, scope: State['scope'], shape: Shape): string | null {
  if (search === '') return null
  const [, pattern, flag] = regex.exec(search) ?? []
  const message = scope === 'message' && at(shape.message)
  if (pattern === undefined) return `CONTAINS_SUBSTR(${message || allValues(shape)}, ${string(search)})`
  const text = message || 'TO_JSON_STRING(t)'
  return `REGEXP_CONTAINS(${text}, ${string(flag ? `(?i)${pattern}` : pattern)})`
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

const regex = /^\/(.+)\/(i?)$/s

/** The search for a value as it is, also where it looks like a regular expression. */
export function searchFor(value: string): string {
  return regex.test(value) ? `/${value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}/` : value
}

/** Filters of one path and operator: several equal values are alternatives, several unequal ones are all left out. */
function filtered(filters: Filter[], shape: Shape): string | null {
  const [{ path, operator }] = filters as [Filter]
  const field = fieldAt(shape, path)
  if (!field) return null
  const literals = filters.filter(({ value }) => value !== null).map(({ value }) => literal(value, field))
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

/** Of all tables, rows of one time and id are in the order of the tables. */
function past({ table, time, id }: Shape, after: Entry, ascending: boolean): string {
  const sign = ascending ? '>' : '<'
  const [moment, key] = [timestamp(after.time), string(after.id)]
  const isPast = ascending ? table > after.table : table < after.table
  return `${at(time)} ${sign}= ${moment}\n  AND (${at(time)} ${sign} ${moment} OR ${at(id!)} ${sign}${isPast ? '=' : ''} ${key})`
}

function equals(field: Field, value: Scalar): string {
  return `${at(field)} = ${literal(value, field)}`
}

// ---- values

/** Lists on the ways to values, each opened once. */
class Joins {
  readonly lists: { list: string; alias: string }[] = []

  get clauses(): string[] {
    return this.lists.map(({ list, alias }) => `LEFT JOIN UNNEST(${list}) AS ${alias} ON TRUE`)
  }

  value(field: Field): string {
    return groupable(this.chain(field), field)
  }

  chain({ steps, json }: Field): string {
    const reached = steps.reduce((above, step) => {
      const here = `${above}.${name(step.name!)}`
      return step.repeated ? this.open(here, step.name!) : here
    }, 't')
    return inJson(reached, json)
  }

  private open(list: string, wanted: string): string {
    const known = this.lists.find(other => other.list === list)
    if (known) return known.alias
    const taken = (alias: string) => alias === 't' || this.lists.some(other => other.alias === alias)
    let alias = name(wanted)
    for (let i = 2; taken(alias); i++) alias = name(`${wanted}_${i}`)
    this.lists.push({ list, alias })
    return alias
  }
}

/** A column of the table itself. */
function at({ steps }: Field): string {
  return `t.${name(steps[0]!.name!)}`
}

/** The value, or the first of each list on the way. */
function first({ steps, json }: Field): string {
  const reached = steps.reduce(
    (above, step) => `${above}.${name(step.name!)}${step.repeated ? '[SAFE_OFFSET(0)]' : ''}`,
    't',
  )
  return inJson(reached, json)
}

/** A value inside JSON, as text. */
function inJson(column: string, json: string | undefined): string {
  return json === undefined ? column : `JSON_VALUE(${column}, ${string(json)})`
}

const levels: Record<Exclude<Severity, 'other'>, string[]> = {
  error: ['error', 'err', 'fatal', 'panic', 'critical', 'crit', 'alert', 'emergency', 'emerg'],
  warning: ['warning', 'warn'],
  info: ['info', 'notice', 'log', 'information'],
  debug: ['debug', 'trace', 'verbose', 'debug1', 'debug2', 'debug3', 'debug4', 'debug5'],
}

/** The severity of a value as an answer has it, by the rules of `severityOf`. */
export function severityIn(value: unknown): Severity {
  if (typeof value === 'number')
    return value >= 500 ? 'error' : value >= 400 ? 'warning' : value >= 100 ? 'info' : 'other'
  const word = String(value).toLowerCase()
  const found = Object.entries(levels).find(([, words]) => words.includes(word))
  return (found?.[0] as Severity | undefined) ?? 'other'
}

/** A status of HTTP by its hundreds, a level by its name. */
function severityOf(field: Field): string {
  const value = first(field)
  if (field.type === 'INT64')
    return `CASE WHEN ${value} >= 500 THEN 'error' WHEN ${value} >= 400 THEN 'warning' WHEN ${value} >= 100 THEN 'info' ELSE 'other' END`
  const cases = Object.entries(levels).map(
    ([severity, words]) =>
      `WHEN LOWER(${value}) IN (${words.map(string).join(', ')}) THEN ${string(severity)}`,
  )
  return `CASE ${cases.join(' ')} ELSE 'other' END`
}

/** The value where it is listed, else NULL. */
function among(field: Field, values: Scalar[]): string {
  const listed = values.filter(value => value !== null).map(value => literal(value, field))
  const value = groupable(first(field), field)
  return `IF(${listed.length === 0 ? 'FALSE' : `${value} IN (${listed.join(', ')})`}, ${value}, NULL)`
}

/** What is shown of the rows, and where it is not their number of how many rows with a value that is. */
function measured(
  { measure }: Pick<State, 'measure'>,
  shape: Shape,
  value: (field: Field) => string,
): string[] {
  const of = measureOf(measure, shape)
  if (!of) return ['COUNT(*) AS entries']
  const number = value(of.field)
  return [`${aggregates[of.kind](number)} AS entries`, `COUNT(${number}) AS counted`]
}

const aggregates: Record<(typeof measures)[number], (value: string) => string> = {
  average: value => `AVG(${value})`,
  p50: value => `APPROX_QUANTILES(${value}, 100)[OFFSET(50)]`,
  p95: value => `APPROX_QUANTILES(${value}, 100)[OFFSET(95)]`,
  highest: value => `MAX(${value})`,
}

/** JSON has no equality of its own; its text has. */
function groupable(value: string, { type }: Field): string {
  return type === 'JSON' || type === 'GEOGRAPHY' ? `TO_JSON_STRING(${value})` : value
}

function lines(...parts: string[]): string {
  return parts.join('\n')
}
