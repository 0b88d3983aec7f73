/**
 * Credentials, known by their own form wherever they stand, in any case of letters: SQL has UPPER and LOWER, and of a token in
 * one case the missing bits are few.
 */
import { keyForm, keyPrefix, refreshPrefix } from './key-forms.ts'
import { mark } from './prefilter.ts'
import { isPersonal, kindOf } from './names.ts'
import {
  endOf,
  matchAt,
  type PersonalClass,
  replacement,
  space,
  type Span,
  wordStart,
} from './personal-class.ts'

/** Words that follow `Bearer` in prose, such as `Bearer token` or `Bearer realm="x"`. */
const prose = /^(?:[A-Za-z]?[a-z]{0,19}|REDACTED.*)$/

/** User and password of HTTP's Basic scheme (RFC 7617): by the colon, its credentials differ from `basic settings`. */
function isUserAndPassword(base64: string): boolean {
  const inUtf8 = Buffer.from(base64, 'base64').toString('utf8')
  if (userAndPassword.test(decodeBase64(base64)) || userAndPassword.test(inUtf8)) return true
  const quads = base64.length % 4 === 0 ? base64.match(/.{4}/g)! : []
  const texts = quads.map(quad =>
    inEachCase(quad)
      .map(decodeBase64)
      .filter(text => !/\p{Cc}/u.test(text)),
  )
  return texts.every(some => some.length > 0) && texts.flat().some(text => text.includes(':'))
}
const userAndPassword = /^[^\p{Cc}\ufffd:]*:[^\p{Cc}\ufffd]*$/u

function decodeBase64(base64: string): string {
  return Buffer.from(base64, 'base64').toString('latin1')
}

/** Four characters that were in another case have at most 16 forms. */
function inEachCase(quad: string): string[] {
  const forms = quad
    .split('')
    .map(character => [...new Set([character.toLowerCase(), character.toUpperCase()])])
  return forms.reduce((texts, next) => texts.flatMap(text => next.map(character => text + character)), [''])
}

/** A digit, or more letters than words have, tells a token in another case than its own from `eyjafjallajokull` and `NPM_CONFIG_...`. */
function isToken(text: string, own: RegExp): boolean {
  return own.test(text) || /\d|[A-Za-z]{20}/.test(text)
}

/** Standard Base64 has `+` and `/` too; behind a slash that does not go on with the text, a path does. */
function jsonIn(hit: RegExpExecArray): Span | null {
  const [found, tail = ''] = hit
  const dotted = found.includes('.')
  const goesOn = tail === '' || isText(dotted ? found.replace(/\..*/s, '') : found)
  const further = goesOn && tail.length > 1023 ? (matchAt(furtherTail, hit.input, endOf(hit)) ?? '') : ''
  const json = goesOn ? found + further : found.slice(0, found.indexOf(tail))
  const span: Span = [hit.index, hit.index + json.length]
  if (!anyCase.test(json)) return startOfJson.test(decodeBase64(json)) && isText(json) ? span : null
  const isWhole = json.length >= 12 && !/^eyJ.{0,8}$/.test(json)
  if (!isWhole && !/^\{.*\}$/s.test(decodeBase64(json))) return null
  return isToken(json, ownJson) ? span : null
}
/** What is no text is read in vain, from each of many beginnings: 1 KB tells. */
const furtherTail = /[\w+/-]*={0,2}/y
const ownJson = /^(?:eyJ|eyA[gi]|ewo[giJ]|ewk[iJ]|ew0K)/
/** The other beginnings have a first key that begins with no letter, and must hold JSON as they are. */
const anyCase = /^e(?:yj|ya|w)/i
const startOfJson = /^\{\s*"[^"]*(?:"\s*:|$)/

/** Whether Base64 holds text, but for its last characters: it may have been cut. */
function isText(base64: string): boolean {
  const text = Buffer.from(base64.slice(0, -(base64.length % 4) || undefined), 'base64').toString('utf8')
  return !/[^\P{Cc}\s]|\ufffd(?!.{0,3}$)/u.test(text)
}

/** Up to the bracket that closes them, with pairs inside. */
const valuesOfKey = /(?:[^()\r\n]|\([^()\r\n]{0,80}\)|[()](?!\s|[.,"'\\]|$)){1,1000}/y

/** From the first value of a personal name to the bracket that closes them. */
function valuesOfFilters(filters: string, end: number): Span | null {
  for (const { 0: filter, 1: name, index } of filters.matchAll(filterOf))
    if (isPersonal(kindOf(name!))) {
      const values = filters.slice(index + filter.length).replace(/\)*$/, '')
      const start = end - filters.length + index + filter.length
      return values === replacement || values === '' ? null : [start, start + values.length]
    }
  return null
}
const filterOf = /(?<![\w.-])([\w-]{2,60})(?:\.not)?\.(?:eq|neq|gte?|lte?|i?like|i?match|in|cs|cd)\./g

const ownKey = new RegExp(`^${keyPrefix}`)

export const credentials: PersonalClass[] = [
  {
    // People leave `/`, `?` and `#` in a password as they are; in a URL of the web they begin its other parts.
    name: 'user information of a connection string',
    marks: mark.at,
    // It starts at each `@` and looks back, at most over two more, so that no part is read often; behind a host none is of a password.
    pattern:
      /@(?<=(?<!https?):\/\/((?!REDACTED)[^\s/"'<>:@]*:(?!\d{1,5}[/?])[^\s"'<>@]+(?:@(?![^\s"'<>@]{0,64}:\/\/)[^\s"'<>@=&]{1,64}){0,2})(?<!REDACTED|\/\/)@)/gi,
    part: hit => [hit.index - hit[1]!.length, hit.index],
  },
  {
    // `postgres://user:password@host`, with the user's name; RFC 3986, section 3.2.1.
    name: 'user information of a URL',
    marks: mark.at,
    pattern: /(?<=\/\/|\\\/\\\/)(?!REDACTED)[^\s/"'<>\\?#]+(?<!REDACTED)(?=@)/g,
  },
  {
    // `user:password@tcp(host)`, `@(host)` and `@/database` of Go's MySQL driver, `user/password@//host` and `jdbc:oracle:thin:` of Oracle.
    name: 'user information of a data source',
    marks: mark.at,
    pattern:
      /@(?<=((?<=:(?:thin|oci):)[^\s@/]{1,64}\/[^\s@]{1,256}|(?<![\w.$#-])[\w.$#-]{1,64}(?:[:/][^\s@"'<>]{1,256}(?=@\/\/)|:[^\s"'<>]{1,256}(?=@(?:\w{0,16}\(|\/[\w-]))))@)/gi,
    part: hit => (hit[1]!.endsWith('REDACTED') ? null : [hit.index - hit[1]!.length, hit.index]),
  },
  {
    // RFC 7519, and any other JSON object in Base64, as cookies and page tokens have it; one cut short as well. After its
    // brace a quotation mark stands, or a blank, a tab or a line end.
    name: 'JWT',
    marks: mark.credential,
    pattern: new RegExp(
      String.raw`(?:ey[I-L]|eyA[gi]|ewo[giJ]|ewk[iJ]|ew0K)(?<=${wordStart}e...?)[\w-]{5,}(?:=+|([+/][\w+/-]{0,1023}={0,2}))?(?:\.{1,2}[\w-]+){0,4}`,
      'gi',
    ),
    part: jsonIn,
  },
  {
    // PostgreSQL's detail of a constraint: `Key (id, token)=(12, abc) already exists.`; PostgREST's `?or=(phone.eq.1,a.eq.2)`.
    name: 'values in brackets',
    marks: mark.assignment,
    pattern:
      /=\((?:(?<=\(((?:[^()\r\n]|\([^()\r\n]{0,80}\)){1,200})\)=\()|(?<=(?:and|or)=\()([^\s&"'\\]{4,999}))/g,
    part(hit) {
      const [, named = '', filters] = hit
      if (filters !== undefined) return valuesOfFilters(filters, endOf(hit))
      if (!named.match(/[\w-]+/g)?.some(name => isPersonal(kindOf(name)))) return null
      const start = endOf(hit)
      const values = matchAt(valuesOfKey, hit.input, start) ?? ''
      return values === '' || values === replacement ? null : [start, start + values.length]
    },
  },
  {
    name: 'API key',
    marks: mark.credential,
    pattern: new RegExp(
      `(?=${keyPrefix}|${refreshPrefix})${wordStart}(?:${keyForm}|${refreshPrefix}[\\w-]{20,})`,
      'gi',
    ),
    part: hit => (isToken(hit[0], ownKey) ? [hit.index, endOf(hit)] : null),
  },
  {
    // RFC 6750, section 2.1.
    name: 'bearer token',
    marks: mark.credential,
    pattern: new RegExp(
      String.raw`${wordStart}bearer${space}{1,4}(?:\\{0,31}["'])?(?=([.~+/-]{0,9}\w[\w.~+/|-]*(?:={1,2}(?!["=\w])|(?![=\w]))))`,
      'gi',
    ),
    part: hit => (prose.test(hit[1]!) ? null : [endOf(hit), endOf(hit) + hit[1]!.length]),
  },
  {
    name: 'Basic credentials',
    marks: mark.credential,
    pattern: new RegExp(String.raw`${wordStart}basic${space}{1,4}([\w+/-]{4,}={0,2})`, 'gi'),
    part: hit => (isUserAndPassword(hit[1]!) ? [endOf(hit) - hit[1]!.length, endOf(hit)] : null),
  },
  {
    // RFC 7468, of PGP RFC 9580 and of SSH2 RFC 4716, whole or cut short.
    name: 'private key',
    marks: mark.option,
    pattern:
      /----(?:-| )BEGIN[A-Z\d +]{1,31}PRIVATE[ +]KEY(?:[ +]BLOCK)?(?:-| )----[^]*?(?:----(?:-| )END[A-Z\d +]{1,31}PRIVATE[ +]KEY(?:[ +]BLOCK)?(?:-| )----|$)/gi,
  },
]
