/** `lqe issuer ...`: identity providers whose tokens are taken as keys are. */
import { Command, Option } from 'commander'
import {
  addIssuer,
  issuerIn,
  type Issuers,
  type KnownIssuer,
  removeIssuer,
} from '../../shared/keys/issuers.ts'
import { KeyError, type Right, rights } from '../../shared/keys/records.ts'
import type { Services } from '../../shared/services.ts'
import { audit } from './account.ts'
import { pairIn, type WithServices, wholeNumber } from './command.ts'
import { assertKnown, collectPin, duration, seesUsage, size } from './keys.ts'
import { print } from './print.ts'

interface AddOptions {
  issuer: string
  jwks?: string
  audience: string[]
  endpoint: string[]
  all?: true
  scope: Record<string, string[]>
  pin: Record<string, string>
  unpinned?: true
  right: Right[]
  redacted?: true
  maxLifetime: number
  callsPerMinute?: number
  bytesPerDay?: number
  origin?: string[]
}

/** Its actions throw KeyError. */
export function issuerCommand(withServices: WithServices): Command {
  const command = new Command('issuer').description(
    'identity providers whose tokens are taken: add, list, remove',
  )
  command
    .command('add')
    .description('take the tokens of an identity provider, or change what they may do')
    .argument('<name>', 'what the log and the usage call it')
    .requiredOption('--issuer <text>', 'the claim iss of its tokens, to the letter')
    .option('--jwks <address>', 'where its keys are (by default ISSUER/.well-known/jwks.json)')
    .requiredOption('--audience <text...>', 'the claim aud of its tokens')
    .option(
      '--pin <parameter=claim>',
      'such as project=$.app_metadata.project; repeat for more',
      collectPin,
      {},
    )
    .addOption(new Option('--unpinned', 'every user of it sees the rows of all').conflicts('pin'))
    .option('--endpoint <name...>', 'endpoints that every token opens, by name or id', [])
    .addOption(new Option('--all', 'every token opens every endpoint').conflicts('endpoint'))
    .option('--scope <scope=endpoint>', 'what a scope opens beside those; repeat for more', collectScope, {})
    .addOption(new Option('--right <right...>', 'what else tokens may do').choices(rights).default([]))
    .option('--redacted', 'every answer is redacted')
    .addOption(
      new Option('--max-lifetime <duration>', 'the longest life of a token')
        .argParser(duration)
        .default(3_600_000, '1h'),
    )
    .option('--calls-per-minute <number>', 'of one subject, in each instance', wholeNumber(1, 999_999))
    .option('--bytes-per-day <size>', 'what the runs of one subject may read, such as 5GB', size)
    .option(
      '--origin <origin...>',
      'web pages that alone may send its tokens, such as https://console.example.com',
    )
    .action((name: string, options: AddOptions, self: Command) => {
      if (!options.unpinned && Object.keys(options.pin).length === 0)
        self.error('error: say what a token fixes: --pin project=$.app_metadata.project, or --unpinned')
      return withServices(services => add(services, name, options))
    })
  command
    .command('list')
    .description('print every issuer, also those of JWT_ISSUERS')
    .action(() => withServices(list))
  command
    .command('remove')
    .description('refuse its tokens, everywhere within 30 seconds (five minutes while the store is away)')
    .argument('<name>')
    .action((name: string) => withServices(services => remove(services, name)))
  return command
}

async function add({ store, issuers }: Services, name: string, options: AddOptions): Promise<void> {
  assertNoSetting(issuers, name, options.issuer)
  const { issuer, audience, pin: pins, right, redacted, scope, all, origin: origins, maxLifetime } = options
  const given = [...options.endpoint, ...Object.values(scope).flat()]
  const named = (await assertKnown(store, { endpoint: given, pin: pins }, 'claim')).values()
  const endpoints = options.endpoint.map(() => named.next().value!)
  const scopes = Object.fromEntries(
    Object.entries(scope).map(([name, opened]) => [name, opened.map(() => named.next().value!)]),
  )
  const { callsPerMinute = null, bytesPerDay = null } = options
  const known = issuerIn({
    name,
    issuer,
    jwks: options.jwks ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`,
    audience,
    pins,
    endpoints: all ? '*' : endpoints,
    scopes,
    rights: right,
    redacted: redacted ?? false,
    maxLifetimeSeconds: Math.round(maxLifetime / 1_000),
    callsPerMinute,
    bytesPerDay,
    origins: origins ?? null,
  })
  await addIssuer(store, known)
  audit('issuer added', { issuer: name, endpoints: known.endpoints, rights: right })
  print(`Tokens of ${name} are taken within 30 seconds.`, await wordsOfKeys(known))
  if (seesUsage(known.endpoints, pins))
    print('They have no pin, so they also see what every key calls and costs (service.usage).')
}

/** What its address has at the moment: a mistake in it would show with the first token only. */
async function wordsOfKeys({ jwks }: KnownIssuer): Promise<string> {
  const { fetchKeys } = await import('../../shared/keys/key-set.ts')
  try {
    const { keys } = JSON.parse(await fetchKeys(jwks)) as { keys: { kty: string; crv?: string }[] }
    const fitting = keys.filter(({ kty, crv = '' }) => kty === 'RSA' || ['P-256', 'Ed25519'].includes(crv))
    if (fitting.length > 0)
      return `Its address has keys: ${fitting.map(({ kty, crv = kty }) => crv).join(', ')}.`
    return `${jwks} has no key for RS256, ES256 or EdDSA: tokens are refused until it has one.`
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } }
    return `${jwks} has no keys at the moment (${cause?.code ?? message}): tokens are refused until it has.`
  }
}

async function list({ issuers }: Services): Promise<void> {
  const all = await issuers.all()
  if (all.length === 0) print('There are no issuers. Add one with: npx lqe issuer add --help')
  for (const { name, issuer, endpoints, pins, scopes, rights, redacted, callsPerMinute } of all) {
    const opens = Object.entries(scopes).map(([scope, names]) => `${scope}: ${names.join(' ')}`)
    const grant = [
      ...(endpoints === '*' ? ['every endpoint'] : endpoints),
      ...opens,
      ...Object.entries(pins).map(([parameter, claim]) => `${parameter}=${claim}`),
      ...rights,
      ...(redacted ? ['redacted'] : []),
      ...(callsPerMinute === null ? [] : [`${callsPerMinute} calls a minute`]),
    ]
    print(`${name}  ${issuer}: ${grant.join(', ')}`)
  }
}

async function remove({ store, issuers }: Services, name: string): Promise<void> {
  assertNoSetting(issuers, name)
  await removeIssuer(store, name)
  audit('issuer removed', { issuer: name })
  print(`Removed ${name}. Its tokens are refused everywhere within 30 seconds.`)
}

function assertNoSetting({ ofSetting }: Issuers, name: string, iss?: string): void {
  const known = ofSetting.find(one => one.name === name || one.issuer === iss)
  if (known) throw new KeyError(`${known.name} is in the setting JWT_ISSUERS: change it there.`)
}

function collectScope(text: string, before: Record<string, string[]>): Record<string, string[]> {
  const [scope, endpoint] = pairIn(text, 'scope=endpoint, such as logs:read=logs.all', { last: true })
  return { ...before, [scope]: [...(before[scope] ?? []), endpoint] }
}
