/** From a question to typed parameters, the statement and the cache key. */
import { LRUCache } from 'lru-cache'
import { keyFieldsOf } from '../../shared/run/get-answer.ts'
import type { CacheKeyFields } from '../../shared/cache/head.ts'
import { type Endpoint, isCached } from '../../shared/endpoints/definition.ts'
import { type Parameters, presentFor, readParameters } from '../../shared/endpoints/parameters.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { type Page, pageFor, readCursor } from '../../shared/pages/page.ts'
import { redactSent } from '../../shared/redact/redact.ts'
import type { Services } from '../../shared/services.ts'
import { compose, type Composed } from './statement.ts'

/** What a caller asks of an endpoint, over HTTP, as a tool or from the command line. */
export interface Question {
  caller: Caller
  endpoint: Endpoint
  /** Parameters and cursor, as a raw query string. */
  query: string
  /** `null` for the endpoint's own query. */
  callerSql: string | null
  redacted: boolean
  /** Whether the caller could not have it in the clear. */
  isImposed?: boolean
  bypass: boolean
  /** The oldest answer that will do; absent = any fresh one. */
  maxAgeSeconds?: number
  /** Labels that the caller gives to the engine's job; absent = none. */
  labels?: Record<string, string>
  /** A signal that aborts when the caller has gone; made only where it is asked for. */
  gone: () => AbortSignal
}

interface Prepared {
  parameters: Parameters
  composed: Composed
  page: Page | null
  /** What relative times count from. */
  moment: number | string
  /** Absent where the caller's SQL, or rows of other endpoints, decide the answer as well. */
  keyFields?: CacheKeyFields
}

type PrepareServices = Pick<Services, 'cursors' | 'columnsOf'>

interface Remembered extends Prepared {
  endpoint: Endpoint
  caller: Caller
  present: number
}

const memory = new LRUCache<string, Remembered>({ max: 1000 })
/** Characters of a query string. */
const longest = 1000

/**
 * Reads the question. For a cached endpoint the result is remembered, as this would be a tenth of a hot answer's CPU. It is used
 * again only for the same objects of definition and key (a new read of the store makes new ones), and within the minute from which
 * relative times count.
 * @throws ApiError
 */
export async function prepare(
  services: PrepareServices,
  question: Question,
  now: number | string,
): Promise<Prepared> {
  const { caller, endpoint, query, callerSql, redacted } = question
  const isPlain = callerSql === null && !endpoint.upstream && query.length <= longest
  if (!isPlain || !isCached(endpoint, redacted)) return read(services, question, now)
  const key = `${caller.keyId} ${endpoint.version} ${redacted} ${query}`
  const present = presentFor(endpoint, now).getTime()
  const known = memory.get(key)
  if (known?.endpoint === endpoint && known.caller === caller && known.present === present) return known
  const made = await read(services, question, now)
  const { parameters, page } = made
  const asked = { endpoint, parameters: parameters.canonical, sql: null, page, redacted }
  const remembered = { ...made, keyFields: keyFieldsOf(asked), endpoint, caller, present }
  if (!page?.cursor) memory.set(key, remembered)
  return remembered
}

async function read(
  { cursors, columnsOf }: PrepareServices,
  { caller, endpoint, query, callerSql, redacted, isImposed = false }: Question,
  present: number | string,
): Promise<Prepared> {
  const cursor = await readCursor(cursors, endpoint, query)
  const moment = cursor?.now ?? present
  const now = presentFor(endpoint, moment)
  const parameters = readParameters(endpoint, query, caller.pins, now, redacted ? redactSent : undefined)
  const composed = await compose(columnsOf, endpoint, caller, parameters, callerSql, { redacted, isImposed })
  const page = pageFor(cursors, endpoint, parameters, { cursor, now, sql: callerSql })
  return { parameters, composed, page, moment }
}
