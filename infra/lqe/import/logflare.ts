/**
 * Endpoints of Logflare, as its API lists them (`GET /api/endpoints`, a JSON array) or shows one, and its alerts.
 * The fields and their defaults are those of Logflare's `lib/logflare/endpoints/endpoint_query.ex`.
 */
import { SqlError } from '../../../shared/sql/error.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { parameterNames } from '../../../shared/sql/walk.ts'
import { isAlert, partsOfAlert } from './logflare-alerts.ts'
import { problemOf, QueriesError, readYamlDocuments, type YamlDocument } from '../apply/yaml.ts'
import { uuidFor } from '../logs/entries.ts'
import {
  assertFields,
  collect,
  type Draft,
  type FieldType,
  fileName,
  type Reading,
  Refusal,
  refusalOfSql,
  sqlPlaces,
  type WithFields,
} from './draft.ts'

/** The first eight are of a row in Logflare's database, and without an effect on rows of GoogleSQL. */
const fields = {
  id: 'any',
  user_id: 'any',
  inserted_at: 'any',
  updated_at: 'any',
  version_number: 'any',
  metrics: 'any',
  parsed_labels: 'any',
  enforced_clickhouse_settings: 'any',
  token: 'string',
  name: 'string',
  description: 'string',
  query: 'string',
  language: 'string',
  source_mapping: 'map',
  sandboxable: 'boolean',
  cache_duration_seconds: 'number',
  proactive_requerying_seconds: 'number',
  max_limit: 'number',
  enable_auth: 'boolean',
  redact_pii: 'boolean',
  enable_dynamic_reservation: 'boolean',
  labels: 'string',
  backend_id: 'any',
} as const satisfies Record<string, FieldType>

type LogflareEndpoint = WithFields<typeof fields> & { name: string; query: string }

/** The fields that parts of the definition are made of. */
const origins: Record<string, keyof LogflareEndpoint> = {
  id: 'token',
  aliases: 'name',
  description: 'description',
  parameters: 'query',
  cache: 'cache_duration_seconds',
  warm: 'proactive_requerying_seconds',
  maxRows: 'max_limit',
  labels: 'labels',
  callerLabels: 'labels',
}

const languages = new Map([
  ['pg_sql', 'is in PostgreSQL’s SQL'],
  ['ch_sql', 'is in ClickHouse’s SQL'],
  ['lql', 'is in Logflare’s own query language'],
])

/** @throws QueriesError for a text that is not JSON, or is none of endpoints */
export function readLogflare(file: string, text: string): Reading {
  const [json] = readYamlDocuments(file, text)
  const { content } = json!
  assertEndpoints(file, content)
  const [all, prefix] = Array.isArray(content) ? [content as unknown[], '/'] : [[content], '']
  const found = all.map((each, at) => {
    const pointer = Array.isArray(content) ? `${prefix}${at}` : ''
    const name = (each as LogflareEndpoint | null)?.name
    return { name: typeof name === 'string' ? name : `endpoint ${at + 1}`, pointer, each }
  })
  return collect(file, found, ({ pointer, each }) => {
    if (!isAlert(each)) return draftOf(each as LogflareEndpoint, pointer, json!, text)
    const { query, seconds, alert, notes } = partsOfAlert(each, field => json!.placeIn(`${pointer}/${field}`))
    const times = { cache_duration_seconds: seconds, proactive_requerying_seconds: 0 }
    const draft = draftOf({ ...query, ...times } as LogflareEndpoint, pointer, json!, text)
    const { aliases: _, ...definition } = draft.definition // nobody called it
    return { ...draft, definition, alert, notes: [...draft.notes, ...notes] }
  })
}

/** What the API answers without a good token is an object too. */
function assertEndpoints(file: string, content: unknown): void {
  const { name, query, error } = Object(content) as Record<string, unknown>
  if (Array.isArray(content) || name !== undefined || query !== undefined) return
  const what =
    typeof error === 'string'
      ? `Logflare’s answer ${JSON.stringify(error)}: check the token that it was asked with`
      : `an object with ${Object.keys(content as object).join(', ') || 'nothing'}`
  const detail = `is no list of Logflare’s endpoints, and none of them, but ${what}`
  throw new QueriesError([problemOf(file, detail)])
}

function draftOf(endpoint: LogflareEndpoint, pointer: string, json: YamlDocument, text: string): Draft {
  const placeOfField = (field: string, ofName = false) => json.placeIn(`${pointer}/${field}`, ofName)
  for (const field of ['name', 'query'] as const)
    if (typeof endpoint?.[field] !== 'string')
      throw new Refusal(json.placeIn(pointer), `has no ${field}, which Logflare’s endpoints have`)
  assertFields(
    endpoint,
    fields,
    'no field of Logflare’s endpoints that is known: take it out if rows do not depend on it',
    placeOfField,
  )
  assertLanguage(endpoint, placeOfField('language'), placeOfField('backend_id'))
  const placeOfSql = sqlPlaces(json, `${pointer}/query`, text)
  return {
    name: endpoint.name,
    definition: definitionOf(endpoint, parametersOf(endpoint.query, placeOfSql)),
    sql: endpoint.query,
    place: json.placeIn(pointer),
    placeOf: at => json.placeIn(`${pointer}/${origins[at.split('/')[1]!] ?? ''}`),
    placeOfSql,
    origins: originsOf(endpoint),
    notes: notesOf(endpoint),
  }
}

function assertLanguage(
  { language, backend_id }: LogflareEndpoint,
  at: Refusal['place'],
  backend: Refusal['place'],
) {
  if (!language && (backend_id ?? null) !== null)
    throw new Refusal(backend, 'has a backend and no language, so its SQL is of that backend: add "language"')
  const given = language ?? 'bq_sql'
  if (given === 'bq_sql') return
  const what = languages.get(given) ?? `is in ${given}`
  throw new Refusal(at, `${what}; here queries are GoogleSQL: write it in that, with the language bq_sql`)
}

/** Logflare binds each `@name` as text, and NULL where a call lacks it. */
function parametersOf(sql: string, placeOfSql: Draft['placeOfSql']): Record<string, object> {
  try {
    const names = [...parameterNames(parse(sql)).keys()]
    return Object.fromEntries(names.map(name => [name, { type: 'string' }]))
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    throw refusalOfSql(error, placeOfSql)
  }
}

function definitionOf(endpoint: LogflareEndpoint, properties: Record<string, object>) {
  const { labels, callerLabels } = labelsOf(endpoint.labels ?? '')
  return {
    // What is sent to create one has no token yet.
    id: endpoint.token ?? uuidFor(`logflare/${endpoint.name}`),
    description: endpoint.description || 'From Logflare, where it has no description.',
    ...(fileName(endpoint.name) === endpoint.name ? {} : { aliases: [endpoint.name] }),
    ...(isPublic(endpoint) && isHarmless(endpoint) ? { public: true } : {}),
    json: 'text',
    parameters: { type: 'object', properties },
    maxRows: endpoint.max_limit ?? 1000,
    ...cacheOf(endpoint),
    sandbox: endpoint.sandboxable ?? false,
    redact: endpoint.redact_pii ?? false,
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(callerLabels.length > 0 ? { callerLabels } : {}),
  }
}

function isPublic({ enable_auth }: LogflareEndpoint): boolean {
  return enable_auth === false
}

/** What a public endpoint has to be here. */
function isHarmless(endpoint: LogflareEndpoint): boolean {
  return secondsOf(endpoint).seconds > 0 && !endpoint.sandboxable && endpoint.redact_pii === true
}

/** The least that `warm.seconds` may be. */
const leastWarmSeconds = 60

/** A field that is not given has the default of Logflare's schema. Its cache fails at null, of which nothing follows. */
function secondsOf({
  cache_duration_seconds: kept = 3600,
  proactive_requerying_seconds: refreshed = 1800,
}: LogflareEndpoint) {
  return { seconds: kept ?? 0, refreshed: refreshed ?? 0 }
}

/**
 * Logflare keeps nothing warm that it does not cache. Where it refreshes more often than the warmer does, answers are made
 * when they are asked for, and are no older than they were.
 */
function cacheOf(endpoint: LogflareEndpoint) {
  const { seconds, refreshed } = secondsOf(endpoint)
  if (seconds === 0 || refreshed === 0) return { cache: { seconds } }
  if (refreshed < leastWarmSeconds) return { cache: { seconds: Math.min(seconds, refreshed) } }
  return { cache: { seconds }, warm: { seconds: refreshed } }
}

/** @param list `name=value` for a fixed one, `name` for one from the header, `name=@parameter` for either */
function labelsOf(list: string): { labels: Record<string, string>; callerLabels: string[] } {
  const pairs = list
    .split(',')
    .filter(item => item !== '')
    .map(item => item.split('='))
  const isFixed = ([, value]: string[]) => value !== undefined && !value.startsWith('@')
  return {
    labels: Object.fromEntries(pairs.filter(isFixed)) as Record<string, string>,
    callerLabels: pairs.filter(pair => !isFixed(pair)).map(([name]) => name!),
  }
}

/** In its dataset, Logflare calls a source's table by the source's token. */
function originsOf({ source_mapping }: LogflareEndpoint): Map<string, string> {
  const tokens = Object.entries(source_mapping ?? {})
  return new Map(
    tokens.flatMap(([name, token]) =>
      typeof token === 'string' ? [[name, `Logflare’s table ${token.replaceAll('-', '_')}`]] : [],
    ),
  )
}

function notesOf(endpoint: LogflareEndpoint): string[] {
  const { enable_dynamic_reservation, labels, backend_id } = endpoint
  const { refreshed } = secondsOf(endpoint)
  const ofParameters = (labels ?? '').split(',').filter(item => item.includes('=@'))
  const notes = [
    endpoint.cache_duration_seconds === null && 'has cache_duration_seconds null; here it is not cached',
    endpoint.proactive_requerying_seconds === null &&
      'has proactive_requerying_seconds null; here it is not kept warm',
    refreshed > 0 &&
      refreshed < leastWarmSeconds &&
      `was refreshed every ${refreshed} s; here it is not kept warm, and its answers are that old at most`,
    isPublic(endpoint) &&
      !isHarmless(endpoint) &&
      'was open to anyone; here `public: true` does that with cache.seconds, redact: true and no sandbox',
    enable_dynamic_reservation &&
      'let callers choose a reservation; here `reservation` in its definition does',
    (backend_id ?? null) !== null && `ran on Logflare’s backend ${String(backend_id)}`,
    ...ofParameters.map(item => `has the label ${item}; here its callers send that in SVC-ENDPOINT-LABELS`),
  ]
  return notes.filter(note => typeof note === 'string')
}
