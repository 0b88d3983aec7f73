/**
 * Credentials, known by their own form wherever they stand, in any case of letters: SQL has UPPER and LOWER, and of a token in
 * one case the missing bits are few.
 */
import { keyForm, keyPrefix } from './key-forms.ts'
import { mark } from './prefilter.ts'
import { endOf, lastGroup, type PersonalClass, space, wordStart } from './personal-class.ts'

/** Words that follow `Bearer` in prose, such as `Bearer token` or `Bearer realm="x"`. */
const prose = /^(?:[A-Za-z]?[a-z]{0,19}|REDACTED.*)$/

/** User and password of HTTP's Basic scheme (RFC 7617): by the colon, its credentials differ from `basic settings`. */
function isUserAndPassword(base64: string): boolean {
  if (userAndPassword.test(decoded(base64))) return true
  const quads = base64.length % 4 === 0 ? base64.match(/.{4}/g)! : []
  const texts = quads.map(quad =>
    inEachCase(quad)
      .map(decoded)
      .filter(text => !/\p{Cc}/u.test(text)),
  )
  return texts.every(some => some.length > 0) && texts.flat().some(text => text.includes(':'))
}
const userAndPassword = /^[^\p{Cc}:]*:\P{Cc}*$/u

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1')
}

/** Four characters that were in another case have at most 16 forms. */
function inEachCase(quad: string): string[] {
  const forms = quad
    .split('')
    .map(character => [...new Set([character.toLowerCase(), character.toUpperCase()])])
  return forms.reduce((texts, next) => texts.flatMap(text => next.map(character => text + character)), [''])
}

/** A digit tells a token in another case than its own from words such as `eyjafjallajokull` and `NPM_CONFIG_...`. */
function isToken(text: string, own: RegExp): boolean {
  return own.test(text) || /\d/.test(text)
}

const ownKey = new RegExp(`^${keyPrefix}`)

export const credentials: PersonalClass[] = [
  {
    // `postgres://user:password@host`, with the user's name; RFC 3986, section 3.2.1.
    name: 'user information of a URL',
    marks: mark.at,
    pattern: /(?<=\/\/|\\\/\\\/)(?!REDACTED)[^\s/"'<>\\?#]+(?<!REDACTED)(?=@)/g,
  },
  {
    // People leave `/`, `?` and `#` in a password as they are; in a URL of the web they begin its other parts.
    name: 'user information of a connection string',
    marks: mark.at,
    // It starts at the `@` and looks back, at most to the one before, so that no part is read twice.
    pattern: /@(?<=(?<!https?):\/\/((?!REDACTED)[^\s/"'<>:@]*:(?!\d{1,5}[/?])[^\s"'<>@]+)(?<!REDACTED)@)/gi,
    part: hit => [hit.index - hit[1]!.length, hit.index],
  },
  {
    // `user:password@tcp(host)` of Go's MySQL driver, `user/password@//host` and `jdbc:oracle:thin:` of Oracle.
    name: 'user information of a data source',
    marks: mark.at,
    pattern:
      /@(?<=((?<=:(?:thin|oci):)[^\s@/]{1,64}\/[^\s@]{1,256}|(?<![\w.$#-])[\w.$#-]{1,64}[:/][^\s@"'<>]{1,256}(?=@(?:\/\/|(?:tcp|udp|unix)\d?\()))@)/gi,
    part: hit => (hit[1]!.endsWith('REDACTED') ? null : [hit.index - hit[1]!.length, hit.index]),
  },
  {
    // RFC 7519, and any other JSON object in Base64, as cookies and page tokens have it; one cut short as well.
    name: 'JWT',
    marks: mark.credential,
    pattern: new RegExp(String.raw`eyJ(?<=${wordStart}eyJ)[\w-]{9,}=*(?:\.{1,2}[\w-]+){0,4}`, 'gi'),
    part: hit => (isToken(hit[0], /^eyJ/) ? [hit.index, endOf(hit)] : null),
  },
  {
    name: 'API key',
    marks: mark.credential,
    pattern: new RegExp(`(?=${keyPrefix})${wordStart}${keyForm}`, 'gi'),
    part: hit => (isToken(hit[0], ownKey) ? [hit.index, endOf(hit)] : null),
  },
  {
    // RFC 6750, section 2.1.
    name: 'bearer token',
    marks: mark.credential,
    pattern: new RegExp(
      String.raw`${wordStart}bearer${space}{1,4}(?=([.~+/-]{0,9}\w[\w.~+/-]*(?:={1,2}(?!["=\w])|(?![=\w]))))`,
      'gi',
    ),
    part: hit => (prose.test(hit[1]!) ? null : [endOf(hit), endOf(hit) + hit[1]!.length]),
  },
  {
    name: 'Basic credentials',
    marks: mark.credential,
    pattern: new RegExp(String.raw`${wordStart}basic${space}{1,4}([\w+/-]{4,}={0,2})`, 'gi'),
    part: hit => (isUserAndPassword(hit[1]!) ? lastGroup(hit) : null),
  },
  {
    // RFC 7468 and, of PGP, RFC 9580, whole or cut short.
    name: 'private key',
    marks: mark.option,
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)/gi,
  },
]
