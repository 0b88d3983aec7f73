/** A saved endpoint: the content of its two files, and the form in which the store holds it. */
import { createHash } from 'node:crypto'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import schema from './definition.schema.json' with { type: 'json' }
import { type Binding, EngineError, type Rollup } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { nearestName } from '../sql/nearest.ts'
import type { Column, SqlType } from '../sql/types.ts'
import type { Fields } from '../stores/store.ts'

export interface Endpoint {
  /** Lower-case UUID, which never changes. */
  id: string
  /** Name of its files: `logs.all`. */
  name: string
  description: string
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
  /** Queries that read the roll-ups, for some calls: the first whose `when` fits, else `sql` (`queries.ts`). */
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
  /** Labels of the engine's jobs. */
  labels: Record<string, string>
  /** Names of labels that a caller may give. */
  callerLabels: string[]
  /** BigQuery's name of the reservation that runs use, or `none`; `null` = as the project is assigned. */
  reservation: string | null
  /** Hash of everything above that decides an answer, so not of the description, `explore` and what is of jobs alone. */
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

/** How the newest rows are read before older ones (`shared/answers/newest-first.ts`). */
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
  /** The batch query, which answers many parameter sets in one scan; `null` = each set runs the endpoint's own. */
  sql: string | null
  /** Parameter -> values whose sets the batch query gets in statements of their own. */
  apart: Record<string, Scalar[]>
}

/** A query over the endpoint's roll-ups, which gives the rows of its own query for the parameters that fit `when`. */
export interface RollupAnswer {
  sql: string
  /** The batch query over the roll-ups; `null` = each set runs by itself. */
  batch: string | null
  /** `minute`: the rows are those as of the last whole minute. `null` = as of now. */
  asOf: 'minute' | null
  /** JSON Schema of the parameters, those that are NULL left out. */
  when: object
}

/** Another endpoint whose rows are read as a table. */
interface Upstream {
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

/** The shape of `<name>.yaml`, after the schema has filled in its defaults. */
interface DefinitionFile {
  id: string
  description: string
  parameters: { required?: string[]; properties: Record<string, ParameterDefinition> }
  maxRows: number
  maxResultBytes?: number
  timeoutSeconds: number
  cache: { seconds: number }
  newestFirst?: { start: string; end: string; steps: string[] }
  page?: { by: [string, string]; order: 'descending' }
  warm?: { seconds: number; maxSets: number; query?: string; apart?: Record<string, Scalar[]> }
  rollup?: RollupDefinition | RollupDefinition[]
  answers?: AnswerDefinition[]
  upstream?: Record<string, Upstream>
  sandbox: boolean | { redacted: 'allow' | 'refuse' }
  redact: boolean
  explore?: Record<string, Explore>
  labels?: Record<string, string>
  callerLabels?: string[]
  reservation?: string
}

interface RollupDefinition {
  query: string
  partition: string
  cluster: string[]
  refreshMinutes: number
}

interface AnswerDefinition {
  query: string
  batch?: string
  asOf?: 'minute'
  when: object
}

interface DefinitionProblem {
  pointer: string
  /** Whether the name at the pointer is wrong, and not its value. */
  ofName?: boolean
  detail: string
}

/** A definition that does not fit the schema: each problem with the JSON pointer to its place. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError'
  readonly problems: DefinitionProblem[]

  constructor(problems: DefinitionProblem[]) {
    super(problems.map(({ pointer, detail }) => `${pointer || '/'} ${detail}`).join('; '))
    this.problems = problems
  }
}

const namePattern = /^(?![0-9a-f]{8}-)[a-z][a-z0-9._-]{0,99}$/

/**
 * Makes an endpoint from the content of its files.
 * @param name the files' name without its ending
 * @param definition the parsed YAML
 * @param readQuery reads a file that the definition names at this JSON pointer; throws `missingQuery` where it is missing
 * @throws DefinitionError where the name or the definition does not fit `definition.schema.json`
 */
export function endpointFrom(
  name: string,
  definition: unknown,
  sql: string,
  readQuery: ReadQuery = (file, pointer) => {
    throw missingQuery(file, pointer)
  },
): Endpoint {
  if (!namePattern.test(name))
    throw new DefinitionError([{ pointer: '', detail: `the name must match ${namePattern.source}` }])
  const file = structuredClone(definition)
  const validate = validator()
  if (!validate(file)) throw new DefinitionError(schemaProblems(validate.errors ?? []))
  const {
    id,
    description,
    parameters,
    maxRows,
    maxResultBytes = null,
    timeoutSeconds,
    cache,
    newestFirst,
    page,
    warm,
    rollup = [],
    answers = [],
    upstream,
    sandbox,
    redact,
    explore = {},
    labels = {},
    callerLabels = [],
    reservation = null,
  } = file
  if (file.explore && sandbox === false)
    throw new DefinitionError([
      { pointer: '/explore', detail: 'needs sandbox: true, as the page asks by SQL' },
    ])
  assertDeclared('/parameters/required', parameters.required ?? [], parameters.properties)
  assertDeclared('/warm/apart', Object.keys(warm?.apart ?? {}), parameters.properties)
  const fixed = callerLabels.filter(name => Object.hasOwn(labels, name))
  if (fixed.length > 0)
    throw new DefinitionError([
      { pointer: '/callerLabels', detail: `names ${fixed.join(', ')}, which labels fixes` },
    ])
  answers.forEach((answer, at) => assertFits(answer, `/answers/${at}`, file))
  if (upstream) assertPassedOn(upstream, file)
  const saved = {
    id,
    name,
    description,
    sql,
    parameters: parameters.properties,
    required: (parameters.required ?? []).toSorted(),
    maxRows,
    maxResultBytes,
    timeoutSeconds,
    cacheSeconds: cache.seconds,
    newestFirst: newestFirst ? newestFirstOf(newestFirst, parameters.properties) : null,
    page: page ? pagingOf(page, file) : null,
    warm: warm ? warmingOf(warm, readQuery) : null,
    rollups: rollupsOf(rollup, readQuery),
    answers: answers.map((answer, at) => answerOf(answer, `/answers/${at}`, readQuery)),
    ...(upstream ? { upstream } : {}),
    sandbox: sandbox !== false,
    redact,
    sandboxDespiteRedaction: typeof sandbox === 'object' && sandbox.redacted === 'allow',
    explore,
    labels,
    callerLabels,
    reservation,
  }
  return { ...saved, version: versionOf(saved) }
}

function newestFirstOf(
  { start, end, steps }: NonNullable<DefinitionFile['newestFirst']>,
  parameters: Endpoint['parameters'],
): NewestFirst {
  const problems: { pointer: string; detail: string }[] = []
  for (const [field, name] of Object.entries({ start, end })) {
    const format = Object.hasOwn(parameters, name) ? parameters[name]!.format : undefined
    const detail = `names ${name}, which must be a parameter with the format iso-timestamp`
    if (format !== 'iso-timestamp') problems.push({ pointer: `/newestFirst/${field}`, detail })
  }
  const lengths = steps.map(millisecondsOf)
  const at = lengths.findIndex((length, i) => length <= (lengths[i - 1] ?? 0))
  if (at >= 0)
    problems.push({ pointer: `/newestFirst/steps/${at}`, detail: 'must be longer than the one before' })
  if (problems.length > 0) throw new DefinitionError(problems)
  return { start, end, steps: lengths }
}

/** Parameters of every endpoint with pages, and the names of the bindings that they lead to. */
export const pageParameters = ['cursor', 'follow'] as const
export const pageBindings = ['page_time', 'page_tie'] as const

function pagingOf(
  { by }: NonNullable<DefinitionFile['page']>,
  { parameters, warm, answers }: DefinitionFile,
): Paging {
  const taken = [...pageParameters, ...pageBindings].filter(name =>
    Object.hasOwn(parameters.properties, name),
  )
  const problems = taken.map(name => ({
    pointer: `/parameters/properties/${name}`,
    detail: 'has a name that pages take',
  }))
  for (const [field, other] of Object.entries({ warm, answers }))
    if (other) problems.push({ pointer: '/page', detail: `does not go with ${field}` })
  if (problems.length > 0) throw new DefinitionError(problems)
  return { by }
}

/** Of an ISO 8601 duration of days, hours and minutes. */
function millisecondsOf(duration: string): number {
  const [, days = 0, hours = 0, minutes = 0] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(duration)!
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000
}

function warmingOf(
  { seconds, maxSets, query, apart = {} }: NonNullable<DefinitionFile['warm']>,
  readQuery: ReadQuery,
): Warming {
  return { seconds, maxSets, sql: query === undefined ? null : readQuery(query, '/warm/query'), apart }
}

function rollupsOf(rollup: NonNullable<DefinitionFile['rollup']>, readQuery: ReadQuery): Rollup[] {
  if (!Array.isArray(rollup)) return [rollupOf(rollup, '/rollup', readQuery)]
  const files = rollup.map(({ query }) => query)
  const again = files.findIndex((file, at) => files.indexOf(file) < at)
  if (again >= 0)
    throw new DefinitionError([
      { pointer: `/rollup/${again}/query`, detail: `names ${files[again]}, as one before it does` },
    ])
  return rollup.map((one, at) => rollupOf(one, `/rollup/${at}`, readQuery))
}

/** Statements read a roll-up by the name of its file. */
function rollupOf({ query, ...layout }: RollupDefinition, pointer: string, readQuery: ReadQuery): Rollup {
  return { name: query.replace(/\.sql$/, ''), sql: readQuery(query, `${pointer}/query`), ...layout }
}

function answerOf(
  { query, batch, asOf, when }: AnswerDefinition,
  pointer: string,
  readQuery: ReadQuery,
): RollupAnswer {
  const batchSql = batch === undefined ? null : readQuery(batch, `${pointer}/batch`)
  return { sql: readQuery(query, `${pointer}/query`), batch: batchSql, asOf: asOf ?? null, when }
}

/** A shorter freshness could be over when the answer is made, and every call would run the query. */
const leastSecondsAsOfMinute = 120

/** @throws DefinitionError for an `asOf` or a `when` that this endpoint cannot have */
function assertFits(
  { asOf, when }: AnswerDefinition,
  pointer: string,
  { cache, parameters }: DefinitionFile,
): void {
  if (asOf === 'minute' && cache.seconds > 0 && cache.seconds < leastSecondsAsOfMinute)
    throw new DefinitionError([
      {
        pointer: `${pointer}/asOf`,
        detail: `minute: an answer is up to 60 s old when it is made, so cache.seconds must be 0 or at least ${leastSecondsAsOfMinute}`,
      },
    ])
  const { properties = {}, required = [] } = when as { properties?: object; required?: unknown[] }
  assertDeclared(
    `${pointer}/when`,
    [...Object.keys(properties), ...required.map(String)],
    parameters.properties,
  )
  try {
    new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(when)
  } catch (error) {
    throw new DefinitionError([
      { pointer: `${pointer}/when`, detail: `is no JSON Schema: ${(error as Error).message}` },
    ])
  }
}

/** The parameter whose value a value of `upstream` passes on; `null` for a constant. */
export function passedOn(value: Scalar): string | null {
  return typeof value === 'string' && value.startsWith('@') ? value.slice(1) : null
}

/** @throws DefinitionError for what does not go with `upstream`, and for names that it cannot have */
function assertPassedOn(
  upstream: Record<string, Upstream>,
  { parameters, page, newestFirst, answers, warm }: DefinitionFile,
): void {
  // A page or a reading is of another time than the rows beside it; a batch has rows of many parameter sets.
  for (const [field, other] of Object.entries({ page, newestFirst, answers, 'warm/query': warm?.query }))
    if (other) throw new DefinitionError([{ pointer: `/${field}`, detail: 'does not go with upstream' }])
  for (const [name, { parameters: passed }] of Object.entries(upstream)) {
    const names = Object.values(passed).flatMap(value => passedOn(value) ?? [])
    assertDeclared(`/upstream/${name}/parameters`, names, parameters.properties)
    if (Object.keys(parameters.properties).some(other => other.toLowerCase() === name.toLowerCase()))
      throw new DefinitionError([
        { pointer: `/upstream/${name}`, ofName: true, detail: 'is the name of a parameter' },
      ])
  }
}

type ReadQuery = (file: string, pointer: string) => string

/** The error for a file that the definition names and that is missing. */
export function missingQuery(file: string, pointer: string): DefinitionError {
  return new DefinitionError([{ pointer, detail: `names ${file}, which is not there` }])
}

function assertDeclared(pointer: string, names: string[], declared: object): void {
  const unknown = names.filter(name => !Object.hasOwn(declared, name))
  if (unknown.length > 0)
    throw new DefinitionError([
      { pointer, detail: `names ${unknown.join(', ')}, not declared in properties` },
    ])
}

/**
 * The error of a request that fails by its endpoint's definition, which its caller cannot change.
 * @param words for the log: what is wrong, without any value
 */
export function misdefined({ name }: Pick<Endpoint, 'name'>, words: string): ApiError {
  return new ApiError(
    'internal',
    'This endpoint does not work as it is defined; its operator has to correct it.',
    {
      cause: new EngineError('misconfigured', `${name}: ${words}`),
    },
  )
}

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

/** The document of an endpoint, in the collection `endpoints` under its id; `endpointIn` reads it back. */
export function fieldsOf(endpoint: Endpoint): Fields {
  return { name: endpoint.name, version: endpoint.version, definition: JSON.stringify(endpoint) }
}

/** One that was applied before there were roll-ups, `explore` or labels has none. */
export function endpointIn(fields: Fields): Endpoint {
  const { rollup, ...stored } = JSON.parse(fields['definition'] as string) as Endpoint & { rollup?: Rollup }
  return {
    ...stored,
    // One that was applied before there were several has one, under another name.
    rollups: stored.rollups ?? (rollup ? [rollup] : []),
    answers: stored.answers ?? [],
    explore: stored.explore ?? {},
    labels: stored.labels ?? {},
    callerLabels: stored.callerLabels ?? [],
    reservation: stored.reservation ?? null,
  }
}

const typeNames = { string: 'STRING', integer: 'INT64', number: 'FLOAT64', boolean: 'BOOL' } as const

let compiled: ValidateFunction<DefinitionFile> | undefined

/** Compiled when the first definition is read from a file, so never in a function that serves. */
function validator(): ValidateFunction<DefinitionFile> {
  return (compiled ??= new Ajv({ allErrors: true, useDefaults: true, strictTypes: false, verbose: true })
    .addFormat('regex', source => isRegularExpression(source))
    .compile<DefinitionFile>(schema))
}

function isRegularExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Keywords whose errors only sum up others. */
const summaries = new Set(['anyOf', 'if', 'propertyNames'])

/** What a schema finds wrong in a file, in words, each at its JSON pointer. */
export function schemaProblems(errors: ErrorObject[]): DefinitionProblem[] {
  return errors.filter(({ keyword }) => !summaries.has(keyword)).map(problemOf)
}

function problemOf(error: ErrorObject): DefinitionProblem {
  const { instancePath, keyword, params, propertyName, parentSchema, message = 'is not valid' } = error
  if (keyword === 'additionalProperties') {
    const { additionalProperty: name } = params as { additionalProperty: string }
    const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {})
    const near = nearestName(name, known)
    const hint = near === null ? `here are ${known.join(', ')}` : `did you mean ${near}?`
    return { pointer: `${instancePath}/${name}`, ofName: true, detail: `is not known; ${hint}` }
  }
  if (propertyName !== undefined) {
    const detail = keyword === 'not' ? 'is taken: another name is needed' : `as a name ${message}`
    return { pointer: `${instancePath}/${propertyName}`, ofName: true, detail }
  }
  const { allowedValue, allowedValues = [allowedValue] } = params as {
    allowedValue?: unknown
    allowedValues?: unknown[]
  }
  const choices = allowedValues.filter(value => value !== undefined)
  return {
    pointer: instancePath,
    detail: choices.length > 0 ? `must be ${choices.map(String).join(' or ')}` : message,
  }
}

/** What decides no answer: after a better wording, cached answers stay in use. */
const undecisive = new Set(['description', 'explore', 'labels', 'callerLabels', 'reservation'])

function versionOf(endpoint: Omit<Endpoint, 'version'>): string {
  const decisive = Object.entries(endpoint).filter(([name]) => !undecisive.has(name))
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(decisive)))
    .digest('hex')
    .slice(0, 16)
}
