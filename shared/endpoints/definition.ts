/** A saved endpoint: its definition as the service has it, its parameters' types, and its document in the store. */
import { type Binding, EngineError, type Rollup } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Column, SqlType } from '../sql/types.ts'
import { assertReadable, formats } from '../stores/format.ts'
import type { Fields } from '../stores/store.ts'

export interface Endpoint {
  /** Lower-case UUID, which never changes. */
  id: string
  /** Name of its files: `logs.all`. */
  name: string
  description: string
  /** Other names by which callers address it, matched exactly; absent = none. */
  aliases?: string[]
  /** Calls without a key that an address may make in a minute; absent = every call needs one. */
  publicCallsPerMinute?: number
  /** Whether answers have JSON as text. */
  jsonAsText?: true
  /** The GoogleSQL query over logical table names, as written. */
  sql: string
  parameters: Record<string, ParameterDefinition>
  required: string[]
  maxRows: number
  /** Bytes of JSON that the rows of an answer may be; `null` = as many as the service's settings say. */
  maxResultBytes: number | null
  timeoutSeconds: number
  /** 0 = every call runs the query. */
  cacheSeconds: number
  /** `null` = one reading for all. */
  newestFirst: NewestFirst | null
  /** `null` = one answer has all rows. */
  page: Paging | null
  /** `null` = never warmed. */
  warm: Warming | null
  /** Tables of sums that the engine keeps; none = every answer is read from the log tables. */
  rollups: Rollup[]
  /** Queries that read the roll-ups, for some calls: the first whose `when` fits, else `sql` (`saved-query.ts`). */
  answers: RollupAnswer[]
  /** Endpoints whose rows its SQL reads, by the name of the table; absent = none. */
  upstream?: Record<string, Upstream>
  /** The same as they were found (`upstream.ts`): then `sql` defines their tables. Never stored. */
  upstreamTables?: UpstreamTable[]
  sandbox: boolean
  redact: boolean
  /** Whether `sandbox` holds for callers without `pii:read` though the endpoint redacts; SQL shows them any value. */
  sandboxDespiteRedaction: boolean
  /** How the page shows its tables, by their names in the WITH. */
  explore: Record<string, Explore>
  /** Buckets of the saved query's rows, by the values of one parameter; none = its times are all that is known of them. */
  chart: Record<string, Record<string, Buckets>>
  /** Labels of the engine's jobs. */
  labels: Record<string, string>
  /** Names of labels that a caller may give. */
  callerLabels: string[]
  /** BigQuery's name of the reservation that runs use, or `none`; `null` = as the project is assigned. */
  reservation: string | null
  /** Whether callers may name no other version than this one. */
  endEarlierVersions?: true
  /** Who is told of what its rows show, by name; absent = none. Each has a file of its own. */
  alerts?: Alert[]
  /** Hash of everything above that decides an answer, so not of the description, of `explore` and `chart`, of alerts, and of what is for jobs alone. */
  version: string
}

/** How a table is shown as log entries; what is left out is found by the names of columns. */
export interface Explore {
  time?: string
  message?: string
  /** Path of a level as text, or of a status of HTTP. */
  severity?: string
  /** Paths of the fields that are listed first. */
  fields?: string[]
}

/** Rows that count in buckets of time up to now, one for each bucket that counted something. Milliseconds. */
export interface Buckets {
  bucket: number
  /** How far back they reach. */
  last: number
  /** Whether they begin with a whole bucket: `last` counts from the beginning of the present one. */
  whole: boolean
}

/** How the newest rows are read before older ones (`shared/run/newest-first.ts`). */
export interface NewestFirst {
  /** The parameter that bounds the time from below, exclusively. */
  start: string
  /** The parameter that bounds it from above. */
  end: string
  /** How far back each reading goes, milliseconds, ascending. */
  steps: number[]
}

/** How an endpoint's rows are read page by page (`shared/pages/`). */
export interface Paging {
  /** Columns whose values together name a row: its time, and a text that tells apart rows of one moment. */
  by: [time: string, tie: string]
}

/** How an endpoint's answers are refreshed before a reader has to wait for them. */
export interface Warming {
  /** Answers in use that are older are refreshed. */
  seconds: number
  /** At most so many in one run. */
  maxSets: number
}

/** A query over the endpoint's roll-ups, which gives the rows of its own query for the parameters that fit `when`. */
export interface RollupAnswer {
  sql: string
  /** JSON Schema of the parameters, those that are NULL left out. */
  when: object
}

/** Another endpoint whose rows are read as a table. */
export interface Upstream {
  /** Its name. */
  endpoint: string
  /** Its parameters: constants, and `@name` for the value of a parameter of the endpoint that reads it. */
  parameters: Record<string, Scalar>
}

export interface UpstreamTable {
  /** In the SQL, and of the binding with its rows. */
  name: string
  endpoint: Endpoint
  columns: Column[]
  parameters: Upstream['parameters']
}

export type Scalar = string | number | boolean

/** The JSON Schema of one parameter, as far as `definition.schema.json` allows it. */
export interface ParameterDefinition {
  type: 'string' | 'integer' | 'number' | 'boolean'
  description?: string
  format?: 'iso-timestamp' | 'regular-expression'
  enum?: (string | number)[]
  default?: Scalar
  examples?: Scalar[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
}

/** Parameters of every endpoint with pages, and the names of the bindings that they lead to. */
export const pageParameters = ['cursor', 'follow'] as const
export const pageBindings = ['page_time', 'page_tie'] as const

/** The parameter whose value a value of `upstream` passes on; `null` for a constant. */
export function passedOn(value: Scalar): string | null {
  return typeof value === 'string' && value.startsWith('@') ? value.slice(1) : null
}

/**
 * The error of a request that fails by its endpoint's definition, which its caller cannot change.
 * @param words for the log: what is wrong, without any value
 */
export function definitionError({ name }: Pick<Endpoint, 'name'>, words: string): ApiError {
  return new ApiError(
    'internal',
    'This endpoint does not work as it is defined; its operator has to correct it.',
    { cause: new EngineError('misconfigured', `${name}: ${words}`) },
  )
}

const typeNames = { string: 'STRING', integer: 'INT64', number: 'FLOAT64', boolean: 'BOOL' } as const

/** The type that a parameter is bound with in the SQL. */
export function typeOf(parameter: ParameterDefinition): SqlType {
  if (parameter.format === 'iso-timestamp') return { kind: 'TIMESTAMP' }
  return { kind: typeNames[parameter.type] }
}

/** The parameters with their types, sorted by name. */
export function parameterColumns({ parameters }: Pick<Endpoint, 'parameters'>): Column[] {
  const names = Object.keys(parameters).toSorted()
  return names.map(name => ({ name, type: typeOf(parameters[name]!) }))
}

/** Every parameter as NULL of its type, and every table of `upstream` without its rows, for a dry run. */
export function emptyBindings(endpoint: Pick<Endpoint, 'parameters' | 'upstreamTables'>): Binding[] {
  const parameters = parameterColumns(endpoint).map(column => ({ ...column, value: null }))
  return [...parameters, ...upstreamBindings(endpoint)]
}

/** The tables of `upstream`, as arrays of structs that are not filled yet. */
export function upstreamBindings({ upstreamTables = [] }: Pick<Endpoint, 'upstreamTables'>): Binding[] {
  return upstreamTables.map(({ name, columns }) => {
    const element = { kind: 'STRUCT', fields: columns } as const
    return { name, type: { kind: 'ARRAY', element }, value: null }
  })
}

/** Equal where the endpoint and all behind it are. */
export function wholeVersion({ version, upstreamTables = [] }: Endpoint): string {
  return [version, ...upstreamTables.map(({ endpoint }) => `(${wholeVersion(endpoint)})`)].join(' ')
}

/** Whether answers of the endpoint are cached. An endpoint that redacts stores no clear ones. */
export function isCached({ cacheSeconds, redact }: Endpoint, redacted: boolean): boolean {
  return cacheSeconds > 0 && (redacted || !redact)
}

/** The document of an endpoint, in the collection `endpoints` under its id; `endpointIn` reads it back. */
export function fieldsOf(endpoint: Endpoint): Fields {
  const { name, version } = endpoint
  return { format: formats.definition, name, version, definition: JSON.stringify(endpoint) }
}

/** Documents of earlier versions lack roll-ups, `explore`, `chart` or labels. @throws ApiError for a newer format */
export function endpointIn(fields: Fields): Endpoint {
  assertReadable('definition', fields, `The definition of ${fields['name'] as string}`)
  const { rollup, ...stored } = JSON.parse(fields['definition'] as string) as Endpoint & { rollup?: Rollup }
  return {
    ...stored,
    // Definitions from before there were several roll-ups have `rollup`.
    rollups: stored.rollups ?? (rollup ? [rollup] : []),
    answers: stored.answers ?? [],
    explore: stored.explore ?? {},
    chart: stored.chart ?? {},
    labels: stored.labels ?? {},
    callerLabels: stored.callerLabels ?? [],
    reservation: stored.reservation ?? null,
  }
}

/** What is asked of an endpoint, what of its rows sets it off, and who is told. `alert.schema.json` has its file's fields. */
export interface Alert {
  /** Name of its file. */
  name: string
  /** Parameters of the endpoint, as a caller sends them; each set has a state of its own. */
  sets: Record<string, string | number | boolean>[]
  condition: Condition
  /** How often it is evaluated, milliseconds; `null` = as often as the endpoint's answers change. */
  everyMs: number | null
  /** How long the condition must hold before someone is told. */
  forMs: number
  /** How often it is told again while it holds; `null` = never. */
  repeatMs: number | null
  severity: Severity
  /** With `{{ name }}` for values. */
  text: string
  /** By their names; none = it shows in the log and in lists alone. */
  channels: string[]
  /** Whether personal data is taken out of what is told. */
  redact: boolean
}

export type Severity = 'info' | 'warning' | 'critical'

/** It holds where the value is above, or below, the number; strictly. */
export interface Condition {
  /** A column, or `rows` for their count. */
  value: string
  /** Column by which the value is divided: a share. */
  of?: string
  /** The same window so long ago, milliseconds: the value is a multiple of what it was then, in total over all rows. */
  beforeMs?: number
  above?: number
  below?: number
}

/** The value of a condition that counts rows. */
export const countOfRows = 'rows'

/** The columns that a condition reads. */
export function columnsOf({ value, of }: Condition): string[] {
  return [...(value === countOfRows ? [] : [value]), ...(of === undefined ? [] : [of])]
}

/** How long before now the windows are that a condition looks at, milliseconds. */
export function windowsOf({ condition: { beforeMs } }: Alert): number[] {
  return beforeMs === undefined ? [0] : [0, beforeMs]
}
