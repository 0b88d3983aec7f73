/**
 * The scheduled function: POST, from Cloud Scheduler. The name of an endpoint is all that it takes from its caller. On a laptop
 * the same call comes from a schedule in the service's own process, or from `lqe warm`.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { HttpFunction } from '@google-cloud/functions-framework'
import type { Certificates, OAuth2Client, TokenPayload } from 'google-auth-library'
import pMap from 'p-map'
import { readBody } from '../http/body.ts'
import { type Exchange, httpFunction } from '../http/call.ts'
import { runAlertsOf } from './alerts.ts'
import { calledSeconds } from '../../shared/alerts/due.ts'
import type { AlertReport } from '../../shared/alerts/run.ts'
import type { Config } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Endpoints } from '../../shared/endpoints/lookup.ts'
import { readSingle } from '../../shared/endpoints/query-string.ts'
import { ApiError } from '../../shared/errors.ts'
import { describeError, type Details, type Log } from '../../shared/log.ts'
import type { RequestLine } from '../../shared/request-log.ts'
import type { Services } from '../../shared/services.ts'
import { version } from '../../shared/version.ts'
import type { EndpointReport, WarmReport } from '../../shared/warm/report.ts'
import { Budget } from '../../shared/warm/turn.ts'
import { warm } from '../../shared/warm/warm.ts'

interface Warming {
  services: Services
  config: Pick<Config, 'warmDeadlineMs' | 'warmMaxBytes' | 'frozenNow'>
  log: Log
}

interface WarmDependencies {
  services: Services | Promise<Services>
  config: Config
  log: Log
  /** Google's, unless a test gives its own. */
  publicKeys?: PublicKeys
}

/** The rest of the scheduler's deadline is for runs to end and for the answer. */
const shareOfDeadline = 0.8

/** The function that the framework calls: one call, one report as JSON, one log line. */
export function warmHandler({ services, config, log, publicKeys }: WarmDependencies): HttpFunction {
  const check = oidcCheck(config, publicKeys)
  const handle = async ({ req, res, query, notes }: Exchange) => {
    if (req.method !== 'POST')
      throw new ApiError('method_not_allowed', 'This address takes POST.', { headers: { Allow: 'POST' } })
    await readBody(req)
    Object.assign(notes, { how: 'warm', key: 'warm' })
    notes['checked'] = await check(req.headers)
    const report = await noteReport(
      { services: await services, config, log },
      readSingle(query, 'endpoint'),
      notes,
    )
    res.status(statusOf(report)).json(report)
  }
  return httpFunction(config, handle, lineWriter(log))
}

/** A call for the endpoint from within this process, with the line that it has over HTTP. */
export async function warmHere(warming: Warming, name: string): Promise<void> {
  const started = performance.now()
  const notes: RequestLine = {
    requestId: randomUUID(),
    method: 'POST',
    serviceVersion: version,
    how: 'warm',
    key: 'warm',
    checked: 'none',
  }
  const status = await noteReport(warming, name, notes).then(statusOf, (error: unknown) => {
    Object.assign(notes, describeError(error))
    return error instanceof ApiError ? error.status : 500
  })
  lineWriter(warming.log)(status, { ...notes, status, ms: Math.round(performance.now() - started) })
}

/** What one call did. */
export interface CallReport extends WarmReport {
  alerts: AlertReport[]
}

/**
 * One call, within the settings' time and bytes: alerts first, whose readers cannot come back.
 * @param retry whether failures are tried without a rest
 */
export async function warmEndpoints(
  { services, config, log }: Warming,
  endpoints: Endpoint[],
  retry?: boolean,
): Promise<CallReport> {
  const { engine, store } = services
  const budget = new Budget({ ms: config.warmDeadlineMs * shareOfDeadline, bytes: config.warmMaxBytes })
  const alerting = endpoints.filter(({ alerts = [] }) => alerts.length > 0)
  const run = (endpoint: Endpoint) => runAlertsOf({ services, config, log, budget }, endpoint)
  const alerts = await pMap(alerting, run, endpointsAtOnce)
  const report = await warm({ engine, store, log, reading: services, retry }, endpoints, budget)
  return { ...report, alerts }
}

/** A receiver that is slow delays the alerts of its own endpoint alone. */
const endpointsAtOnce = { concurrency: 4 }

/** The call of one name, or for all endpoints, with its summary in the notes. */
async function noteReport(warming: Warming, name: string | null, notes: RequestLine): Promise<CallReport> {
  const wanted = await wantedEndpoints(warming.services.endpoints, name)
  if (name !== null) notes.endpoint = name
  const report = await warmEndpoints(warming, wanted)
  Object.assign(notes, summaryOf(report))
  return report
}

/** An error makes the scheduler try again, which helps where the store did not answer, and nowhere else. */
function statusOf({ endpoints, alerts }: CallReport): number {
  return [...endpoints, ...alerts].some(({ error }) => error !== null) ? 503 : 200
}

function lineWriter(log: Log) {
  return (status: number, details: Details) =>
    log(status < 400 ? 'INFO' : status < 500 ? 'WARNING' : 'ERROR', 'warm', details)
}

/** @param name `null` = every endpoint */
async function wantedEndpoints(endpoints: Endpoints, name: string | null): Promise<Endpoint[]> {
  if (name === null) return endpoints.all()
  const endpoint = await endpoints.find(name)
  if (!endpoint || calledSeconds(endpoint) === null)
    throw new ApiError('not_found', 'There is no endpoint of this name that is kept warm or has alerts.')
  return [endpoint]
}

function summaryOf({ endpoints, alerts, ...totals }: CallReport): Details {
  return { ...totals, endpoints: endpoints.map(lineOf), alerts: alerts.map(lineOfAlerts) }
}

/** `usage.api-counts evaluated=3 firing=1 sent=1` */
export function lineOfAlerts({ endpoint, counts, error }: AlertReport): string {
  return wordsOf(endpoint, counts, error)
}

/** `usage.api-counts refreshed=5 fresh=2 engine_error=1` */
export function lineOf({ endpoint, refreshed, skipped, failed, error }: EndpointReport): string {
  return wordsOf(endpoint, { refreshed, ...skipped, ...failed }, error)
}

function wordsOf(endpoint: string, counts: Record<string, number>, error: string | null): string {
  const words = Object.entries(counts).map(pair => pair.join('='))
  return [endpoint, ...words, ...(error === null ? [] : [`error=${error}`])].join(' ')
}

// ---- the OIDC token of a call: Cloud Scheduler sends one of its service account, with this function as audience.

/** Google's public keys by their id, as PEM. */
export type PublicKeys = () => Promise<Certificates>

/** Who checked the signature, for the log. */
type Assurance = 'signature' | 'cloud_run' | 'none'

type Claims = Partial<TokenPayload>

const issuers = ['https://accounts.google.com', 'accounts.google.com']

/**
 * Cloud Run checks the token of a call to a function that is not public, and replaces its signature by these words:
 * https://cloud.google.com/run/docs/troubleshooting. There only the claims are left to check. A token with a signature
 * is checked in full everywhere. Where X-Serverless-Authorization is sent, too, Cloud Run checks that one alone, and hands on
 * an Authorization that anyone has written: https://cloud.google.com/run/docs/authenticating/service-to-service.
 */
const signatureRemoved = '.SIGNATURE_REMOVED_BY_GOOGLE'

/** Clocks differ; google-auth-library allows as much. */
const toleranceSeconds = 300

/**
 * Without settings, every call is allowed on a laptop and none on Cloud Run.
 * @returns checks the headers of a call; throws ApiError `unauthenticated`, with one message for all reasons, and
 *   `engine_unavailable` where Google's keys cannot be read
 */
function oidcCheck(
  config: Config,
  publicKeys: PublicKeys = googleKeys(),
): (headers: IncomingHttpHeaders) => Promise<Assurance> {
  const { warmAudience: audience, warmServiceAccount: serviceAccount, service } = config
  return async ({ authorization, 'x-serverless-authorization': another }) => {
    if (audience === null || serviceAccount === null) {
      if (service === null) return 'none'
      throw refusal(new Error('WARM_AUDIENCE and WARM_SERVICE_ACCOUNT are not set'))
    }
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? '')?.[1]
    if (!token) throw refusal()
    const checked = service !== null && another === undefined && token.endsWith(signatureRemoved)
    const claims = checked ? claimsIn(token) : await signedClaims(token, publicKeys)
    if (!fits(claims, { audience, serviceAccount, now: Date.now() / 1000 })) throw refusal()
    return checked ? 'cloud_run' : 'signature'
  }
}

function fits(
  { iss = '', aud, email, email_verified, iat = Infinity, exp = 0 }: Claims,
  wanted: { audience: string; serviceAccount: string; now: number },
): boolean {
  return (
    issuers.includes(iss) &&
    aud === wanted.audience &&
    email === wanted.serviceAccount &&
    email_verified === true &&
    iat <= wanted.now + toleranceSeconds &&
    exp >= wanted.now - toleranceSeconds
  )
}

async function signedClaims(token: string, publicKeys: PublicKeys): Promise<Claims> {
  const library = await import('google-auth-library')
  const keys = await publicKeys().catch((cause: unknown) => {
    throw new ApiError('engine_unavailable', 'The caller cannot be checked at the moment.', { cause })
  })
  const ticket = await new library.OAuth2Client().verifySignedJwtWithCertsAsync(token, keys).catch(refuse)
  return ticket.getPayload() ?? {}
}

function claimsIn(token: string): Claims {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims
  } catch (error) {
    return refuse(error)
  }
}

/** Fetched when first needed; the client keeps them for as long as Google's Cache-Control allows. */
function googleKeys(): PublicKeys {
  let client: OAuth2Client | undefined
  return async () => {
    const library = await import('google-auth-library')
    client ??= new library.OAuth2Client()
    return (await client.getFederatedSignonCertsAsync()).certs
  }
}

function refuse(cause: unknown): never {
  throw refusal(cause)
}

function refusal(cause?: unknown): ApiError {
  const headers = { 'WWW-Authenticate': 'Bearer' }
  const detail = 'A token of the service account that calls this function is needed.'
  return new ApiError('unauthenticated', detail, { headers, cause })
}
