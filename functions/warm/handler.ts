/** The scheduled function: POST, from Cloud Scheduler. The name of an endpoint is all that it takes from its caller. */
import type { HttpFunction } from '@google-cloud/functions-framework'
import type { Config } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Endpoints } from '../../shared/endpoints/lookup.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Details, Log } from '../../shared/log.ts'
import { readSingle } from '../../shared/endpoints/query-string.ts'
import type { Services } from '../../shared/services.ts'
import type { EndpointReport, WarmReport } from '../../shared/warm/report.ts'
import { isWarmed, warm } from '../../shared/warm/warm.ts'
import { readBody } from '../http/body.ts'
import { type Exchange, httpFunction } from '../http/call.ts'
import { oidcCheck, type PublicKeys } from './oidc.ts'

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
    const reading = await services
    const { engine, store, endpoints } = reading
    const name = readSingle(query, 'endpoint')
    const wanted = await wantedEndpoints(endpoints, name)
    if (name !== null) notes.endpoint = name
    const allowance = { ms: config.warmDeadlineMs * shareOfDeadline, bytes: config.warmMaxBytes }
    const report = await warm({ engine, store, log, reading }, wanted, allowance)
    Object.assign(notes, summaryOf(report))
    // An error makes the scheduler try again, which helps where the store did not answer, and nowhere else.
    res.status(report.endpoints.some(({ error }) => error !== null) ? 503 : 200).json(report)
  }
  return httpFunction(config, handle, (status, details) =>
    log(status < 400 ? 'INFO' : status < 500 ? 'WARNING' : 'ERROR', 'warm', details),
  )
}

/** @param name `null` = every endpoint */
async function wantedEndpoints(endpoints: Endpoints, name: string | null): Promise<Endpoint[]> {
  if (name === null) return endpoints.all()
  const endpoint = await endpoints.find(name)
  if (!endpoint || !isWarmed(endpoint))
    throw new ApiError('not_found', 'There is no endpoint of this name that is kept warm.')
  return [endpoint]
}

function summaryOf({ endpoints, ...totals }: WarmReport): Details {
  return { ...totals, endpoints: endpoints.map(lineOf) }
}

/** `usage.api-counts refreshed=5 fresh=2 engine_error=1` */
function lineOf({ endpoint, refreshed, skipped, failed, error }: EndpointReport): string {
  const counts = Object.entries({ refreshed, ...skipped, ...failed }).map(pair => pair.join('='))
  return [endpoint, ...counts, ...(error === null ? [] : [`error=${error}`])].join(' ')
}
