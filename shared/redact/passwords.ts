/** Secrets that a word of a statement or of a command names, with a space between: `PASSWORD 'x'`, `--password x`. */
import { isPersonal, kindOf } from './names.ts'
import { endOf, type PersonalClass, type Span, startOf } from './personal-class.ts'
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
      String.raw`${startOf(String.raw`\w-`)}--([A-Za-z][\w-]{2,60})[ +]{1,3}(?=[^\s-])`,
      'g',
    ),
    part(hit) {
      const kind = kindOf(hit[1]!)
      if (kind !== 'secret' && kind !== 'datum') return null
      const start = endOf(hit)
      return literalOf(hit.input, start) ?? wordAt(hit.input, start)
    },
  },
  {
    // PostgreSQL: `SET app.token TO 'x'`, `set_config('app.token', 'x')`, `WHERE token IN ('x', 'y')`.
    name: 'secret of a setting',
    marks: mark.statement,
    pattern: new RegExp(
      String.raw`['$](?<=([\w-]{2,60})\\{0,31}["']{0,2}(?:${blank}{1,9}to${blank}{1,9}|(?<=set_config${blank}{0,9}\([^()]{1,80})${blank}{0,9},${blank}{0,9}|${blank}{1,9}in${blank}{0,9}(\()${blank}{0,9})(E?\\{0,31})['$])`,
      'gi',
    ),
    part(hit) {
      if (!isPersonal(kindOf(hit[1]!))) return null
      // `COPY secret TO 'file'`
      if (
        !hit[2] &&
        !/(?<![A-Za-z])set[\s_+\\]/i.test(hit.input.slice(Math.max(0, hit.index - 200), hit.index))
      )
        return null
      const start = hit.index - hit[3]!.length
      return (hit[2] && quotedList(hit.input, start)) || literalOf(hit.input, start)
    },
  },
]

function literalOf(text: string, at: number): Span | null {
  const literal = literalText(text, at)
  return literal && literal[1] > literal[0] ? literal : null
}

function wordAt(text: string, at: number): Span | null {
  word.lastIndex = at
  const found = word.exec(text)?.[0] ?? ''
  return found === '' ? null : [at, at + found.length]
}
const word = /(?:[^\s"'`;|<>()\\]|\\(?!["'`nrt\\]))+/y
