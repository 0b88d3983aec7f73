/** `lqe key ...`: issues, lists, revokes and rotates keys. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { endpointIn } from '../../shared/endpoints/definition.ts'
import { endpointsCollection, maxEndpoints } from '../../shared/endpoints/lookup.ts'
import { misfitOf } from '../../shared/endpoints/parameters.ts'
import { nameHint } from '../../shared/sql/hints.ts'
import type { Store } from '../../shared/stores/store.ts'
import {
  issueKey,
  KeyError,
  listKeys,
  revokeKey,
  type Right,
  rights,
  rotateKey,
} from '../../shared/keys/records.ts'
import { audit } from './account.ts'
import { pairIn, type WithStore, wholeNumber } from './command.ts'
import { print } from './print.ts'

const day = 86_400_000
const idHint = 'the part between lqe_ and the next _'

/** By the first letter of their names. Months are missing: they differ. */
const spans = { s: 1_000, m: 60_000, h: 3_600_000, d: day, w: 7 * day, y: 365 * day }
const span =
  /(\d{1,5}(?:\.\d+)?) ?(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:(?:ee)?ks?)?|y(?:(?:ea)?rs?)?) ?/gi
const isSpans = new RegExp(`^(?:${span.source})+$`, 'i')

/**
 * As people write it, `90d`, `90 min`, `1h 30m`, or as ISO 8601 does, `P90D`, `PT90M`.
 * @returns milliseconds
 */
export function duration(text: string): number {
  const plain = text.trim().replace(/^P([\dYWD]*)(?:T([\d.HMS]+))?$/i, '$1$2')
  const parts = isSpans.test(plain) ? [...plain.matchAll(span)] : []
  const ms = parts.map(
    ([, number, unit]) => Number(number) * spans[unit![0]!.toLowerCase() as keyof typeof spans],
  )
  const sum = Math.round(ms.reduce((a, b) => a + b, 0))
  if (sum === 0)
    throw new InvalidArgumentError('Write a number and a unit: 90d, 12h, 30 minutes, 2 weeks, 1 year.')
  // A store's dates end with the year 9999.
  if (sum > 1_000 * spans.y) throw new InvalidArgumentError('Write 1000 years at most.')
  return sum
}

/** @returns bytes, in powers of 1000 */
export function size(text: string): number {
  const [, number, unit] = /^([1-9]\d{0,3}) ?([MGT])B$/i.exec(text.trim()) ?? []
  if (number === undefined)
    throw new InvalidArgumentError('Write a whole number and MB, GB or TB, such as 500GB.')
  const bytes = Number(number) * 1000 ** (2 + 'MGT'.indexOf(unit!.toUpperCase()))
  if (!Number.isSafeInteger(bytes)) throw new InvalidArgumentError('Write 9007TB at most.')
  return bytes
}

/** What `--for` stands for, where nothing else is said. */
const purposes = {
  agent: { name: 'agent', redacted: true, expires: 30 * day, callsPerMinute: 60, bytesPerDay: 50e9 },
}

interface CreateOptions {
  name: string
  endpoint: string[]
  all?: true
  pin: Record<string, string>
  right: Right[]
  redacted?: true
  expires?: number
  never?: true
  callsPerMinute?: number
  bytesPerDay?: number
}

/** Its actions throw KeyError; a key's text is printed once, and never stored. */
export function keyCommand(withStore: WithStore): Command {
  const command = new Command('key').description('API keys: create, list, revoke, rotate')
  addCreate(command, withStore)
  command
    .command('list')
    .description('print every key, without its secret, which is not stored')
    .action(() => withStore(({ store }) => list(store)))
  command
    .command('revoke')
    .description('make a key invalid, everywhere within 30 seconds (five minutes while the store is away)')
    .argument('<id>', idHint)
    .action((id: string) => withStore(({ store }) => revoke(store, id)))
  command
    .command('rotate')
    .description('issue a key with the same rights; the old one stays valid for a while')
    .argument('<id>', idHint)
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid')
        .argParser(duration)
        .default(7 * day, '7d'),
    )
    .action((id: string, { overlap }: { overlap: number }) =>
      withStore(({ store }) => rotate(store, id, overlap)),
    )
  return command
}

function addCreate(command: Command, withStore: WithStore): void {
  command
    .command('create')
    .description('issue a key and print it, once')
    .requiredOption('--name <name>', 'who or what the key is for')
    .addOption(
      new Option('--for <purpose>', 'agent: redacted, 60 calls a minute, 50 GB a day, 30 days')
        .choices(Object.keys(purposes))
        .implies(purposes.agent),
    )
    .option('--endpoint <name...>', 'endpoints it may call, by name or id', [])
    .addOption(
      new Option('--all', 'it may call every endpoint: without a pin service.usage, too').conflicts(
        'endpoint',
      ),
    )
    .option('--pin <parameter=value>', 'a parameter that is fixed for it; repeat for more', collectPin, {})
    .addOption(
      new Option(
        '--right <right...>',
        'what else it may do: lift redaction, force a run, see the SQL of endpoints',
      )
        .choices(rights)
        .default([]),
    )
    .addOption(new Option('--expires <duration>', 'how long it is valid, such as 90d').argParser(duration))
    .addOption(new Option('--never', 'it does not expire').conflicts('expires'))
    .option(
      '--calls-per-minute <number>',
      'how often it may be used, in each instance',
      wholeNumber(1, 999_999),
    )
    .option('--bytes-per-day <size>', 'what its runs may read in a day, such as 500GB', size)
    .option('--redacted', 'every answer to it is redacted, also of endpoints that do not redact')
    .action(async (options: CreateOptions, self: Command) => {
      if (options.redacted && options.right.includes('pii:read'))
        self.error('error: a redacted key cannot have the right pii:read')
      if (!options.all && options.endpoint.length === 0)
        self.error('error: say what the key may call: --endpoint NAME (repeat for more) or --all')
      if (!options.never && options.expires === undefined)
        self.error('error: say how long the key lives: --expires 90d or --never')
      await withStore(({ store }) => create(store, options))
    })
}

async function create(store: Store, options: CreateOptions): Promise<void> {
  const named = await assertKnown(store, options)
  const expiresAt = options.expires === undefined ? null : new Date(Date.now() + options.expires)
  const { name, right: rights, pin: pins, redacted = false } = options
  const { callsPerMinute = null, bytesPerDay = null } = options
  const endpoints = options.all ? '*' : named
  const limits = { callsPerMinute, bytesPerDay }
  const issued = await issueKey(store, { name, endpoints, pins, rights, redacted, expiresAt, limits })
  audit('key issued', { key: issued.id, name, endpoints, rights })
  print(`API key: ${issued.key}`)
  print(`It is shown only now. Its id, for list, revoke and rotate: ${issued.id}`)
  if (seesUsage(endpoints, pins))
    print('It has no pin, so it also sees what every other key calls and costs (service.usage).')
}

/** A pin on what `service.usage` has no parameter for, such as a project, closes it. */
export function seesUsage(endpoints: '*' | string[], pins: Record<string, string>): boolean {
  return (endpoints === '*' || endpoints.includes('service.usage')) && Object.keys(pins).length === 0
}

/**
 * A misspelt endpoint or pin would make a key that opens nothing.
 * @param pinned what a pin has: the value of a key, or a claim of tokens, whose value nobody knows yet
 * @returns the names of the endpoints
 */
export async function assertKnown(
  store: Store,
  { endpoint, pin }: Pick<CreateOptions, 'endpoint' | 'pin'>,
  pinned: 'value' | 'claim' = 'value',
): Promise<string[]> {
  if (endpoint.length === 0 && Object.keys(pin).length === 0) return []
  const { documents } = await store.query({ collection: endpointsCollection, limit: maxEndpoints })
  const all = documents.map(({ fields }) => endpointIn(fields))
  const names = all.map(({ name }) => name)
  const wanted = endpoint.map(given => all.find(({ id }) => id === given.toLowerCase())?.name ?? given)
  const unknown = wanted.find(name => !names.includes(name))
  if (unknown !== undefined) throw unknownName('endpoint', unknown, names)
  // A pin closes each endpoint that has no such parameter.
  const scope = wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))
  for (const [parameter, text] of Object.entries(pin)) {
    const taking = scope.filter(({ parameters }) => Object.hasOwn(parameters, parameter))
    const closed = wanted.length === 0 ? taking.length === 0 : taking.length < scope.length
    const declared = scope.flatMap(({ parameters }) => Object.keys(parameters))
    if (closed && taking.length === 0) throw unknownName('parameter', parameter, declared, wanted)
    const lacking = scope.filter(one => !taking.includes(one)).map(({ name }) => name)
    if (closed)
      throw new KeyError(
        `--pin ${parameter}: not in ${lacking.join(', ')}, which such a key could not call; give that a key of its own, without the pin.`,
      )
    for (const { name, parameters } of pinned === 'value' ? taking : []) {
      const misfit = misfitOf(parameters[parameter]!, { text })
      if (misfit !== null) throw new KeyError(`--pin ${parameter}: for ${name} it ${misfit}.`)
    }
  }
  return wanted
}

function unknownName(what: string, name: string, known: string[], of: string[] = []): KeyError {
  const where = of.length > 0 ? ` in ${of.join(', ')}` : ''
  return new KeyError(
    `There is no ${what} ${JSON.stringify(name)}${where}; ${nameHint(name, known.toSorted())}`,
  )
}

async function list(store: Store): Promise<void> {
  const keys = await listKeys(store)
  if (keys.length === 0) print('There are no keys. Issue one with: npx lqe key create --help')
  for (const key of keys) {
    const scope = key.endpoints === '*' ? 'every endpoint' : key.endpoints.join(', ')
    const pins = Object.entries(key.pins).map(([parameter, value]) => `${parameter}=${value}`)
    const until = key.expiresAt === null ? 'never expires' : `until ${key.expiresAt.toISOString()}`
    const grant = [scope, ...pins, ...key.rights, ...(key.redacted ? ['redacted'] : [])].join(' ')
    const { callsPerMinute, bytesPerDay } = key.limits ?? {}
    const calls = callsPerMinute && `${callsPerMinute} calls a minute`
    const bytes = bytesPerDay && `${bytesPerDay / 1e6} MB a day`
    const terms = [grant, calls, bytes, until].filter(Boolean).join(', ')
    print(`${key.id}  ${key.state.padEnd(8)} ${key.name}: ${terms}`)
  }
}

async function revoke(store: Store, id: string): Promise<void> {
  await revokeKey(store, id)
  audit('key revoked', { key: id })
  print(`Revoked ${id}. It stops everywhere within 30 seconds.`)
}

async function rotate(store: Store, id: string, overlap: number): Promise<void> {
  const issued = await rotateKey(store, id, overlap)
  audit('key rotated', { key: issued.id, replaces: id, oldExpiresAt: issued.oldExpiresAt.toISOString() })
  print(`API key: ${issued.key}`)
  print(`It is shown only now. The old key, ${id}, stops at ${issued.oldExpiresAt.toISOString()}.`)
}

export function collectPin(text: string, before: Record<string, string>): Record<string, string> {
  const [name, value] = pairIn(text, 'parameter=value, such as project=abc')
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given more than once.`)
  return { ...before, [name]: value }
}
