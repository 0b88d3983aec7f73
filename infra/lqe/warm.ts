/** `lqe warm [NAME]`: one call of the warm function, as Cloud Scheduler makes it. */
import { Command } from 'commander'
import { lineOf as lineOfReport, lineOfAlerts, warmEndpoints } from '../../functions/warm/handler.ts'
import type { Config } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import { lineOf, type Log } from '../../shared/log.ts'
import type { Services } from '../../shared/services.ts'
import { calledSeconds } from '../../shared/alerts/due.ts'
import type { WithServices } from './command.ts'
import { print, warn } from './print.ts'
import { findEndpoint } from './query.ts'

/** Its action throws ApiError. The report goes to standard output, why something failed to standard error. */
export function warmCommand(withServices: WithServices, config: () => Config) {
  return new Command('warm')
    .description('evaluate the alerts and refresh the answers in use that are due, of one endpoint or of all')
    .argument('[name]', 'the name or id of an endpoint')
    .action((name?: string) => withServices(services => warm(services, config(), name)))
}

const log: Log = (...line) => warn(lineOf(...line))

async function warm(services: Services, config: Config, name?: string): Promise<void> {
  const endpoints = name === undefined ? await services.endpoints.all() : [await findWarmed(services, name)]
  // Who calls it by hand may have repaired what failed.
  const report = await warmEndpoints({ services, config, log }, endpoints, true)
  for (const one of report.endpoints) print(`${lineOfReport(one)} runs=${one.runs} ms=${one.ms}`)
  for (const one of report.alerts) print(`alerts of ${lineOfAlerts(one)}`)
  const reports = [...report.endpoints, ...report.alerts]
  if (reports.length === 0) print('No endpoint is kept warm or has alerts: none has warm.seconds.')
  if (report.failed > 0 || reports.some(({ error }) => error !== null)) process.exitCode = 1
}

/** @throws ApiError `not_found` */
async function findWarmed(services: Services, name: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(services, name)
  if (calledSeconds(endpoint) !== null) return endpoint
  const lack = endpoint.warm ? 'cache.seconds is 0' : 'its definition has no warm.seconds'
  throw new ApiError('not_found', `${endpoint.name} is not kept warm: ${lack}.`)
}
