/** The calls to the service. */
import { bytesText } from '../../shared/visible-text.ts'
import type { Buckets, ParameterDefinition } from '../../shared/endpoints/definition.ts'
import type { AlertWish } from '../../shared/alerts/draft.ts'
import type { AlertStatus } from '../../shared/alerts/list.ts'
import type { Row } from '../../shared/engines/engine.ts'
import type { View, ViewText } from '../../shared/endpoints/views.ts'
import type { Wish } from '../../shared/sandbox/as-endpoint.ts'
import type { ExplainedPart } from '../../shared/warm/explain.ts'
import type { ProblemDocument } from '../http/problem.ts'
import type { DraftAnswer } from '../query/draft.ts'
import type { TableDescription } from '../query/endpoints.ts'
import { type Link, queryOf } from './address.ts'

export interface Endpoint {
  name: string
  description: string
  parameters: Parameter[]
  maxRows: number
  /** Of the saved query; `null` = none that is known. */
  limit: number | null
  cacheSeconds: number
  sandbox: boolean
  redact: boolean
  /** Buckets of the saved query's rows, by the values of a parameter. */
  chart: Record<string, Record<string, Buckets>>
  /** Whether the key may have queries run past the cache. */
  mayRunFresh: boolean
  /** Whether the key may see the SQL that answers. */
  mayReadSql: boolean
  /** Whether the key may save views for others. */
  maySaveViews: boolean
}

/** `pinned`: the value to which the key fixes it. */
export type Parameter = ParameterDefinition & { name: string; required: boolean; pinned?: string }

/** The parameters that bound the time, by their names, and the others. */
export function parametersOf({ parameters }: Pick<Endpoint, 'parameters'>) {
  const times = parameters.filter(({ format }) => format === 'iso-timestamp')
  const named = (pattern: RegExp) => times.find(({ name }) => pattern.test(name))?.name
  const [start, end] = [named(/start|from|since|after/i), named(/end|until|to$|before/i)]
  return { start, end, others: parameters.filter(({ name }) => name !== start && name !== end) }
}

/** What a view of an endpoint is opened with. */
export interface Opening {
  key: string
  endpoint: Endpoint
  link: Link
  /**
   * Puts what is asked into the address.
   * @param step whether it is a person's step, which Back goes back by; else it takes the place of the last
   * @param note what the browser notes beside it
   */
  remember(link: Link, step: boolean, note?: string): void
}

export interface Query {
  endpoint: Endpoint
  values: Record<string, string>
  /** The caller's own SQL; `null` = the saved query. */
  sql: string | null
  redact: boolean
}

interface Meta {
  truncated: boolean
  redacted: boolean
}

export interface Answer extends Meta {
  rows: Row[]
  headers: Headers
  /** From the request's start to the last byte, in milliseconds. */
  took: number
}

/** The service answered with a problem, or not at all. */
export class ServiceError extends Error {
  readonly problem: Partial<ProblemDocument> & { title: string; detail: string }
  /** Seconds. */
  readonly retryAfter: string | null

  constructor(problem: ServiceError['problem'], retryAfter: string | null = null) {
    super(problem.detail)
    this.problem = problem
    this.retryAfter = retryAfter
  }
}

/** @throws ServiceError */
export async function listEndpoints(key: string): Promise<Endpoint[]> {
  const answer = await send(key, 'api/endpoints')
  const { result, meta } = await bodyOf<{ result: Endpoint[]; meta: { rights: string[] } }>(answer)
  const mayRunFresh = meta.rights.includes('cache:bypass')
  const mayReadSql = meta.rights.includes('definitions:read')
  const maySaveViews = meta.rights.includes('views:write')
  return result.map(endpoint => ({ ...endpoint, mayRunFresh, mayReadSql, maySaveViews }))
}

/** @throws ServiceError */
export function listTables(key: string, endpoint: Endpoint): Promise<TableDescription[]> {
  return resultOf(send(key, `${pathOf(endpoint)}/tables`))
}

/** @throws ServiceError */
export function explainEndpoint(key: string, endpoint: Endpoint): Promise<ExplainedPart[]> {
  return resultOf(send(key, `${pathOf(endpoint)}/explain`))
}

/** The views of an endpoint that are saved for others. @throws ServiceError */
export function listViews(key: string, endpoint: Endpoint): Promise<View[]> {
  return resultOf(send(key, `${pathOf(endpoint)}/views`))
}

/** @param before the view that it takes the place of @throws ServiceError */
export async function saveView(
  key: string,
  endpoint: Endpoint,
  text: ViewText,
  before?: View,
): Promise<void> {
  const [method, seen] = before ? ['PUT', { 'If-Match': `"${before.version}"` }] : ['POST', {}]
  const path = `${pathOf(endpoint)}/views${before ? `/${before.id}` : ''}`
  await send(key, path, { method, headers: { ...asJson, ...seen }, body: JSON.stringify(text) })
}

/** @throws ServiceError */
export async function removeView(key: string, endpoint: Endpoint, { id, version }: View): Promise<void> {
  const headers = { 'If-Match': `"${version}"` }
  await send(key, `${pathOf(endpoint)}/views/${id}`, { method: 'DELETE', headers })
}

function pathOf({ name }: Pick<Endpoint, 'name'>): string {
  return `api/endpoints/${encodeURIComponent(name)}`
}

/** The alerts on an endpoint, with what the key may know of them. @throws ServiceError; DOMException where `signal` ended it */
export function listAlerts(
  key: string,
  endpoint: Pick<Endpoint, 'name'>,
  signal?: AbortSignal,
): Promise<AlertStatus[]> {
  return resultOf(send(key, `${pathOf(endpoint)}/alerts`, signal ? { signal } : {}))
}

/** Those on all endpoints that the key may call. @throws ServiceError; DOMException where `signal` ended it */
export function listAllAlerts(key: string, signal: AbortSignal): Promise<AlertStatus[]> {
  return resultOf(send(key, 'api/alerts', { signal }))
}

/**
 * The files of an endpoint that answers as the SQL does, of an alert on an endpoint, or of both.
 * @param write puts them into `queries/`
 * @throws ServiceError
 */
export function draftEndpoint(
  key: string,
  from: Endpoint,
  wish: Wish | (Partial<Wish> & { alert: AlertWish }),
  write = false,
): Promise<DraftAnswer> {
  const init = { method: 'POST', headers: asJson, body: JSON.stringify({ ...wish, write }) }
  return resultOf(send(key, `${pathOf(from)}/draft`, init))
}

const asJson = { 'Content-Type': 'application/json' }

/**
 * @param fresh asks for a run of its own; the service does so where the key has the right
 * @throws ServiceError; DOMException where `signal` ended it
 */
export async function runQuery(
  key: string,
  query: Query,
  signal: AbortSignal,
  fresh = false,
): Promise<Answer> {
  const { path, headers, body } = requestOf(query)
  const started = performance.now()
  const post = body === null ? {} : { method: 'POST', body }
  const response = await send(key, path, {
    ...post,
    headers,
    signal,
    ...(fresh ? { cache: 'reload' as const } : {}),
  })
  const { result: rows, meta } = await bodyOf<{ result: Row[]; meta: Meta }>(response)
  signal.throwIfAborted() // what was there already may be read to its end
  const took = performance.now() - started
  return { rows, truncated: meta.truncated, redacted: meta.redacted, headers: response.headers, took }
}

/** What answers cost: seconds until the last was there, and the bytes that were read for them, as far as the service says so. */
export function costOf(...answers: Answer[]): string {
  const bytes = answers.flatMap(({ headers }) => headers.get('x-bytes-read') ?? []).map(Number)
  return [
    `${(Math.max(0, ...answers.map(({ took }) => took)) / 1000).toFixed(1)} s`,
    bytes.length > 0 && `${bytesText(bytes.reduce((sum, some) => sum + some, 0))} read`,
    answers.every(({ headers }) => (headers.get('cache-status') ?? '').includes('hit')) && 'cached',
  ]
    .filter(Boolean)
    .join(', ')
}

/** SQL goes in a body: there it can be long, and is in no log of addresses. */
function requestOf({ endpoint, values, sql, redact }: Query) {
  const query = queryOf(values)
  const path = `api/endpoints/query/${encodeURIComponent(endpoint.name)}${query && `?${query}`}`
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (redact !== endpoint.redact) headers['SVC-ENDPOINT-REDACT-PII'] = String(redact)
  if (sql !== null) headers['Content-Type'] = 'application/json'
  return { path, headers, body: sql === null ? null : JSON.stringify({ sql }) }
}

/** The same query for a shell; the key stays a variable, so that it gets into no history. */
export function asCurl(query: Query): string {
  const { path, headers, body } = requestOf(query)
  const { Accept: _, ...own } = headers
  const given = Object.entries(own).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return [
    `curl -s ${quoted(new URL(path, location.href).href)}`,
    '-H "X-API-KEY: $KEY"',
    ...given,
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Milliseconds by which this device's clock is behind the service's. */
let behind = 0

/** The service's present in microseconds since 1970: relative times are its own, whatever this device's clock says. */
export function now(): number {
  return Math.round((Date.now() + behind) * 1000)
}

/**
 * The service wrote its `Date` between `sent` and now, however long the answer waited for a busy page. `Date` has whole
 * seconds; a clock that is right to a few seconds is believed.
 */
function compareClocks(response: Response, sent: number): void {
  const theirs = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return
  const difference = theirs - Math.min(Math.max(theirs, sent), Date.now())
  behind = Math.abs(difference) > 5000 ? difference : 0
}

const unreached = {
  title: 'The service could not be reached',
  detail: 'Nothing came back. See whether it is running and whether you are online, then run again.',
}
const cut = {
  title: 'The answer is not whole',
  detail: 'It was cut on its way, or another than the service gave it. Run again.',
}

/** What is thrown where a call did not come to its end. */
function failure(error: unknown, problem: typeof cut): unknown {
  const isStopped = error instanceof DOMException && error.name === 'AbortError'
  return isStopped ? error : new ServiceError(problem)
}

/** `no-cache` makes the browser revalidate each time, so that the headers say how this answer came about. */
async function send(key: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string> | undefined), 'X-API-KEY': key }
  const sent = Date.now()
  const response = await fetch(path, { cache: 'no-cache', credentials: 'omit', ...init, headers }).catch(
    (error: unknown) => {
      throw failure(error, unreached)
    },
  )
  compareClocks(response, sent)
  if (response.ok) return response
  const problem = (await response.json().catch(() => null)) as ProblemDocument | null
  const { status } = response
  const bare = {
    title: `The service answered ${status}`,
    detail: 'Its answer says no more than that.',
    status,
  }
  throw new ServiceError({ ...bare, ...problem }, response.headers.get('retry-after'))
}

async function bodyOf<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T
  } catch (error) {
    throw failure(error, cut)
  }
}

async function resultOf<T>(response: Promise<Response>): Promise<T> {
  return (await bodyOf<{ result: T }>(await response)).result
}
