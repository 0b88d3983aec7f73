/** A saved endpoint from its two files, checked by `definition.schema.json` and by what a schema cannot say. */
import { hash, randomUUID } from 'node:crypto'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { nameHint } from '../sql/hints.ts'
import { ApiError } from '../errors.ts'
import {
  type Endpoint,
  type Explore,
  type NewestFirst,
  pageBindings,
  pageParameters,
  type Paging,
  type ParameterDefinition,
  passedOn,
  type Upstream,
  type Warming,
} from './definition.ts'
import schema from './definition.schema.json' with { type: 'json' }
import { layoutOf, withHours } from './rollup-hours.ts'

/** The shape of `<name>.yaml`, after the schema has filled in its defaults. */
interface DefinitionFile {
  id: string
  description: string
  aliases?: string[]
  public: boolean | { callsPerMinute: number }
  json: 'value' | 'text'
  parameters: { required?: string[]; properties: Record<string, ParameterDefinition> }
  maxRows: number
  maxResultBytes?: number
  timeoutSeconds: number
  cache: { seconds: number }
  newestFirst?: { start: string; end: string; steps: string[] }
  page?: { by: [string, string]; order: 'descending' }
  warm?: Warming
  rollup?: RollupDefinition | RollupDefinition[]
  upstream?: Record<string, Upstream>
  sandbox: boolean | { redacted: 'allow' | 'refuse' }
  redact: boolean
  explore?: Record<string, Explore>
  chart?: Record<string, Record<string, { bucket: string; last: string; whole: boolean }>>
  labels?: Record<string, string>
  callerLabels?: string[]
  reservation?: string
  endEarlierVersions: boolean
}

interface RollupDefinition {
  query?: string
  from?: string
  when: object
  cluster?: string[]
  refreshMinutes?: number
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

/** For who sends a definition in a call. @param whole what a problem without a place is of */
export function refusalOf({ problems }: DefinitionError, whole: string): ApiError {
  const all = problems.map(({ pointer, detail }) => ({
    parameter: pointer === '' ? whole : pointer.slice(1).replaceAll('/', '.'),
    detail,
  }))
  return ApiError.of('invalid_parameter', ...all)
}

function wrong(pointer: string, detail: string): DefinitionError {
  return new DefinitionError([{ pointer, detail }])
}

const namePattern = /^(?![0-9a-f]{8}-)[a-z][a-z0-9._-]{0,99}$/

/** Names that other files of `queries/` have, or that no file can have. */
const takenNames: [names: RegExp, why: string][] = [
  [/\.test$/, 'must not end with .test: such files are tests of the endpoint before it'],
  [/\.alert$/, 'must not end with .alert: such files are alerts'],
  [/^channels$/, 'must not be channels: that file has the channels of alerts'],
  // https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file
  [
    /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/,
    'must not begin with a device of Windows, which cannot have such files',
  ],
]

/** Why an endpoint cannot be called so; `null` where it can. */
export function faultOfName(name: string): string | null {
  if (!namePattern.test(name))
    return `the name ${name} must be lower-case letters, digits, ., _ and -, a letter first, and no UUID`
  const [, why] = takenNames.find(([names]) => names.test(name)) ?? []
  return why === undefined ? null : `the name ${why}`
}

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
  const fault = faultOfName(name)
  if (fault !== null) throw wrong('', fault)
  const file = readFile(structuredClone(definition))
  assertConsistent(file)
  const { id, description, aliases, maxRows, timeoutSeconds, redact, sandbox, upstream } = file
  const { properties, required = [] } = file.parameters
  const saved = {
    id,
    name,
    description,
    ...(aliases ? { aliases } : {}),
    ...(file.public ? { publicCallsPerMinute: callsPerMinute(file.public) } : {}),
    ...(file.json === 'text' ? { jsonAsText: true as const } : {}),
    sql,
    parameters: properties,
    required: required.toSorted(),
    maxRows,
    maxResultBytes: file.maxResultBytes ?? null,
    timeoutSeconds,
    cacheSeconds: file.cache.seconds,
    newestFirst: file.newestFirst ? newestFirstOf(file.newestFirst, properties) : null,
    page: file.page ? pagingOf(file.page, file) : null,
    warm: file.warm ?? null,
    ...rollupsOf(name, file, readQuery),
    ...(upstream ? { upstream } : {}),
    ...(file.endEarlierVersions ? { endEarlierVersions: true as const } : {}),
    sandbox: sandbox !== false,
    redact,
    sandboxDespiteRedaction: typeof sandbox === 'object' && sandbox.redacted === 'allow',
    explore: file.explore ?? {},
    chart: chartOf(file),
    labels: file.labels ?? {},
    callerLabels: file.callerLabels ?? [],
    reservation: file.reservation ?? null,
  }
  return { ...saved, version: versionOf(saved) }
}

/** @throws DefinitionError for fields that do not go together */
function assertConsistent(file: DefinitionFile): void {
  const { parameters, upstream, labels = {}, callerLabels = [] } = file
  if (file.explore && file.sandbox === false)
    throw wrong('/explore', 'needs sandbox: true, as the page asks by SQL')
  assertDistinct(Object.keys(parameters.properties))
  assertDeclared('/parameters/required', parameters.required ?? [], parameters.properties)
  if (file.public) assertHarmless(file)
  const fixed = callerLabels.filter(name => Object.hasOwn(labels, name))
  if (fixed.length > 0) throw wrong('/callerLabels', `names ${fixed.join(', ')}, which labels fixes`)
  if (upstream) assertPassedOn(upstream, file)
}

/** Of a public endpoint whose definition names no number. */
const usualCallsPerMinute = 60

function callsPerMinute(setting: DefinitionFile['public']): number {
  return typeof setting === 'object' ? setting.callsPerMinute : usualCallsPerMinute
}

/** @throws DefinitionError for what anyone without a key could misuse */
function assertHarmless({ cache, sandbox, redact }: DefinitionFile): void {
  const details = [
    cache.seconds > 0
      ? ''
      : 'needs cache.seconds, such as 60: without it every call of anyone runs the query',
    sandbox === false ? '' : 'does not go with sandbox: take that out, or make a second endpoint without it',
    redact ? '' : 'needs redact: true, so that personal data needs a key',
  ]
  const problems = details.filter(Boolean).map(detail => ({ pointer: '/public', detail }))
  if (problems.length > 0) throw new DefinitionError(problems)
}

/** @throws DefinitionError for names of parameters that are one in GoogleSQL, which takes no notice of case */
function assertDistinct(names: string[]): void {
  const again = names.find((name, at) =>
    names.slice(0, at).some(other => other.toLowerCase() === name.toLowerCase()),
  )
  if (again !== undefined)
    throw wrong(`/parameters/properties/${again}`, 'is another parameter but for the case of letters')
}

function newestFirstOf(
  { start, end, steps }: NonNullable<DefinitionFile['newestFirst']>,
  parameters: Endpoint['parameters'],
): NewestFirst {
  const problems: DefinitionProblem[] = []
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

function pagingOf(
  { by }: NonNullable<DefinitionFile['page']>,
  { parameters, warm, rollup }: DefinitionFile,
): Paging {
  const taken = [...pageParameters, ...pageBindings].filter(name =>
    Object.hasOwn(parameters.properties, name),
  )
  const problems = taken.map(name => ({
    pointer: `/parameters/properties/${name}`,
    detail: 'has a name that pages take',
  }))
  for (const [field, other] of Object.entries({ warm, rollup }))
    if (other) problems.push({ pointer: '/page', detail: `does not go with ${field}` })
  if (problems.length > 0) throw new DefinitionError(problems)
  return { by }
}

function chartOf({ chart = {}, parameters }: DefinitionFile): Endpoint['chart'] {
  assertDeclared('/chart', Object.keys(chart), parameters.properties)
  return mapValues(chart, byValue =>
    mapValues(byValue, ({ bucket, last, whole }) => ({
      bucket: millisecondsOf(bucket),
      last: millisecondsOf(last),
      whole,
    })),
  )
}

function mapValues<T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

/** Of an ISO 8601 duration of days, hours and minutes. */
export function millisecondsOf(duration: string): number {
  const [, days = 0, hours = 0, minutes = 0] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(duration)!
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000
}

/** The roll-ups, each with its level by the hour where it has one, and the queries over them. */
function rollupsOf(
  endpoint: string,
  file: DefinitionFile,
  readQuery: ReadQuery,
): Pick<Endpoint, 'rollups' | 'answers'> {
  const { rollup = [], parameters, warm } = file
  const isList = Array.isArray(rollup)
  const usual = { query: `${endpoint}.rollup.sql`, from: `${endpoint}.from-rollup.sql` }
  const all = (isList ? rollup : [rollup]).map(one => ({ ...usual, ...one }))
  const names = all.map(({ query }) => query)
  const made = all.map(({ query, from, when, ...layout }, at) => {
    const pointer = isList ? `/rollup/${at}` : '/rollup'
    if (names.indexOf(query) < at) throw wrong(`${pointer}/query`, `names ${query}, as one before it does`)
    assertFits(when, pointer, file)
    // Statements read it by the name of its file.
    const name = query.replace(/\.sql$/, '')
    const sql = readQuery(query, `${pointer}/query`)
    const refreshMinutes = warm ? Math.ceil(warm.seconds / 60) : usualRefreshMinutes
    const given = { name, sql, refreshMinutes, ...layoutOf(sql), ...layout }
    return withHours(given, { sql: readQuery(from, `${pointer}/from`), when }, parameters.properties)
  })
  return { rollups: made.flatMap(({ rollups }) => rollups), answers: made.flatMap(({ answers }) => answers) }
}

/** Of an endpoint that is not warmed. */
const usualRefreshMinutes = 30

/** One for all definitions: with its first use it compiles the schema of schemas. */
let schemas: Ajv | undefined

/** @throws DefinitionError for a `when` that this endpoint cannot have */
function assertFits(when: object, pointer: string, { parameters }: DefinitionFile): void {
  const { properties = {}, required = [] } = when as { properties?: object; required?: unknown[] }
  assertDeclared(
    `${pointer}/when`,
    [...Object.keys(properties), ...required.map(String)],
    parameters.properties,
  )
  schemas ??= new Ajv({ strict: true, strictTypes: false, strictRequired: false, code })
  try {
    schemas.compile(when)
  } catch (error) {
    throw wrong(`${pointer}/when`, `is no JSON Schema: ${(error as Error).message}`)
  } finally {
    schemas.removeSchema(when)
  }
}

/** @throws DefinitionError for what does not go with `upstream`, and for names that it cannot have */
function assertPassedOn(
  upstream: Record<string, Upstream>,
  { parameters, page, newestFirst, rollup }: DefinitionFile,
): void {
  // Each page, and each reading of `newestFirst`, would see the upstream rows of another time.
  for (const [field, other] of Object.entries({ page, newestFirst, rollup }))
    if (other) throw wrong(`/${field}`, 'does not go with upstream')
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
  return wrong(pointer, `names ${file}, which is not there`)
}

function assertDeclared(pointer: string, names: string[], declared: object): void {
  const unknown = names.filter(name => !Object.hasOwn(declared, name))
  if (unknown.length > 0) throw wrong(pointer, `names ${unknown.join(', ')}, not declared in properties`)
}

/** Each schema is compiled once and used a few times, for which optimizing takes too long. */
const code = { optimize: false }

/**
 * Reads content by a schema, whose defaults it gets. That is compiled when it is first needed, so never in a function that serves.
 * @returns throws DefinitionError
 */
export function readerOf(schema: object): (content: unknown) => unknown {
  let validate: ValidateFunction | undefined
  const options = { allErrors: true, useDefaults: true, strictTypes: false, verbose: true, code } as const
  return content => {
    validate ??= new Ajv(options).addFormat('regex', isRegularExpression).compile(schema)
    if (!validate(content)) throw new DefinitionError(schemaProblems(validate.errors ?? []))
    return content
  }
}

const readFile = readerOf(schema) as (content: unknown) => DefinitionFile

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
function schemaProblems(errors: ErrorObject[]): DefinitionProblem[] {
  return errors.filter(({ keyword }) => !summaries.has(keyword)).map(problemOf)
}

/** Fields of earlier versions, and their replacements. */
const gone: Record<string, string> = {
  '/answers':
    'a query over a roll-up is its rollup.from, and its parameters are rollup.when. Delete the roll-ups by the hour and the queries over them: they are made of these',
  '/rollup/partition': 'it is the first column that the roll-up is grouped by. Leave it out',
  '/warm/apart': 'the service finds how far back sets reach by itself. Leave it out',
  '/warm/query':
    'the service makes the statement for many sets by itself. Leave it out, and delete the file that it names',
}

/** The words of the schema say what is wanted, and an id comes with one that can be pasted. */
function wordsOf(name: string, { description }: { description?: string } = {}): string {
  if (name === 'id') return `, such as id: ${randomUUID()} (made now, yours to paste)`
  return description ? `: ${description}` : ''
}

function problemOf(error: ErrorObject): DefinitionProblem {
  const { instancePath, keyword, params, propertyName, parentSchema, message = 'is not valid' } = error
  const own = parentSchema as { description?: string; properties?: Record<string, object> } | undefined
  if (keyword === 'required') {
    const { missingProperty: name } = params as { missingProperty: string }
    return { pointer: instancePath, detail: `needs ${name}${wordsOf(name, own?.properties?.[name])}` }
  }
  if (keyword === 'additionalProperties') {
    const { additionalProperty: name } = params as { additionalProperty: string }
    const why = gone[`${instancePath.replaceAll(/\/\d+/g, '')}/${name}`]
    if (why) return { pointer: `${instancePath}/${name}`, ofName: true, detail: `is gone: ${why}` }
    const known = Object.keys(own?.properties ?? {})
    const detail = `is not known; ${nameHint(name, known)}`
    return { pointer: `${instancePath}/${name}`, ofName: true, detail }
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
    detail: choices.length > 0 ? `must be ${choices.map(String).join(' or ')}` : messageOf(keyword),
  }

  function messageOf(keyword: string): string {
    if (instancePath === '/id') return `must be a UUID${wordsOf('id')}`
    if (keyword === 'not') return own?.description ?? message
    return keyword === 'pattern' ? `${message}${wordsOf('', own)}` : message
  }
}

/**
 * Fields that change no answer. They are not part of the version, so that cached answers stay in use after a better wording.
 */
const undecisive = new Set(
  'description aliases publicCallsPerMinute explore chart labels callerLabels reservation endEarlierVersions alerts'.split(
    ' ',
  ),
)

function versionOf(endpoint: Omit<Endpoint, 'version'>): string {
  const decisive = Object.entries(endpoint).filter(([name]) => !undecisive.has(name))
  return hash('sha256', JSON.stringify(Object.fromEntries(decisive))).slice(0, 16)
}
