/**
 * Credentials, known by their own form wherever they stand, in any case of letters (SQL has UPPER and LOWER, and of a token
 * in one case the missing bits are few), and by a word before them.
 */
import { lineEnd } from './fields.ts'
import { keyForm, keyPrefix, refreshPrefix } from './key-forms.ts'
import { isPersonal, kindOf, namesNext } from './names.ts'
import {
  endOf,
  isAt,
  matchAt,
  type PersonalClass,
  replacement,
  space,
  type Span,
  startOf,
  wordStart,
} from './personal-class.ts'
import { mark } from './prefilter.ts'
import { literalText, quotedList, withFurther } from './quoted.ts'

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

// ---- behind a word of a statement or of a command, with a space between: `PASSWORD 'x'`, `--password x`.

/** PostgreSQL: CREATE and ALTER ROLE, USER MAPPING; MySQL and Oracle: IDENTIFIED BY, SET PASSWORD; DuckDB: SECRET. */
const blank = String.raw`(?:\s|\+|\\[nrt]|/\*[^*]{0,99}\*/|--[^\r\n]{0,99}?(?:\n|\\{1,8}n))`
const words = [
  'password',
  'pass(?:wd|phrase)|pwd',
  String.raw`secret(?=${blank}{1,9}\\{0,31}['$])`,
  String.raw`identified${blank}{1,9}(?:with${blank}{1,9}[\w'"\`]{1,64}${blank}{1,9})?(?:by|as)(?:${blank}{1,9}(?:password|values))?`,
]
const calls = [
  // Without a blank, in a statement on a role.
  String.raw`(?<=(?:role|user)${blank}[^'"\`]{1,99})password(?=')`,
  String.raw`set${blank}{1,9}password${blank}{1,9}for${blank}{1,9}[^=;]{1,200}=(?:${blank}{0,9}password${blank}{0,9}\()?`,
  String.raw`(?:password|crypt)${blank}{0,9}\(`,
]
/** Behind a name in a condition: the end of a call, a cast, a collation. */
const called = String.raw`(?:\)|::[\w.]{1,40}(?: varying)?(?:\[\]|\(\d{1,5}\))?|${blank}{1,3}collate${blank}{1,3}\\{0,31}"{0,2}[\w.-]{1,40}\\{0,31}"{0,2})`
/** Before the literal: the beginning of a call, a list or a query. */
const calling = String.raw`(?:(?:\w{1,20}${blank}?)?[([]${blank}{0,9}|(?:binary|select)${blank})`
/** Between a name and a literal: PostgreSQL's SET, conditions of SQL and OData, `set_config('a.token', 'x')`; PHP's serialize(); pairs of a list. */
const settings = [
  String.raw`(?<!similar)${blank}{1,9}(to)${blank}{1,9}`,
  String.raw`${called}{0,6}(?:${blank}{1,9}(?:(?:not${blank}{1,9})?(?:in|i?like|rlike|regexp|similar${blank}to|(between))|is${blank}(?:not${blank})?distinct${blank}from|eq|ne|[gl][te]|[<>]=?)|${blank}{0,9}(?:<>|!=|<=>|=:=|@>|<@|!?~{1,2}\*?|(?<=${called}{1,6}${blank}{0,9})=|=(?=${blank}?\()))${blank}{0,9}${calling}{0,3}`,
  String.raw`(?<=(?:set_config|(?:starts|ends)_?with|contains\w{0,9}|regexp_\w{1,20}|strpos|instr)${blank}{0,9}\([^()]{1,80})${blank}{0,9},${blank}{0,9}`,
  String.raw`;s:\d{1,9}:`,
  String.raw`(?<=["'](?:>>)?|\{\w{2,60})(${blank}{0,9},${blank}{0,9})(?:b|<<)?`,
]

/** Between an option and its value, in a command and as programs and YAML write a list of arguments: `['--token', 'x']`. */
const toValue = [
  String.raw`[ +\t]{1,3}(?:\\\r?\n[ \t]{0,32})?`,
  String.raw`\\{0,31}["']{1,2},?\s{0,3}(?=\\{0,31}["'])`,
  String.raw`(?<=\[[^[\]\r\n]{0,200}),\s{0,3}`,
  String.raw`["']?${lineEnd}\s{0,32}- `,
]

const clause = String.raw`(?:(?:${words.join('|')})${blank}{1,9}|(?:${calls.join('|')})${blank}{0,9})`

export const passwords: PersonalClass[] = [
  {
    name: 'password of a statement',
    marks: mark.literal,
    pattern: new RegExp(String.raw`${startOf(String.raw`\w-`)}${clause}(?=[A-Z&]{0,2}\\{0,31}["'\`$])`, 'gi'),
    part: hit => literalOf(hit.input, endOf(hit), parts),
  },
  {
    // Oracle: `ALTER USER "a" IDENTIFIED BY x`, in a text with a quotation mark.
    name: 'bare password of a statement',
    marks: mark.literal,
    pattern:
      /identified(?<=(?:role|user|to)\s{1,9}\S{1,64}\s{1,9}identified)\s{1,9}by\s{1,9}(?!REDACTED|values\s|password\s)[^\s;"'`$]+/gi,
    part: hit => [hit.index + hit[0].search(/\S+$/), endOf(hit)],
  },
  {
    // `WHERE 'x' = token`
    name: 'literal before a name',
    marks: mark.literal,
    pattern: new RegExp(
      String.raw`'(?<='([^'\r\n]+)')'?(?:::\w{1,40})?${blank}{0,9}(?:=|<>|!=|<=>)${blank}{0,9}(?:\w{1,20}\(|["\`\w]{1,60}\.){0,3}["\`]?([A-Za-z][\w-]{1,59})(?![\w.('=-]|${blank}{0,9}[=:])`,
      'gi',
    ),
    part: hit =>
      isPersonal(kindOf(hit[2]!)) && hit[1] !== replacement ? [hit.index - hit[1]!.length, hit.index] : null,
  },
  {
    name: 'value of an option',
    marks: mark.option,
    pattern: new RegExp(
      String.raw`${startOf(String.raw`\w-`)}--?([A-Za-z][\w./-]{1,60})(?:${toValue.join('|')})(?=[^\s-])`,
      'g',
    ),
    part(hit) {
      if (!isPersonal(kindOf(hit[1]!))) return null
      const start = endOf(hit)
      const bare = matchAt(word, hit.input, start)
      return literalOf(hit.input, start) ?? (bare === null ? null : [start, start + bare.length])
    },
  },
  {
    // It starts at the quotation mark, which is rarer than names.
    name: 'secret of a setting',
    marks: mark.literal,
    pattern: new RegExp(
      String.raw`["'$](?<=([\w.:/-]{1,59}\w)\\{0,31}["'\`]{0,2}(?:\]|>>)?(?:${settings.join('|')})(E?\\{0,31})["'$])`,
      'gi',
    ),
    part({ input, index, ...hit }) {
      if (!isPersonal(kindOf(hit[1]!)) || (hit[2] && !isSet(input, index))) return null
      const start = index - hit[5]!.length
      const literal =
        (hit[3] || hit[4] ? null : quotedList(input, start)) ??
        literalOf(input, start, hit[3] ? limits : undefined)
      if (!hit[4] || !literal) return literal
      const [first, end] = literal
      const isPair = isAt(pairBegins, input, start) && isAt(pairEnds, input, end)
      return namesNext(hit[1]!, input.slice(first, end), isPair) ? literal : null
    },
  },
]

/** A pair stands alone in its brackets or in its line. */
const pairBegins =
  /(?<=(?:(?:^|[[({\r\n]|\\n)\s{0,9}(?:b|<<)?\\{0,31}["']{1,2}[\w.:/-]{2,60}\\{0,31}["']{1,2}(?:>>)?|\{\w{2,60})\s{0,9},\s{0,9}(?:b|<<)?)/y
const pairEnds = /\\{0,31}["']{1,2}(?:>>)?\s{0,9}(?:[)\]}\r\n]|\\[nr]|$)/y

/** `COPY secret TO 'file'` sets nothing. */
function isSet(text: string, at: number): boolean {
  return /(?<![A-Za-z])set(?:\s|[+\\])/i.test(text.slice(Math.max(0, at - 200), at))
}

function literalOf(text: string, at: number, joint?: RegExp): Span | null {
  const literal = literalText(text, at)
  if (!literal || literal[1] <= literal[0]) return null
  return joint ? withFurther(text, literal, joint) : literal
}

/** A literal on several lines, and Oracle's change of a password; both ends of a range. */
const parts = /\\{0,31}["'](?:\s{0,9}(?:\n|\\{1,8}n)\s{0,32}|\s{1,9}replace\s{1,9})(\\{0,31}['"])/iy
const limits = /\\{0,31}["'](?:::\w{1,40})?\s{1,9}and\s{1,9}E?(\\{0,31}['"])/iy

const word = /(?:[^\s"'`;|<>()\\]|\\(?!["'`nrt\\]))+/y
