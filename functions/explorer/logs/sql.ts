/**
 * The SQL of the logs view, made from its state. A filter finds an entry by EXISTS over the lists on its path, so an entry
 * with several elements is found once; columns show the first. All tables are the union of what is read of each.
 */
import type { Periods } from './compare.ts'
import { type Asked, conditionOf, from, where } from './conditions.ts'
import {
  as,
  at,
  first,
  inJson,
  Joins,
  lines,
  literal,
  name,
  severityOf,
  shownAsText,
  string,
  timestamp,
} from './values.ts'
import type { Range } from './range.ts'
import { type Field, fieldAt, measureOf, type measures, nameOf, type Shape, tableColumn } from './shape.ts'
import type { Scalar, State } from './state.ts'

/** The last row of a page, or how many rows came before where rows are not sorted by time and id. */
export type After = Entry | { offset: number } | null

/** Where an entry is: its time in microseconds since 1970, its table and its id. */
export interface Entry {
  time: number
  id: string
  table: string
}

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

interface Buckets {
  /** In microseconds. */
  width: number
  /** Of the state's field, those that are told apart; `each` = all there are; `null` = all rows of a bucket are one. */
  values: Scalar[] | 'each' | null
  /** By how much later rows count than they are. */
  shift?: number
}

/**
 * Rows of bucket, value, entries and, where these are measured, `counted`, the rows that have a number, and `all_rows`; the
 * value is the severity, or one of `values` of the state's field, or NULL for others, of which `absent` tells those without
 * the field. Where each value is told apart, NULL stands for those alone.
 */
export function histogramSql(
  state: Asked & Pick<State, 'by' | 'measure'>,
  shape: Shape,
  range: Range,
  { width, values, shift = 0 }: Buckets,
): string {
  const field = values && fieldAt(shape, state.by)
  const micros = `UNIX_MICROS(${at(shape.time)})${shift === 0 ? '' : ` + ${shift}`}`
  const bucket = `TIMESTAMP_MICROS(DIV(${micros}, ${width}) * ${width}) AS bucket`
  const kind = field ? among(field, values) : shape.severity && severityOf(shape.severity)
  // A number of all severities together is one line.
  const isSplit = values && kind && (field || state.measure === 'rows')
  const split = isSplit
    ? [
        as(kind, field ? splitName(field) : 'severity'),
        field && values !== 'each' && `${first(field)} IS NULL AS absent`,
      ]
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

/**
 * Rows of value, entries and perhaps `counted`, and when the value was first and last there, the most first: each element
 * counts, and an entry without any counts as NULL.
 */
export function topSql(
  state: Asked & Pick<State, 'measure'>,
  shape: Shape,
  range: Range,
  field: Field,
  limit: number,
): string {
  const joins = new Joins()
  const value = joins.value(field)
  const time = at(shape.time)
  const columns = [
    as(value, splitName(field)),
    ...measured(state, shape, each => joins.chain(each)),
    `MIN(${time}) AS first`,
    `MAX(${time}) AS last`,
  ]
  return lines(
    `SELECT ${columns.join(', ')}`,
    ...from(state, shape, range, {
      read: [field, measureOf(state.measure, shape)?.field, shape.time],
      joins,
    }),
    'GROUP BY 1',
    'ORDER BY entries DESC',
    `LIMIT ${limit}`,
  )
}

/**
 * What the period before had, in the buckets of the present one: rows as `histogramSql` has them, split by severity; or where
 * there is a field, rows of bucket, value, entries and all_rows, of a bucket without a value or of a value without a bucket.
 */
export function beforeSql(
  state: Asked & Pick<State, 'by' | 'measure'>,
  shape: Shape,
  { range, before }: Periods,
  { width, limit }: { width: number; limit: number },
): string {
  const field = fieldAt(shape, state.by)
  const of = { width, values: field ? null : [], shift: range.from - before.from }
  const buckets = histogramSql(state, shape, before, of)
  if (!field) return buckets
  const value = name(splitName(field))
  const all = measureOf(state.measure, shape) ? 'all_rows' : 'entries'
  return lines(
    `SELECT bucket, NULL AS ${value}, entries, ${all} AS all_rows FROM (`,
    buckets,
    ')',
    'UNION ALL',
    `SELECT NULL, ${value}, entries, NULL FROM (`,
    topSql(state, shape, before, field, limit),
    ')',
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

/** One row of a number field: how many, the least, the most, their average, and their percentiles as a list from 0 to 100. */
export function statisticsSql(state: Asked, shape: Shape, range: Range, field: Field): string {
  const joins = new Joins()
  const value = joins.chain(field)
  return lines(
    `SELECT COUNT(${value}) AS counted, MIN(${value}) AS least, MAX(${value}) AS most, AVG(${value}) AS average, APPROX_QUANTILES(${value}, 100) AS percentiles`,
    ...from(state, shape, range, { read: [field], joins }),
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
  return ['bucket', 'absent', 'entries', 'counted', 'all_rows', 'first', 'last'].includes(own)
    ? `${own}_value`
    : own
}

/** The value where it is listed, else NULL. */
function among(field: Field, values: Scalar[] | 'each'): string {
  const value = shownAsText(first(field), field)
  if (values === 'each') return value
  const listed = values.filter(value => value !== null).map(value => literal(value, field))
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
  if (of.kind === 'share') {
    const matching = `COUNTIF(${conditionOf(of.of!, shape)})`
    return [`100 * ${matching} / COUNT(*) AS entries`, 'COUNT(*) AS counted']
  }
  const number = value(of.field)
  return [`${aggregates[of.kind](number)} AS entries`, `COUNT(${number}) AS counted`]
}

export const aggregates: Record<(typeof measures)[number], (value: string) => string> = {
  average: value => `AVG(${value})`,
  p50: value => `APPROX_QUANTILES(${value}, 100)[OFFSET(50)]`,
  p95: value => `APPROX_QUANTILES(${value}, 100)[OFFSET(95)]`,
  highest: value => `MAX(${value})`,
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
