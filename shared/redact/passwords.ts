/** Secrets that a word of a statement or of a command names, with a space between: `PASSWORD 'x'`, `--password x`. */
import { lineEnd } from './fields.ts'
import { isPersonal, kindOf, namesNext } from './names.ts'
import { endOf, isAt, matchAt, type PersonalClass, type Span, startOf } from './personal-class.ts'
import { mark } from './prefilter.ts'
import { literalText, quotedList } from './quoted.ts'

/** PostgreSQL: CREATE and ALTER ROLE, USER MAPPING; MySQL and Oracle: IDENTIFIED BY, SET PASSWORD; DuckDB: SECRET. */
const blank = String.raw`(?:\s|\+|\\[nrt])`
const words = [
  'password',
  'pass(?:wd|phrase)|pwd',
  String.raw`secret(?=${blank}{1,9}\\{0,31}['$])`,
  String.raw`identified${blank}{1,9}(?:with${blank}{1,9}[\w'"\`]{1,64}${blank}{1,9})?(?:by|as)(?:${blank}{1,9}password)?`,
]
const calls = [
  String.raw`set${blank}{1,9}password${blank}{1,9}for${blank}{1,9}[^=;]{1,200}=(?:${blank}{0,9}password${blank}{0,9}\()?`,
  String.raw`(?:password|crypt)${blank}{0,9}\(`,
]
/** Between a name and a literal: PostgreSQL's SET, conditions and `set_config('a.token', 'x')`; PHP's serialize(); pairs of a list. */
const settings = [
  String.raw`${blank}{1,9}(to)${blank}{1,9}`,
  String.raw`${blank}{1,9}i?like${blank}{1,9}`,
  String.raw`${blank}{0,9}(?:<>|!=|!?~{1,2}\*?)${blank}{0,9}`,
  String.raw`${blank}{1,9}in${blank}{0,9}(\()${blank}{0,9}`,
  String.raw`(?<=set_config${blank}{0,9}\([^()]{1,80})${blank}{0,9},${blank}{0,9}`,
  String.raw`;s:\d{1,9}:`,
  String.raw`(?<=["'])(${blank}{0,9},${blank}{0,9})b?`,
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
    marks: mark.statement,
    pattern: new RegExp(String.raw`${startOf(String.raw`\w-`)}${clause}(?=[A-Z&]{0,2}\\{0,31}["'\`$])`, 'gi'),
    part: hit => literalOf(hit.input, endOf(hit)),
  },
  {
    name: 'value of an option',
    marks: mark.option,
    pattern: new RegExp(
      String.raw`${startOf(String.raw`\w-`)}--([A-Za-z][\w-]{2,60})(?:${toValue.join('|')})(?=[^\s-])`,
      'g',
    ),
    part(hit) {
      const kind = kindOf(hit[1]!)
      if (kind !== 'secret' && kind !== 'datum') return null
      const start = endOf(hit)
      const bare = matchAt(word, hit.input, start)
      return literalOf(hit.input, start) ?? (bare === null ? null : [start, start + bare.length])
    },
  },
  {
    // It starts at the quotation mark, which is rarer than names.
    name: 'secret of a setting',
    marks: mark.statement,
    pattern: new RegExp(
      String.raw`["'$](?<=([\w-]{2,60})\\{0,31}["']{0,2}(?:${settings.join('|')})(E?\\{0,31})["'$])`,
      'gi',
    ),
    part({ input, index, ...hit }) {
      if (!isPersonal(kindOf(hit[1]!)) || (hit[2] && !isSet(input, index))) return null
      const start = index - hit[5]!.length
      const literal = (hit[3] && quotedList(input, start)) || literalOf(input, start)
      if (!hit[4] || !literal) return literal
      const [first, end] = literal
      const isPair = isAt(pairBegins, input, start) && isAt(pairEnds, input, end)
      return namesNext(hit[1]!, input.slice(first, end), isPair) ? literal : null
    },
  },
]

/** A pair stands alone in its brackets or in its line. */
const pairBegins = /(?<=(?:^|[[({\r\n]|\\n)\s{0,9}b?\\{0,31}["'][\w-]{2,60}\\{0,31}["']\s{0,9},\s{0,9}b?)/y
const pairEnds = /\\{0,31}["']\s{0,9}(?:[)\]}\r\n]|\\[nr]|$)/y

/** `COPY secret TO 'file'` sets nothing. */
function isSet(text: string, at: number): boolean {
  return /(?<![A-Za-z])set(?:\s|[+\\])/i.test(text.slice(Math.max(0, at - 200), at))
}

function literalOf(text: string, at: number): Span | null {
  const literal = literalText(text, at)
  return literal && literal[1] > literal[0] ? literal : null
}

const word = /(?:[^\s"'`;|<>()\\]|\\(?!["'`nrt\\]))+/y
