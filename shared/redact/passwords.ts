/** Secrets that a word of a statement or of a command names, with a space between: `PASSWORD 'x'`, `--password x`. */
import { lineEnd } from './fields.ts'
import { isPersonal, kindOf, namesNext } from './names.ts'
import {
  endOf,
  isAt,
  matchAt,
  type PersonalClass,
  replacement,
  type Span,
  startOf,
} from './personal-class.ts'
import { mark } from './prefilter.ts'
import { literalText, quotedList, withFurther } from './quoted.ts'

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
