/** `lqe alert ...`: the alerts that are applied: their states, what one finds now, and a rest from it; and `lqe channel test`, whether a message arrives. */
import { randomUUID } from 'node:crypto'
import { Command, InvalidArgumentError } from 'commander'
import { askNow } from '../../functions/warm/alerts.ts'
import type { Alert, Endpoint } from '../../shared/endpoints/definition.ts'
import type { Message } from '../../shared/alerts/channels.ts'
import { type AlertStatus, listAlerts } from '../../shared/alerts/list.ts'
import { silence } from '../../shared/alerts/record.ts'
import type { Config } from '../../shared/config.ts'
import { queryText } from '../../shared/endpoints/query-string.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Services } from '../../shared/services.ts'
import { nameHint } from '../../shared/sql/hints.ts'
import type { WithServices } from './command.ts'
import { print } from './print.ts'

/** Its actions throw ApiError and StoreError. */
export function alertCommand(withServices: WithServices, config: () => Config): Command {
  const command = new Command('alert').description('alerts on endpoints: list, test, silence')
  command
    .command('list')
    .description('print the state of every alert that is applied, for each of its sets of parameters')
    .action(() => withServices(list))
  command
    .command('test')
    .description('evaluate an alert now, and print what it finds and would tell; nothing is stored or sent')
    .argument('<name>', 'the name of an alert')
    .action((name: string) => withServices(services => tryOut(services, config(), name)))
  command
    .command('silence')
    .description('tell nothing of an alert for a while; what still holds then is told afterwards')
    .argument('<name>', 'the name of an alert')
    .requiredOption('--for <time>', 'such as 30m, 2h or 7d; 0m ends a silence', milliseconds)
    .action((name: string, options: { for: number }) =>
      withServices(services => rest(services, name, options.for)),
    )
  return command
}

async function list({ store, endpoints }: Services): Promise<void> {
  const alerts = await listAlerts(store, await endpoints.all())
  if (alerts.length === 0) print('There are no alerts: infra/docs/alerts.md says how to make one.')
  for (const alert of alerts) print(lineOf(alert))
}

/** `firing since 2026-01-31T12:00:00Z  edge.errors  project=abc  value 0.07` */
function lineOf(status: AlertStatus): string {
  const { alert, parameters, state, since, value, silencedUntil, undelivered } = status
  return [
    state === null ? 'not evaluated yet' : `${state} since ${seconds(since!)}`,
    alert,
    queryText(parameters),
    value === null ? '' : `value ${value}`,
    silencedUntil === null ? '' : `silenced until ${seconds(silencedUntil)}`,
    ...undelivered.map(
      ({ channel, since, givenUp }) =>
        `not delivered to ${channel} since ${seconds(since)}${givenUp ? ', given up' : ''}`,
    ),
  ]
    .filter(Boolean)
    .join('  ')
}

function seconds(time: string): string {
  return `${time.slice(0, 19)}Z`
}

async function tryOut(services: Services, config: Config, name: string): Promise<void> {
  const found = await findAlert(services, name)
  for (const set of found.alert.sets) {
    const { finding, value, text } = await askNow(services, config, { ...found, set })
    print([finding, queryText(set), value === null ? '' : `value ${value}`, text].filter(Boolean).join('  '))
  }
}

async function rest(services: Services, name: string, ms: number): Promise<void> {
  const { endpoint, alert } = await findAlert(services, name)
  const until = await silence(services.store, endpoint, alert, ms)
  print(ms === 0 ? `${name} is not silenced` : `${name} is silenced until ${seconds(until.toISOString())}`)
}

/** @throws ApiError `not_found`, with the nearest name */
async function findAlert(
  { endpoints }: Services,
  name: string,
): Promise<{ endpoint: Endpoint; alert: Alert }> {
  const all = (await endpoints.all()).flatMap(endpoint =>
    (endpoint.alerts ?? []).map(alert => ({ endpoint, alert })),
  )
  const found = all.find(({ alert }) => alert.name === name)
  const names = all.map(({ alert }) => alert.name)
  if (!found) throw new ApiError('not_found', `There is no alert ${name}; ${nameHint(name, names)}`)
  return found
}

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function milliseconds(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  if (unit === undefined) throw new InvalidArgumentError('Write a number with m, h or d, such as 2h.')
  return Number(count) * units[unit]!
}

/** Its action throws DeliveryError. */
export function channelCommand(withServices: WithServices): Command {
  const command = new Command('channel').description('channels of alerts: test one')
  command
    .command('test')
    .description('send a message to a channel that is applied, with the secrets of this environment')
    .argument('<name>', 'its name in channels.yaml')
    .action((name: string) => withServices(services => tryChannel(services, name)))
  return command
}

/** What it opens, such as an incident, it closes again. */
async function tryChannel({ deliver }: Services, name: string): Promise<void> {
  for (const state of ['firing', 'resolved'] as const) {
    const message: Message = {
      id: `msg_${randomUUID()}`,
      at: new Date().toISOString(),
      alert: 'test',
      endpoint: 'test',
      state,
      severity: 'info',
      text: `This is a test of the channel ${name}.`,
      parameters: {},
      rows: [],
    }
    await deliver(name, message, new AbortController().signal)
    print(`${name} took ${state}.`)
  }
}
