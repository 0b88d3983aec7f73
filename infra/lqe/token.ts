/** `lqe token`: a token for tests, as an issuer's would be, which a service over the same data folder takes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import type { JWK } from 'jose'
import { type Config, ConfigError } from '../../shared/config.ts'
import { localKeyFile, localKeyId } from '../../shared/data-folder.ts'
import type { KnownIssuer } from '../../shared/keys/issuers.ts'
import { KeyError } from '../../shared/keys/records.ts'
import { nameHint } from '../../shared/sql/hints.ts'
import { pairIn, type WithServices } from './command.ts'
import { duration } from './keys.ts'
import { printData } from './print.ts'

type Claims = Record<string, unknown>

interface TokenOptions {
  issuer: string
  claim: Claims
  subject: string
  for: number
}

/** Its action throws KeyError for an issuer that is not there, and ConfigError where the store is not this machine's. */
export function tokenCommand(withServices: WithServices, config: () => Config): Command {
  return new Command('token')
    .description('print a token of an issuer for tests, which the service on this machine alone takes')
    .requiredOption('--issuer <name>', 'one of lqe issuer list')
    .option('--claim <path=value>', 'such as app_metadata.project=abc; repeat for more', collectClaim, {})
    .option('--subject <text>', 'the claim sub', 'test')
    .addOption(
      new Option('--for <duration>', 'how long it is valid').argParser(duration).default(3_600_000, '1h'),
    )
    .action((options: TokenOptions) =>
      withServices(async ({ issuers }) => printData(await tokenOf(config(), await issuers.all(), options))),
    )
}

/** @throws KeyError, ConfigError */
export async function tokenOf(
  { store, service, dataDir }: Config,
  issuers: readonly KnownIssuer[],
  { issuer: name, claim, subject: sub, for: ms }: TokenOptions,
): Promise<string> {
  if (store !== 'sqlite' || service !== null)
    throw new ConfigError(`STORE is ${store}: only a service on this machine takes such tokens`)
  const known = issuers.find(issuer => issuer.name === name)
  const names = issuers.map(issuer => issuer.name)
  if (!known) throw new KeyError(`There is no issuer ${JSON.stringify(name)}; ${nameHint(name, names)}`)
  const { issuer: iss, audience: aud, maxLifetimeSeconds } = known
  const seconds = Math.round(ms / 1_000)
  if (seconds > maxLifetimeSeconds)
    throw new KeyError(`--for: tokens of ${name} live ${maxLifetimeSeconds} seconds at most.`)
  const { SignJWT } = await import('jose')
  const iat = Math.floor(Date.now() / 1_000)
  return new SignJWT({ iss, aud, sub, iat, exp: iat + seconds, ...claim })
    .setProtectedHeader({ alg: 'EdDSA', kid: localKeyId, typ: 'JWT' })
    .sign(await localKey(localKeyFile(dataDir)))
}

async function localKey(file: string): Promise<JWK> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as JWK
  const { exportJWK, generateKeyPair } = await import('jose')
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: localKeyId, alg: 'EdDSA' }
  writeFileSync(file, JSON.stringify(key), { mode: 0o600, flag: 'wx' })
  return key
}

/** A value as JSON has it; other texts as they are. */
function collectClaim(text: string, before: Claims): Claims {
  const [path, value] = pairIn(text, 'path=value, such as app_metadata.project=abc', { least: 0 })
  return withClaim(before, path.split('.'), valueIn(value))
}

function withClaim(claims: Claims, [name, ...rest]: string[], value: unknown): Claims {
  const below = (claims[name!] ?? {}) as Claims
  return { ...claims, [name!]: rest.length === 0 ? value : withClaim(below, rest, value) }
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
