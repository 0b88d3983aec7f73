/**
 * Names of headers and fields whose value is personal in any form: an opaque session cookie has no form of its own, and
 * no pattern finds a host name in the place of a client's address.
 */

import { decode, hasAlike } from './escapes.ts'

/** The kind of value under a name; for personal ones, how the value is written in running text. */
export type NameKind =
  /** Not known to be personal. */
  | 'other'
  /** Up to the end of the line: `cookie: a=b; c=d`. */
  | 'line'
  /** Any one word: a password may be an ordinary one. */
  | 'secret'
  /** One word that is not prose, as that in `Invalid token: expired` is. */
  | 'datum'
  /** A version: there `1.2.3.4` is no address. */
  | 'version'
  /** An id: a number in it is not a card's, even if its check digit is right. */
  | 'id'
  /** Computed from stored numbers by a caller's SQL, under a name that it gives: shown in part. */
  | 'number'

/**
 * The last words of a name decide, so that `x-amz-security-token` and `userEmail` are known, but not `token_type`,
 * `email_confirmed_at` or `session_id`. A hyphen stands for any way to join words, or none.
 */
export const names: Record<Exclude<NameKind, 'other' | 'number'>, string> = {
  line: 'authorization cookie cookie2 digest-auth stripe-signature',
  secret:
    'auth-pw cvc cvv db-pass key-pass mysql-pass pass-code pass-phrase pass-word passwd pgpassword private-lines psk pw pwd redis-pass requirepass secret secret-string smtp-pass store-pass user-pass',
  datum: [
    'access-key account-key anon-key api-key app-key auth-key encryption-key functions-key hmac-key master-key pass private-key secret-key secret-key-base service-key',
    'service-role-key shared-access-key shared-access-signature signing-key ssh-key subscription-key',
    'amz-credential amz-signature goog-credential goog-signature auth-code credential otp otp-code sig signature totp',
    'access-token auth-token bearer id-token jwt jwt-assertion refresh-token session-key token token-hash',
    'client-principal oidc-data oidc-identity user-info',
    'client-ip connecting-ip ip ip-addr ip-address peer-ip real-ip remote-ip source-ip src-ip user-ip',
    'client-addr client-address client-host connection-from forwarded forwarded-for peer-addr peer-address',
    'remote-addr remote-address remote-host',
    'e-mail e-mail-address fax mail mobile mobile-number msisdn phone phone-no phone-number tel telephone',
    'bssid mac-addr mac-address',
    'bsn card-no card-number credit-card iban national-id passport-number social-security-number ssn',
  ].join(' '),
  version: 'build release ver version',
  id: 'blk block bytes guid id ids lsn nonce offset seq size span trace txn uuid xid',
}

/**
 * `PublicKeyToken=b77a5c561934e089` is a part of the name of a .NET assembly, and anybody's to know; `max_tokens` and the
 * like count.
 */
const notPersonal =
  '(?:card|pan)-?ids?|(?:is|ua)-mobile|public-?key-?token|(?:cached?|completion|context|generated|input|max|min|new|num|output|prompt|reasoning|remaining|response|stop|total|used)-tokens'

/** What a personal name may end in: `password_confirmation`, `password2`, `phone_numbers`. */
const further =
  '(?:(?<=address|fax)es|s)?(?:-?confirm(?:ation)?)?(?:-?value)?(?:-?\\d{1,3})?(?:-(?:encrypted|hashed|new|old|plain|raw))?'

const kinds: [RegExp, NameKind][] = [
  [new RegExp(`(?:^|-)(?:${notPersonal})$`), 'other'],
  ...(Object.keys(names) as (keyof typeof names)[]).map((kind): [RegExp, NameKind] => [
    new RegExp(
      `(?:^|-)(?:${names[kind].replaceAll('-', '-?').replaceAll(' ', '|')})${kind === 'version' || kind === 'id' ? '' : further}$`,
    ),
    kind,
  ]),
  // Words that are often run together with those before them: `csrftoken`, `dbpassword`, `clientsecret`.
  [/(?:passw(?:or)?d|passphrase|secret)(?:-?\d{1,3})?$/, 'secret'],
  [/(?:token|api-?key|cookie)s?(?:-?\d{1,3})?$/, 'datum'],
]

/** The names of lists of addresses, a hop each. */
export const hops = /forwarded(?:[-_]?for)?$/i

/** Below a personal name, what describes the value and does not hold it. */
const describing =
  /^(?:algorithm|count|default-?mode|errors?|(?:expires|issued)-?(?:at|in)|format|hash|ignore-?above|invalid|issuer|key-?id|kind|(?:max-?|min-?)?length|name|prefix|role|secret-?name|session-?id|signature-?prefix|status|subject|token-?type|type|valid|verified)$/

/** Whether a record or a list under a name of a personal kind says something of the value under `name`, as `token.type`. */
export function describes(name: string, above: NameKind): boolean {
  const words = wordsOf(name)
  return describing.test(words) && !(above === 'secret' && /^(?:hash|.*prefix|subject)$/.test(words))
}

/** Whether a name in the plural counts things. */
export function isCounting(name: string): boolean {
  return counting.test(wordsOf(name))
}

/** Whether a number is one of those: `tokens: 1532`, `tokens=1.5k`, `pass: 99.5%`, `passwords: 3`. */
export function isCount(name: string, digits: string, kind: NameKind = 'datum'): boolean {
  return (kind === 'secret' ? countOfSecrets : count).test(digits) && isCounting(name)
}
/** A name whose record counts by its parts: `{"tokens":{"input":1200}}`. */
export const countsParts = /tokens$/i
const countOfSecrets = /^\d{1,3}$/
const count = /^(?:\d{1,7}|\d{1,3}(?:,\d{3}){1,3})(?:\.\d{1,3})?(?:[kKM%]|[mun]?s)?(?:\/\d{1,7})?[.,]?$/
/** Plurals that hold the data itself, such as `codes` and `ssns`, count nothing. */
const counting = /(?:^|-)pass$|[^s]s$(?<!(?:cvc|cvv|code|number|otp|ssn)s)/

/** Whether values under a name of this kind are personal in any form. */
export function isPersonal(kind: NameKind): boolean {
  return kind === 'line' || kind === 'secret' || kind === 'datum'
}

/**
 * Whether a personal name in a list is that of the next element, `["Cookie", "a=b"]`: that of a header, or of a pair. A word that lists
 * of names of headers or columns have is no value.
 */
export function namesNext(name: string, element: string, isPair = false): boolean {
  if (!isPair && kindOf(name) !== 'line' && !/^x-/i.test(name)) return false
  return (
    !/^[A-Za-z-]*$/.test(element) ||
    !(element === '' || isListed.test(element) || kindOf(element) !== 'other')
  )
}
const isListed =
  /^(?:(?:[a-z]{1,30}-){1,5}[a-z]{1,30}|accept|age|allow|connection|date|etag|expect|from|host|[a-z]*id|link|location|[a-z]*name|origin|pragma|range|referer|role|server|status|te|trailer|type|upgrade|user|value|vary|via)$/i

/** @param name in any case and joining: `X-Real-IP`, `x_real_ip`, `xRealIp`, `xREALip` */
export function kindOf(name: string): NameKind {
  const known = knownNames.get(name)
  if (known !== undefined) return known
  const kind = kindOfWords(wordsOf(name)) ?? kindOfWords(wordsOf(name.toLowerCase())) ?? 'other'
  if (knownNames.size >= mostNames) knownNames.clear()
  knownNames.set(name, kind)
  return kind
}

function kindOfWords(words: string): NameKind | undefined {
  return kinds.find(([pattern]) => pattern.test(words))?.[1]
}

/** Field names recur in every row. A plain Map: an LRU cache made the redaction of log rows 8 % slower. */
const knownNames = new Map<string, NameKind>()
const mostNames = 4096

/** Only the end of a long name counts. */
function wordsOf(name: string): string {
  return (hasAlike(name) ? decode(name) : name)
    .slice(-64)
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/-$/, '')
}
