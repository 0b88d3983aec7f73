/**
 * The scheduled function: POST, from Cloud Scheduler. The name of an endpoint is all that it takes from its caller. On a laptop
 * the same call comes from a schedule in the service's own process, or from `lqe warm`.
 */
import { randomUUID } from 'node:crypto'
import type { HttpFunction } from '@google-cloud/functions-framework'
import pMap from 'p-map'
import type { Config } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Endpoints } from '../../shared/endpoints/lookup.ts'
import { ApiError } from '../../shared/errors.ts'
import { describeError, type Details, type Log } from '../../shared/log.ts'
import type { RequestLine } from '../../shared/request-log.ts'
import { readSingle } from '../../shared/endpoints/query-string.ts'
import type { Services } from '../../shared/services.ts'
import { version } from '../../shared/version.ts'
import type { AlertReport } from '../../shared/alerts/run.ts'
import type { EndpointReport, WarmReport } from '../../shared/warm/report.ts'
import { Budget } from '../../shared/warm/turn.ts'
import { calledSeconds } from '../../shared/alerts/due.ts'
import { warm } from '../../shared/warm/warm.ts'
import { readBody } from '../http/body.ts'
import { type Exchange, httpFunction } from '../http/call.ts'
import { runAlertsOf } from './alerts.ts'
import { oidcCheck, type PublicKeys } from './oidc.ts'

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
