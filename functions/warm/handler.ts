/** The scheduled function: POST, from Cloud Scheduler. It takes nothing from its caller but the name of an endpoint. */
import type { HttpFunction } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Endpoints } from '../../shared/endpoints/lookup.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Details, Log } from '../../shared/log.ts'
import { invalidParameter, repeated, splitQuery, undecodable } from '../../shared/endpoints/query-string.ts'
import type { Services } from '../../shared/services.ts'
import type { EndpointReport, WarmReport } from '../../shared/warm/report.ts'
import { isWarmed, warm } from '../../shared/warm/warm.ts'
import { type Exchange, httpFunction } from '../http/call.ts'
import { callerCheck, type PublicKeys } from './oidc.ts'

export interface WarmDependencies {
  services: Services | Promise<Services>
  config: Config
  log: Log
  /** Where Google's keys come from; for tests. */
  publicKeys?: PublicKeys
}

/** The rest of the scheduler's deadline is for runs to end and for the answer. */
const shareOfDeadline = 0.8

/** The function that the framework calls: one call, one report as JSON, one log line. */
export function warmHandler({ services, config, log, publicKeys }: WarmDependencies): HttpFunction {
  const check = callerCheck(config, publicKeys)
  return httpFunction({ config, log }, { message: 'warm', refused: 'WARNING' }, async exchange => {
    const { req, res, notes } = exchange
    if (req.method !== 'POST')
      throw new ApiError('method_not_allowed', 'This address takes POST.', { headers: { Allow: 'POST' } })
    notes['checked'] = await check(req.get('authorization'))
    const { engine, store, endpoints } = await services
    const wanted = await wantedEndpoints(endpoints, exchange)
    const allowance = { ms: config.warmDeadlineMs * shareOfDeadline, bytes: config.warmMaxBytes }
    const report = await warm({ engine, store, log }, wanted, allowance)
    Object.assign(notes, summaryOf(report))
    // The scheduler tries again after an error, which helps where the store was away, and nowhere else.
    res.status(report.endpoints.some(({ error }) => error !== null) ? 503 : 200).json(report)
  })
}

async function wantedEndpoints(endpoints: Endpoints, exchange: Exchange): Promise<Endpoint[]> {
  const name = endpointNamed(exchange)
  if (name === null) return endpoints.all()
  const endpoint = await endpoints.find(name)
  if (!endpoint || !isWarmed(endpoint))
    throw new ApiError('not_found', 'There is no endpoint of this name that is kept warm.')
  return [endpoint]
}

function endpointNamed({ query }: Exchange): string | null {
  const named = splitQuery(query).filter(({ name }) => name === 'endpoint')
  const detail = named.length > 1 ? repeated : named[0]?.value === null ? undecodable : null
  if (detail !== null) throw invalidParameter([{ parameter: 'endpoint', detail }])
  return named[0]?.value || null
}

function summaryOf({ endpoints, ...totals }: WarmReport): Details {
  return { ...totals, endpoints: endpoints.map(inWords) }
}

/** `usage.api-counts refreshed=5 fresh=2 engine_error=1` */
function inWords({ endpoint, refreshed, skipped, failed, error }: EndpointReport): string {
  const counts = Object.entries({ refreshed, ...skipped, ...failed }).map(pair => pair.join('='))
  return [endpoint, ...counts, ...(error === null ? [] : [`error=${error}`])].join(' ')
}
