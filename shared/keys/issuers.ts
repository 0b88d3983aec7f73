/**
 * Identity providers whose tokens are callers: those of the setting JWT_ISSUERS, and those that `lqe issuer add` stores, in the
 * collection `issuers`, by name.
 */
import { ConfigError } from '../config.ts'
import { assertReadable, formats } from '../stores/format.ts'
import { rememberRead } from '../stores/remember-reads.ts'
import type { Fields, Reference, Store } from '../stores/store.ts'
import { isClaimPath } from './claims.ts'
import { KeyError, type Limits, type Right, rights } from './records.ts'

/** Whose tokens are taken, and what they may do. */
interface Issuer extends Limits {
  /** The caller's name in the log and in usage. */
  name: string
  /** The claim `iss`, to the letter. */
  issuer: string
  /** Address of its public keys. */
  jwks: string
  /** One of these is in the claim `aud`. */
  audience: string[]
  /** The claim for each parameter that it fixes: `project: $.app_metadata.project`. */
  pins: Record<string, string>
  /** Names of the endpoints that every token of it opens, or all of them. */
  endpoints: string[] | '*'
  /** Endpoints that the scopes in the claim `scope` or `scp` open beside those. With any, it is an authorization server of `/mcp`. */
  scopes: Record<string, string[]>
  rights: Right[]
  redacted: boolean
  /** From `iat` to `exp`, at most. */
  maxLifetimeSeconds: number
  /** Of web pages that may send its tokens; `null` = of any that may read answers. */
  origins: string[] | null
}

/** An issuer, and all of its fields as text, which tells whether it has changed. */
export interface KnownIssuer extends Issuer {
  text: string
}

export interface Issuers {
  /** Those of JWT_ISSUERS, which documents cannot change. */
  ofSetting: readonly KnownIssuer[]
  all(): Promise<readonly KnownIssuer[]>
  /** The issuer of tokens with this claim `iss`. */
  of(iss: unknown): Promise<KnownIssuer | undefined>
}

/** In one service. */
const most = 100
const collection = 'issuers'

const isList = (of: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.length <= most && value.every(of)
const isMap = (of: (value: unknown) => boolean) => (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(of)
const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)
const isText = matches(/^\P{Cc}{1,300}$/u)
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
const isName = (value: unknown) =>
  matches(/^[a-z][a-z0-9-]{0,39}$/)(value) && !['public', 'warm', 'lqe'].includes(value as string)
const isAddress = (value: unknown) =>
  matches(/^(https:\/\/|http:\/\/([\w-]+|127\.0\.0\.1|\[::1\])[:/])[^\s#]{0,300}$/)(value) &&
  URL.canParse(value as string)
const scopeText = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/ // RFC 6749, 3.3
const isScopes = (value: unknown) =>
  isMap(isList(isText))(value) && Object.keys(value as object).every(matches(scopeText))

type Rule = readonly [accepts: (value: unknown) => boolean, expected: string, whenAbsent?: unknown]

/** Each field: what it takes, in words, and what it is where it is left out. */
const rules: { [field in keyof Issuer]: Rule } = {
  name: [isName, 'small letters, digits and -, 40 at most, and not public, warm or lqe'],
  issuer: [isText, 'the claim iss of its tokens'],
  jwks: [isAddress, 'an address with https; http is for this machine and names without a dot'],
  audience: [
    value => isList(isText)(value) && (value as unknown[]).length > 0,
    'the claim aud of its tokens, or a list',
  ],
  pins: [
    isMap(isClaimPath),
    "a path of a claim for each parameter, such as $.app_metadata.project or $['https://example.com/project'], and not of user_metadata, which users write themselves; {} = no parameter is fixed",
  ],
  endpoints: [value => value === '*' || isList(isText)(value), 'names of endpoints, or *', []],
  scopes: [isScopes, 'names of endpoints for each scope', {}],
  rights: [isList(value => rights.includes(value as Right)), `among ${rights.join(', ')}`, []],
  redacted: [value => typeof value === 'boolean', 'true or false', false],
  callsPerMinute: [value => value === null || isCount(value), 'a number, or null', null],
  bytesPerDay: [value => value === null || isCount(value), 'a number, or null', null],
  maxLifetimeSeconds: [value => isCount(value) && Number(value) <= 31 * 86_400, '1 to 2678400', 3_600],
  origins: [
    value => value === null || isList(matches(/^https?:\/\/[^/\s,]+$/))(value),
    'a list of origins such as https://console.example.com, or null',
    null,
  ],
}

/**
 * An issuer as the setting or a document has it.
 * @throws KeyError that names the field
 */
export function issuerIn(value: unknown): KnownIssuer {
  if (!isMap(() => true)(value)) throw new KeyError('An issuer is a map of its fields.')
  const given = value as Record<string, unknown>
  const { audience } = given
  const all: Record<string, unknown> = { ...given, audience: Array.isArray(audience) ? audience : [audience] }
  const unknown = Object.keys(given).find(field => !Object.hasOwn(rules, field))
  if (unknown !== undefined) throw new KeyError(`There is no field ${unknown} in an issuer.`)
  const entries = Object.entries(rules).map(([field, [accepts, expected, whenAbsent]]: [string, Rule]) => {
    const own = all[field] ?? whenAbsent
    if (!accepts(own)) throw new KeyError(`${field} of an issuer must be ${expected}.`)
    return [field, own]
  })
  const issuer = Object.fromEntries(entries) as Issuer
  if (issuer.endpoints.length === 0 && Object.keys(issuer.scopes).length === 0)
    throw new KeyError('endpoints of an issuer, or its scopes, must name what its tokens may call.')
  if (issuer.redacted && issuer.rights.includes('pii:read'))
    throw new KeyError('rights of an issuer that is redacted cannot have pii:read.')
  return { ...issuer, text: JSON.stringify(entries) }
}

/** @throws ConfigError that names the field */
function issuersOfSetting(list: readonly unknown[]): KnownIssuer[] {
  const issuers = list.map((each, n) => {
    try {
      return issuerIn(each)
    } catch (error) {
      throw new ConfigError(`JWT_ISSUERS[${n}]: ${(error as Error).message}`)
    }
  })
  for (const [n, one] of issuers.entries())
    if (issuers.some((other, m) => m < n && isSame(one, other)))
      throw new ConfigError(`JWT_ISSUERS[${n}]: its name or its issuer is there already`)
  return issuers
}

function isSame(a: Issuer, b: Issuer): boolean {
  return a.name === b.name || a.issuer === b.issuer
}

interface Options {
  jwtIssuers: readonly unknown[]
  rememberMs: number
  clock?: { now(): number }
}

/**
 * All issuers: the setting's, then those documents that are no second one of them. The documents are read as keys are: once in
 * `rememberMs`, and as they were for a while when the store does not answer. One of the setting costs no read.
 * @throws ConfigError; its functions throw ApiError `store_unavailable`
 */
export function openIssuers(store: Store, { jwtIssuers, rememberMs, clock = performance }: Options): Issuers {
  const ofSetting = issuersOfSetting(jwtIssuers)
  const all = rememberRead({
    rememberMs,
    clock,
    unavailable: 'Tokens cannot be checked at the moment.',
    async read() {
      const stored = await storedIssuers(store)
      const others = stored.filter(one => !ofSetting.some(other => isSame(one, other)))
      return { value: [...ofSetting, ...others] }
    },
  })
  const named = (among: readonly KnownIssuer[], iss: unknown) => among.find(({ issuer }) => issuer === iss)
  return { ofSetting, all, of: async iss => named(ofSetting, iss) ?? named(await all(), iss) }
}

/** Documents that are issuers, by name; anything else is left out. @throws StoreError, and ApiError for one of a later version */
export async function storedIssuers(store: Store): Promise<KnownIssuer[]> {
  const { documents } = await store.query({ collection, limit: most })
  return documents
    .flatMap(({ fields }) => issuerOf(fields) ?? [])
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function issuerOf(fields: Fields): KnownIssuer | null {
  assertReadable('issuer', fields, 'An issuer of tokens')
  try {
    return issuerIn(JSON.parse(fields['definition'] as string))
  } catch {
    return null
  }
}

/**
 * Its tokens are taken everywhere within 30 s. One of the same name is replaced.
 * @throws StoreError, or KeyError where another one has its `iss`
 */
export async function addIssuer(store: Store, issuer: KnownIssuer): Promise<void> {
  const stored = await storedIssuers(store)
  const other = stored.find(one => one.issuer === issuer.issuer && one.name !== issuer.name)
  if (other) throw new KeyError(`${other.name} has this issuer already: lqe issuer remove ${other.name}`)
  if (stored.length >= most && !stored.some(({ name }) => name === issuer.name))
    throw new KeyError(`There are ${most} issuers already: remove one.`)
  const { at, fields } = documentOf(issuer)
  await store.batch([{ type: 'replace', at, fields }])
}

/** The reference and the fields of an issuer's document. */
export function documentOf({ text: _, ...issuer }: KnownIssuer): { at: Reference; fields: Fields } {
  return {
    at: { collection, id: issuer.name },
    fields: { format: formats.issuer, definition: JSON.stringify(issuer) },
  }
}

/** Its tokens are refused everywhere within 30 s. @throws StoreError, or KeyError where there is none */
export async function removeIssuer(store: Store, name: string): Promise<void> {
  const at = { collection, id: name }
  if (!isName(name) || !(await store.get(at)).document)
    throw new KeyError('There is no such issuer; lqe issuer list shows them all.')
  await store.remove(at)
}
