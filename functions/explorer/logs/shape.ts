/** Which columns of a table are its time, message, id and severity: as the definition says, or by convention of names. */
import type { ColumnDescription, TableDescription } from '../../query/endpoints.ts'
import {
  everyTable,
  type Filter,
  operators,
  readFilter,
  type Scalar,
  severities,
  type Severity,
} from './state.ts'

/** A value of an entry: a column, or a field of nested ones. */
export interface Field {
  /** Names from the column down, with dots between them: `metadata.request.path`. */
  path: string
  /** The columns on the way, the last one its own. */
  steps: ColumnDescription[]
  /** GoogleSQL's name of the type, of the elements where it is a list. */
  type: string
  /** Path inside a JSON column, as JSON_VALUE takes it: `$.user.id`. */
  json?: string
}

/** Names of values that say which request, or who, in the order in which they are shown; in small letters, without `_` and `-`. */
const identities = [
  /^(x|sb)?req(uest)?id$/,
  /^(x?(trace|correlation)|execution)id$|^cfray$/,
  /^(userid|authuser|actorid|subject)$/,
  /email$/,
  /^sessionid$/,
]

const mostIdentities = 4

/** The place of a field among those that identify; -1 where it does not. */
function identityRank(field: Pick<Field, 'path'>): number {
  const name = nameOf(field).toLowerCase().replaceAll(/[_-]/g, '')
  return identities.findIndex(pattern => pattern.test(name))
}

/** Those of an entry's values that identify, each once, and whether it is what the entries of one request have in common. */
export function identitiesIn(
  values: { path: string; value: Scalar }[],
): { path: string; value: Scalar; isOfRequest: boolean }[] {
  const found = values
    .map(each => ({ ...each, rank: identityRank(each) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((a, b) => a.rank - b.rank)
  const first = found.filter(({ value }, i) => found.findIndex(other => other.value === value) === i)
  return first
    .slice(0, mostIdentities)
    .map(({ path, value, rank }) => ({ path, value, isOfRequest: rank < 2 }))
}

/** A table that can be shown as log entries. */
export interface Shape {
  table: string
  time: Field
  message: Field
  id: Field | null
  severity: Field | null
  /** Every value that can be filtered by, in the order of the columns. */
  fields: Field[]
  /** Those that people look for first. */
  likely: Field[]
  /** Of all tables: each one. What the others of this say are then columns of the rows that `sql.ts` reads of them. */
  parts?: Shape[]
}

/** The column that says from which table an entry of all tables is. */
export const tableColumn = 'table_name'

/** In the order in which a name is looked for. */
const names = {
  time: ['timestamp', 'time', 'ts', 'event_time', 'created_at', 'date'],
  message: ['event_message', 'message', 'msg', 'body', 'text', 'log', 'line'],
  id: ['id', 'insert_id', 'event_id', 'log_id', 'uuid'],
  severity: ['severity', 'severity_text', 'level', 'log_level', 'loglevel', 'error_severity'],
  status: ['status_code', 'status'],
}

const likely =
  /^(status_code|level|error_severity|method|path|pathname|event_type|error|msg|user_name|user_id|auth_user|host|country|function_id|origin_time|execution_time_ms|duration)$/

/** @returns `null` where the table has no time or no message */
export function shapeOf({ name, columns, explore = {} }: TableDescription): Shape | null {
  const fields = columns.flatMap(column => leaves([], column))
  const said = (path: string | undefined) => (path === undefined ? null : fieldAt({ fields }, path))
  const top = fields.filter(({ steps }) => steps.length === 1 && !steps[0]!.repeated)
  const time = said(explore.time) ?? named(names.time, ofType(top, 'TIMESTAMP'))
  const message = said(explore.message) ?? named(names.message, ofType(top, 'STRING'))
  if (!time || !message) return null
  const severity =
    said(explore.severity) ??
    named(names.severity, ofType(fields, 'STRING')) ??
    named(names.status, ofType(fields, 'INT64'))
  const id = named(names.id, ofType(top, 'STRING'))
  const first = explore.fields?.flatMap(path => said(path) ?? []) ?? byName(fields)
  return { table: name, time, message, id, severity, fields, likely: first }
}

/** All tables as one. Its fields are those of any table, but for paths that have several types. */
export function allOf(parts: [Shape, ...Shape[]]): Shape {
  const [{ time, message, id }] = parts
  const taken = new Set<string>()
  const column = (path: string, type: string, wanted = path): Field => {
    const names = [wanted, ...Array.from(taken, (_, i) => `${wanted}_${i + 2}`)]
    const name = names.find(other => !taken.has(other))!
    taken.add(name)
    return { path, steps: [{ name, type, repeated: false }], type }
  }
  const own = {
    source: column(tableColumn, 'STRING'),
    time: column(nameOf(time), 'TIMESTAMP'),
    message: column(nameOf(message), 'STRING'),
    id: id && parts.every(part => part.id) ? column(nameOf(id), 'STRING') : null,
    severity: parts.some(part => part.severity) ? column('severity', 'STRING') : null,
  }
  const known = [own.id, own.time, own.source, own.message].filter(field => field !== null)
  const others = Map.groupBy(
    parts.flatMap(({ fields }) => fields),
    ({ path }) => path,
  )
  for (const { path } of known) others.delete(path)
  const fields = [...others.values()].flatMap(([{ path, type } = time, ...rest]) =>
    rest.every(other => other.type === type) ? column(path, type, path.replaceAll(/\W/g, '_')) : [],
  )
  const first = new Set(parts.flatMap(({ likely }) => likely.map(({ path }) => path)))
  const { source, ...columns } = own
  return {
    table: everyTable,
    ...columns,
    fields: [...known, ...fields],
    likely: [source, ...fields.filter(({ path }) => first.has(path))],
    parts,
  }
}

/** How a person reads the name of a table. */
export function tableTitle(table: string): string {
  return table === everyTable ? 'All tables' : table
}

/** A name in JSON that a path can have: the path's own signs, and those of the address, are not in it. */
const jsonName = /^[^\p{Cc}.,[\]"'\\=!<>$]+$/u

/** @param path of a field, or of a value inside a JSON column: `payload.items[0].name` */
export function fieldAt({ fields }: Pick<Shape, 'fields'>, path: string): Field | null {
  const own = fields.find(field => field.path === path)
  if (own) return own
  const column = fields.find(({ type, path: above }) => type === 'JSON' && /^[.[]/.test(restOf(path, above)))
  const names =
    column &&
    restOf(path, column.path)
      .replace(/^\./, '')
      .split(/\.|(?=\[\d+\])/)
  if (!names?.every(name => /^\[\d+\]$/.test(name) || jsonName.test(name))) return null
  const json = names.map(name =>
    name.startsWith('[') ? name : /^\w+$/.test(name) ? `.${name}` : `."${name}"`,
  )
  return { path, steps: column!.steps, type: 'STRING', json: `$${json.join('')}` }
}

function restOf(path: string, above: string): string {
  return path.startsWith(above) ? path.slice(above.length) : ''
}

/** The last name of its path. */
export function nameOf({ path }: Pick<Field, 'path'>): string {
  return path
    .split('.')
    .at(-1)!
    .replace(/(\[\d+\])+$/, '')
}

/** What is measured of a field's numbers. */
export const measures = ['average', 'p50', 'p95', 'highest'] as const

export interface Measure {
  kind: (typeof measures)[number] | 'share'
  /** Whose numbers are measured, or what a share's condition is of. */
  field: Field
  /** Of a share: which rows are counted of all. */
  of?: Filter | Severity
}

/** @param measure as the state has it @returns `null` where rows are counted */
export function measureOf(measure: string, shape: Shape): Measure | null {
  const [named = '', rest = ''] = measure.split(/:(.*)/s)
  if (named === 'share') {
    const of = severities.find(each => each === rest) ?? readFilter(rest)
    const field = of && (typeof of === 'string' ? shape.severity : fieldAt(shape, of.path))
    return field ? { kind: 'share', field, of } : null
  }
  const kind = measures.find(other => other === named)
  const field = fieldAt(shape, rest)
  return kind && field && isNumber(field) ? { kind, field } : null
}

/** A name, a sign and a value. */
const written = /^\s*([^\s:=<>]+)\s*(>=|<=|[:=<>])\s*(.+?)\s*$/s

/** @returns the filter that a search such as `status_code:500`, `path=/rest` or `origin_time >= 300` stands for; `null` = none */
export function filterIn(search: string, shape: Shape): Filter | null {
  const [, name = '', sign = '', text = ''] = written.exec(search) ?? []
  const named = ({ path, type }: Field) => path.endsWith(`.${name}`) && type !== 'JSON'
  const field = fieldAt(shape, name) ?? [...shape.likely, ...shape.fields].find(named)
  if (!field || field.type === 'JSON') return null
  const operator = operators.find(other => other === sign) ?? '='
  if (operator !== '=' && !isNumber(field)) return null
  const quoted = /^(["'])(.*)\1$/s.exec(text)?.[2]
  const value = valueIn(quoted ?? text, field)
  return value === null ? null : { path: field.path, operator, value }
}

/** @returns `null` where the field cannot have it */
function valueIn(text: string, field: Field): string | number | boolean | null {
  if (field.type === 'BOOL') return /^(true|false)$/i.test(text) ? /^true$/i.test(text) : null
  if (!isNumber(field)) return field.type === 'STRING' ? text : null
  // A whole number beyond what a double holds stays text, as in answers.
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : text
  return field.type !== 'INT64' && /^-?\d+\.\d+$/.test(text) ? Number(text) : null
}

const numeric = ['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC']

/** Whether it can be measured. */
export function isNumber({ type }: Field): boolean {
  return numeric.includes(type)
}

function leaves(above: ColumnDescription[], column: ColumnDescription): Field[] {
  if (column.name === null) return []
  const steps = [...above, column]
  if (column.fields) return column.fields.flatMap(field => leaves(steps, field))
  return [{ path: steps.map(({ name }) => name).join('.'), steps, type: column.type }]
}

/** The least deep first. */
function byName(fields: Field[]): Field[] {
  return fields
    .filter(field => likely.test(nameOf(field)))
    .toSorted((a, b) => a.steps.length - b.steps.length)
}

function ofType(fields: Field[], type: string): Field[] {
  return fields.filter(field => field.type === type)
}

/** The least deep field with the first of the names that there is. */
function named(wanted: string[], fields: Field[]): Field | null {
  const byDepth = fields.toSorted((a, b) => a.steps.length - b.steps.length)
  const found = wanted.map(name => byDepth.find(field => nameOf(field).toLowerCase() === name))
  return found.find(field => field !== undefined) ?? null
}

const statusNames: Record<Severity, string> = {
  error: '5xx',
  warning: '4xx',
  info: '1xx to 3xx',
  debug: '',
  other: 'no status',
}

/** As the table has it: a class of HTTP statuses where those are its severities. Empty for one that it cannot have. */
export function severityName(severity: Severity, shape: Shape): string {
  return shape.severity?.type === 'INT64' ? statusNames[severity] : severity
}
