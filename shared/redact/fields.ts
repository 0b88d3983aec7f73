/**
 * Named values in running text: header dumps, query strings, connection strings, log lines, and JSON, CSV or SQL in a
 * string. The name decides that the value is personal; its quotation marks and the patterns here decide where it ends.
 */
import { mark } from './prefilter.ts'
import { escape } from './escapes.ts'
import { endOf, isAt, matchAt, type PersonalClass, type Span, type Steps } from './personal-class.ts'
import { countsParts, describes, hops, isCount, isPersonal, kindOf, type NameKind } from './names.ts'
import { closingQuote, literalText, quotedList, quoteMark, withFurther } from './quoted.ts'

/** Two colons only before a blank, as LDIF has it. */
const assignment = '(?:(?<!:):(?!:(?![: ])|\\/\\/)|=)'
/** Of a record or a list. */
const member = String.raw`(?:\.(?:\d{1,2}|value))?`
const name = String.raw`(?:(?<![\w-])|(?<=${escape}))(?:[\w-]{2,100}?|[\w-](?=\[))${member}`

/** The groups of an IPv6 address and the parts of a time are no names. */
const notOfAddress = '(?<!:[0-9A-Fa-f]{1,4}(?=:))'

/** Between a sign and its value; a line ends there only where the next one is indented, as in YAML: `password: |`. */
export const lineEnd = String.raw`(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)`
const gap = String.raw`(?:[^\S\r\n]|\\{1,8}t){0,32}(?:(?<=: {1,32})(?:!{1,2}[\w:/.-]{1,40} |&\w{1,40} |#[^\r\n]{0,99}(?=\r?\n)))?(?:(?:[|>][-+]?|\\)?${lineEnd}(?:[ \t]{1,32}(?:- )?|- ))?`
/** The further elements of such a list. */
const elements = new RegExp(
  String.raw`["']?(?:${lineEnd}[ \t]{0,32}- (\\{0,31}["']|)[^\r\n\\"]{1,200}\1)+`,
  'y',
)

/** `[0]`, `[]` and `[name]` behind a name. */
const brackets = String.raw`((?:\[["']?[\w-]{0,60}["']?\]|:(?:encrypted|hashed|plain|raw)){0,4})${member}`
/** PHP prints `["name":"App\User":private]=>`; Erlang has `<<"name">> =>`. */
const qualifier = String.raw`(?:>>|(?::\\{0,31}"{0,2}[\w\\]{1,80}?\\{0,31}"{0,2})?:(?:private|protected))?`

/** `name=`, `name: `, `"name":`, `:name => `, `user[name]=`, `name[]=`: found by the sign behind the name, which is rarer than words. */
export const field: PersonalClass = {
  name: 'value of a personal name',
  marks: mark.assignment,
  pattern: new RegExp(
    String.raw`${notOfAddress}${assignment}(?<=(["'\`?&])?(${name})${brackets}(${quoteMark})?${qualifier}\]??(?:\s|\\{1,8}t){0,32}(?:[?+]|\|\||\\{0,8})(${assignment}))(?:==?|>|:(?= ))?(?:(?<=${quoteMark}\s{0,32}${assignment}(?:==?|>)?)(?:\s|${lineEnd}){0,32}|(${gap}))`,
    'g',
  ),
  part(hit, steps) {
    const [, before, named, inBrackets, after, sign, gap] = hit
    const { input, index } = hit
    const kind = kindOfName(named!, inBrackets!) ?? kindWithBefore(input, named!, index)
    if (kind === undefined || isNoName(input, named!, index, after)) return null
    const at = endOf(hit)
    if (sign === ':' && isAt(qualified, input, at)) return null
    if (named === 'PWD' && isAt(directory, input, at)) return null
    if (
      isAt(noValue, input, at) ||
      (!hops.test(named!) && isAt(sign === ':' ? statement : constant, input, at))
    )
      return null
    const block = matchAt(/lines$/i.test(named!) ? keyLines : scalarLines, input, at)
    if (block) return [at, at + block.length]
    const record = recordBelow(hit, named!, kind, steps)
    if (record) return record
    if (gap && isAt(sign === '=' ? assigned : titled, input, at) && !isValueNamed(hit, kind)) return null
    const value = valueAt(input, at, {
      name: named!,
      kind,
      before,
      after,
      sign: sign!,
      steps,
    })
    const isFirst = value && gap?.endsWith('- ') && isAt(elements, input, value[1])
    return isFirst ? [at, elements.lastIndex] : value
  },
}

/** Of `user[token]`, too. */
function kindOfName(name: string, inBrackets: string): NameKind | undefined {
  const kind = kindOf(name)
  if (isPersonal(kind)) return kind
  return inBrackets === '' ? undefined : inBrackets.split(/\W+/).map(kindOf).find(isPersonal)
}

/** Of `\token` in a path of Windows, and of words that only those before them make a name: `AWS Secret Access Key`, `fs.s3a.secret.key`. */
function kindWithBefore(text: string, name: string, sign: number): NameKind | undefined {
  const at = text.lastIndexOf(name, sign)
  const isEscape = text.charAt(at - 2) === '\\' && /[nrtbfv]/.test(text.charAt(at - 1))
  if (!isEscape && text.charAt(at - 1) !== '.' && !lastWord.test(name)) return undefined
  const before = isEscape ? text.charAt(at - 1) : wordsBefore.exec(text.slice(Math.max(0, at - 48), at))?.[0]
  return [kindOf((before ?? '') + name)].find(isPersonal)
}

/** `https://x-access-token:...@host` and `/etc/passwd: ...` */
function isNoName(text: string, name: string, sign: number, after?: string): boolean {
  if (/^pass$/i.test(name) && after === undefined && isAt(stage, text, sign) && !isAt(userBefore, text, sign))
    return true
  const before = text.slice(0, text.lastIndexOf(name, sign))
  return before.endsWith('/etc/') || (before.endsWith('//') && isAt(hostAfter, text, sign))
}
const hostAfter = /[:=][^\s/"'<>@]{1,256}@/y
/** Results and stages pass: `--- PASS: TestLogin`; a password has a user before it. */
const stage = /:\s{1,9}(?!\\{0,31}["'`])/y
const userBefore = /(?<=(?:user|login|db|host)\w{0,10}["']?\s?[:=][^:=]{1,80}pass)/iy
const lastWord = /^(?:address|code|key|number|phrase|signature|string)s?$/i
const wordsBefore = /(?:(?<![\w-])[A-Za-z-]{1,20}[ .]){1,2}$/

/** In place of a value: what a shell, a template or a formatter fills in, and what a program writes for none. */
const noValue =
  /(?:\$\{(?:env:)?[\w.]{1,64}\}|\$\((?:cat |<)?[\w./~$-]{1,200}\)|\$?\{\{-?\s{0,9}[\w.$-]{1,80}\s{0,9}-?\}\}|["'[]?(?:\[?(?:FILTERED|MASKED|PROTECTED)\]?|%[sdv]|-)["'\]]?)(?![^\s"'`,;)\]}&])/y
/** What is filled in with more than a name: `${TOKEN:-abc}`, `$(printf abc)`, `{{ .token | default "abc" }}`. */
const filledIn = /(?:\$\{[^{}\n]{1,200}\}|\$\([^)\n]{1,200}\)|\$?\{\{[^{}\n]{1,200}\}\})[^\s"'`,;&]{0,200}/y
/** In place of one, what is said of it: `password: This field is required.`, `Cookie: not set`, `sig=SIGTERM`. */
const statement =
  /(?:(?:[Tt]his|[Tt]he) (?:field|value|password)|(?:[Mm]ust|[Ss]hould|[Cc]annot|[Mm]ay not) (?:be|have|contain|match|include)|(?:[Ii]s|[Nn]ot|[Ff]ailed|[Tt]oo|[Mm]issing) [a-z]{2,20}(?![^\s.,;:!)])|(?:not set|unset|unknown|missing|required|expired|denied|granted|disabled|enabled)\.?(?=[\s,;)"'<]|$))/y
const constant = /(?:SIG[A-Z]{2,6}|unknown)(?![\w.@:/-])/y
/** An empty value, and the next name: `token= dur=12ms`, `Email:  Phone: 0612345678`. */
const assigned = /[A-Za-z_][\w.-]{0,60}=(?!=|\s|$)/y
const titled = /[A-Za-z][A-Za-z_-]{0,60}:[^\S\r\n]/y

/** What stands between a name and its sign: `["password":protected]=>`. */
const qualified =
  /(?:\\{0,31}"{0,2}[\w\\]{1,80}\\{0,31}"{0,2}:)?(?:private|protected)\]\s?=|(?:encrypted|hashed|plain|raw)\\{0,31}["']/y

/** The same form has a value behind a sign with blanks around, `token = abc=x`, of a header, and of a secret, `password: Abc: x`. */
function isValueNamed({ input, index, 5: sign, 6: gap = '' }: RegExpExecArray, kind: NameKind): boolean {
  if (kind === 'line' || /\s/.test(input.charAt(index - 1))) return true
  const next = matchAt(nextName, input, index + 1 + gap.length) ?? ''
  return kind === 'secret' && sign === ':' && /^[ \t]+$/.test(gap) && !isPersonal(kindOf(next))
}
const nextName = /[\w-]+/y

/** A record of YAML on the lines below a name, that are indented deeper than its own. */
function recordBelow(hit: RegExpExecArray, named: string, kind: NameKind, steps: Steps): Span | null {
  const at = endOf(hit)
  recordLines.lastIndex = at
  const [lines = '', indent = ''] = steps.left < 0 ? [] : (recordLines.exec(hit.input) ?? [])
  if (lines === '') return null
  steps.left -= lines.length
  lineStart.lastIndex = hit.index
  if (indent.length <= (lineStart.exec(hit.input)?.[1]!.length ?? 0)) return null
  const holds = Array.from(lines.matchAll(ofRecord)).some(
    ([, name, part]) =>
      !placeholder.test(part!) &&
      !describes(name!, kind) &&
      !(countsParts.test(named) && isCount(named, part!)),
  )
  return holds ? [at, at + lines.length] : null
}
const keyInBlock = String.raw`\\{0,31}["']?([\w.-]{1,60})\\{0,31}["']?:`
/** A key of it and its value. */
const ofRecord = new RegExp(String.raw`${keyInBlock}[ \t]{1,9}([^\s\\]+)`, 'g')
/** The indentation of the line. */
const lineStart = new RegExp(String.raw`(?<=(?:^|${lineEnd})([ \t]{0,32}(?:- )?)[^\r\n]{0,200}?)`, 'y')

interface Naming {
  name: string
  kind: NameKind
  /** The quotation mark before the name, with or without one after it, or the sign of a query string. */
  before: string | undefined
  after: string | undefined
  sign: string
  steps: Steps
}

/** A shell's working directory, `PWD=/home/app`; ODBC has its password under that name. */
const directory = /\\{0,31}["']?(?:[/~]|\.\/|[A-Za-z]:\\)/y

function valueAt(text: string, at: number, naming: Naming): Span | null {
  const isLine = naming.kind === 'line'
  const printed = matchAt(printedArray, text, at)
  const array = printed && recordAt(text, at + printed.length, naming)
  if (array) return [at, array[1]]
  if (isLine && /[{[]/.test(text.charAt(at)))
    return typedAt(text, at, naming) ?? lineAfter(text, recordAt(text, at, naming), naming)
  const list = /[[(]/.test(text.charAt(at)) ? quotedList(text, at + 1, naming.after) : null
  if (list && !goesOn.test(text.slice(list[1], list[1] + 64))) return list
  const literal = literalText(text, at, naming.after)
  const isHops = hops.test(naming.name) && naming.after === undefined
  if (isLine && literal && !isAt(closed, text, literal[1]))
    return [literal[0], literal[0] + (matchAt(line, text, literal[0])?.length ?? 0)]
  if (literal && !(isHops && isAt(nextHop, text, literal[1]))) {
    if (literal[1] <= literal[0]) return null
    // A shell joins `"hunt"er2`.
    const joined =
      naming.sign === '=' && naming.after === undefined ? matchAt(joinedWord, text, literal[1]) : null
    return joined ? [at, literal[1] + joined.length] : withFurther(text, literal, joint)
  }
  const value = typedAt(text, at, naming) ?? bareValueAt(text, at, naming)
  return value || text.charAt(at) === '(' ? value : recordAt(text, at, naming)
}

/** PHP's print_r() has a type on a line, and the value below; var_dump() has it before the braces, and before a number. */
const printedArray = new RegExp(
  String.raw`[A-Z]\w{0,40}(?: Object)?${lineEnd}(?:\s|${lineEnd}){0,64}(?=\()|(?:array|object)\([\w\\]{1,80}\)(?:#\d{1,9} \(\d{1,9}\))? (?=\{)|(?:int|float)(?=\([\d.]{8})`,
  'y',
)

/**
 * A value as a program prints it, with its type: `[]string{"x"}`, `Password(value=x)`, `Some(x)`. Of other personal data than a
 * secret one with a text in it, or of a type that only wraps a value: `Token{a64f992 ...}` is an object.
 */
function typedAt(text: string, at: number, naming: Naming): Span | null {
  const type = matchAt(typed, text, at)
  if (type === null) return null
  const opening = at + type.length
  const isNamesake = text.charAt(opening) === '(' && naming.name.toLowerCase().endsWith(type.toLowerCase())
  const isNamed = text.charAt(opening) === '[' && isPersonal(kindOf(type))
  const isAssigned = isAt(assignedCall, text, at)
  const isWhole = naming.kind !== 'datum' || isNamesake || isNamed || isAssigned || wrapping.test(type)
  const record = recordAt(text, opening, naming)
  if (!record || !(isWhole || textIn.test(text.slice(record[0], record[1])))) return null
  if (isAt(edge, text, record[1])) return [at, record[1], record[2] ?? '']
  return isAssigned ? [at, endOfWord(text, record[1], naming)] : null
}
/** `token=f(x)`; with blanks around its sign, as in `token = parse(x)`, a program has it. */
const assignedCall = /(?<=[\w\]]=)(?=[\w.$]{1,81}(?<!\.)\()/y
const textIn = /["'`]|value\s?[:=]/i
const typed =
  /(?:(?:\[\]|[&*]){0,4}(?:map\[[\w.]{1,40}\](?:\[\]|\*)?)?[A-Za-z_][\w.$]{0,80} ?|%|(?:\[\]|[&*]){1,4})(?=[({[])/y
const wrapping = /^(?:%|map|\[|Just|Left|Ok|Optional|Right|Some|Success|Value)/
/** Behind a bracket that ends a value; that of an address has a port, `[::1]:80`. */
const edge = /(?=[\s,;)\]}>"'`|&\\]|<\/|[.:!?](?:\s|\d{1,5}(?!\w)|$)|$)/y

/** Behind the first of some quoted hops. */
const nextHop = /["'`]\s{0,3}[,;]/y
/** Behind a quotation mark that closes a value; behind one that the value has itself, it goes on: `Cookie="a="b"; c"`. */
const closed = /(?:\\{0,31}["'`]){1,2}(?:[^\w"'`\\]|\\[nrt]|$)|$/y

/** With the rest of the line, which without the record would be the value. */
function lineAfter(text: string, record: Span | null, naming: Naming): Span | null {
  const rest = record && bareValueAt(text, record[1], naming)
  return rest ? [record[0], rest[1], record[2] ?? ''] : record
}

/** Terraform shows a change as `"old" -> "new"`; programs join literals. */
const joinedWord = /\\{0,31}["'](?<!["']["'])(?!REDACTED)\w[\w.+/=-]*(?=[\s;&|"\\]|$)/y
const joint = /\\{0,31}(["'`])?["'`]\s{0,9}(?:->|=>|\+|\|\||\.)\s{0,9}(\\{0,31}\1["'`])/y

/** Behind the strings of a list: it has other elements as well. */
const goesOn = /^\\{0,31}["'`]{1,2}\s{0,9},/

function bareValueAt(text: string, at: number, naming: Naming): Span | null {
  // A program compares, `token === other`; a literal there is a value.
  if (isAt(comparison, text, at)) return null
  const filled = matchAt(filledIn, text, at)
  if (filled) return [at, at + filled.length]
  const inQuery = naming.kind !== 'line' && naming.sign === '=' && /[?&]/.test(naming.before ?? '')
  const mayOpen = !inQuery && naming.kind !== 'line' && !hops.test(naming.name)
  const brackets = mayOpen ? matchAt(bracketsBefore, text, at) : null
  if (brackets) return [at, endOfWord(text, at + brackets.length, naming)]
  const closing = mayOpen ? closings[text.charAt(at)] : undefined
  const start = closing ? at + 1 : at
  const isDatum = naming.kind === 'datum' && !inQuery
  if (isDatum && isAt(objectBegins, text, start)) return null
  const value =
    start > at ? (naming.kind === 'secret' ? bracketed : word) : inQuery ? queryValue : endingFor(naming)
  const isInString = naming.kind === 'line' && /["'`]/.test(naming.before ?? '') && naming.after === undefined
  const found = matchAt(value, isInString ? text.slice(0, stringEnd(text, start, naming)) : text, start) ?? ''
  const words =
    found !== '' && /phrase$/i.test(naming.name)
      ? matchAt(furtherWords, text, start + found.length)
      : isVariable(text, start, naming)
        ? matchAt(toMark, text, start + found.length)
        : null
  const end = start + found.length + (words?.length ?? 0)
  // The quotation mark or the ampersand is found once entities are decoded.
  if (isAt(entity, text, end)) return null
  const isFew = naming.kind !== 'secret' && count.test(found)
  if (!inQuery && (isFew || isCount(naming.name, found, naming.kind))) return null
  if (found.trim() === '' || placeholder.test(found) || isReference(found, naming.name)) return null
  // `(415) 555-0132` begins with a bracket.
  if (closing && text.charAt(end) !== closing) {
    if (found.includes(closing)) return [at, end]
    // Of a secret, `<a1` is the value itself; a brace or a bracket opens a record.
    return naming.kind === 'secret' && /[<(]/.test(text.charAt(at)) ? [at, endOfWord(text, at, naming)] : null
  }
  if (isDatum && isNoDatum(found, naming.sign)) return null
  // A bare value behind a quoted name is a number in JSON, and a bare word would make the text unreadable.
  const quotes = naming.sign === ':' && doubleQuote.test(naming.after ?? '') ? naming.after! : ''
  return [start, end, quotes]
}

/** A whole string is `NAME=value`: `-e "PASSWORD=a b"`, `{"env":["PASSWORD=a b"]}`. */
function isVariable(text: string, at: number, { name, before, after, sign }: Naming): boolean {
  if (sign !== '=' || after !== undefined) return false
  return (
    /["']/.test(before ?? '') || (text.startsWith(name) && at <= name.length + 2 && /^[A-Z\d_]+$/.test(name))
  )
}
const toMark = /(?:[ \t]{1,3}[^\s"'`=\\]{1,99}){1,9}(?=\\{0,31}["'`]|$)/y

/** Without a bound, each of many open quotation marks would be followed to the end of the text. */
const longest = 4096

/** Where the string ends in which the name stands first: `-H "Cookie: a=b"`, `["Cookie: a=\"b\""]`. */
function stringEnd(text: string, at: number, { name, before }: Naming): number {
  const opening = text.lastIndexOf(before + name, at)
  let first = opening
  while (text.charAt(first - 1) === '\\' && opening - first < 31) first--
  const mark = text.slice(first, opening + 1)
  const near = text.slice(0, at + longest)
  let end = closingQuote(near, at, mark)
  // In CSV a doubled mark is one of the text.
  if (mark === '"') while (near.startsWith('""', end)) end = closingQuote(near, end + 2, mark)
  return end < near.length ? end : text.length
}
const comparison = /(?<====\s{0,9})/y
const entity = /&(?:amp;){0,9}(?:#\d{2,4}|#x[\da-f]{2,4}|quot|apos);/iy

/** The same field of another record, in a program or in SQL: `email = EXCLUDED.email`. */
function isReference(value: string, name: string): boolean {
  return value.endsWith(`.${name}`) && /^[A-Za-z_][\w.]*$/.test(value)
}

/**
 * A whole object or list, also one cut short, if any of it holds a value: `{ type: "a", prefix: "b" }` only describes one.
 * @returns `null` where none stands
 */
function recordAt(text: string, from: number, { name: own, kind, after, sign, steps }: Naming): Span | null {
  if (!/[{[(]/.test(text.charAt(from))) return null
  const [opening, closing] = text.charAt(from) === '(' ? [/[{[(]/, /[}\])]/] : [/[{[]/, /[}\]]/]
  let [at, depth, name, holds] = [from, 0, '', false]
  do {
    const character = text.charAt(at)
    const literal = /["'`\\]/.test(character) ? literalText(text, at, after) : null
    const end = literal
      ? 2 * literal[0] + literal[1] - literal[0] - at
      : at + (matchAt(plainWord, text, at)?.length ?? 0)
    if (end > at) {
      const part = literal ? text.slice(...literal) : text.slice(at, end)
      if (isAt(nameSign, text, end)) name = part
      else
        holds ||=
          part !== '' &&
          !placeholder.test(part) &&
          !describes(name, kind) &&
          !(name !== '' && countsParts.test(own) && isCount(own, part))
    } else if (opening.test(character)) depth++
    else if (closing.test(character)) depth--
    at = Math.max(end, at + 1)
  } while (steps.take() && depth > 0 && at < text.length)
  return holds ? [from, Math.min(at, text.length), sign === ':' ? (after ?? '') : ''] : null
}

const plainWord = /[^\s,;:={}[\]()"'`\\]+/y
const nameSign = /\s{0,9}(?:=>|:|=(?!=?[)\]}]))/y
/** One word in brackets: `token=<abc>`. */
const closings: Record<string, string> = { '<': '>', '(': ')', '[': ']', '{': '}' }

/** Prose after a colon, and an object as a program prints it: `Token{a64f992 ...}`, `android.os.BinderProxy@2bd79ce`. */
function isNoDatum(value: string, sign: string): boolean {
  return printedObject.test(value) || (sign === ':' && (prose.test(value) || nameInProgram.test(value)))
}
/** `in.(` is an operator of PostgREST. */
const objectBegins = /[A-Za-z][A-Za-z.$]{0,80}(?:\s?\{|(?<!\.)\()/y
const printedObject = /^(?:[a-z]\w{0,40}\.){1,9}[A-Za-z][\w$]{0,60}@[0-9a-f]{1,16}\W?$/
const nameInProgram =
  /^[A-Z]{2,20}(?:_[A-Z]{2,20}){1,4}$|^(?:[a-z]{2,20}\.){2,9}[A-Za-z]{2,60}(?:\/\d{1,6})?[:.]?$/

/** `cookies: 3` */
const count = /^\d{1,2}$/
/** Placeholders and empty values, which are not personal: also a parameter in SQL. */
const placeholder = /^(?:\$\d+|\?|null|yes|no|default|nil|none|undefined|true|false|\*+|x{3,}|REDACTED\W*)$/i
const doubleQuote = /^(?:\\*"){1,2}$/
const prose = /^[A-Za-z]?[a-z]{1,19}[.!?]?$/

/** Values that no quotation marks hold; numbers in groups, and IBANs. Each pattern is sticky. */
const grouped = String.raw`(?:\+?\d{1,4}(?:[ ()./\u00a0\u2010-\u2015-]{1,3}\d{1,14}){1,8}|[A-Za-z]{2}\d\d(?:[ -][A-Za-z0-9]{4}){2,7}(?:[ -]\d{1,3})?)(?![^\s&;,"'\`<>()[\]{}|\\])`
const inWord = String.raw`[^\s\u001b&;,"'\`<>()[\]{}|\\]|\\(?![nrtu"'\`])`
const word = new RegExp(`${grouped}|(?:${inWord})+`, 'y')
/** Of a secret, signs go on to what is no other name; a blank, a mark around the text, and the sign of a form end it. */
const secretWord = new RegExp(
  String.raw`(?:(?<=:[^\S\r\n]{1,9})[A-Za-z][A-Za-z_-]{0,60}:[^\S\r\n]{1,9}(?=\S))?(?:${grouped}|(?:\\{1,8} (?=\S)|${inWord}|[;,()[\]{}<>|]{1,8}(?=[^\s;,.:=()[\]{}<>|"'\`&\\])(?![\w.-]{1,40}\s?[=:])|(?<=\w)'(?=\w)|&(?!#|\w{2,8};|[\w.%[\]-]{0,40}[=:])(?=[^\s&"'<>\\]{3}))+)`,
  'y',
)
/** Of a passphrase, up to another name. */
const furtherWords = /(?:[ \t]{1,3}[\w'-]{1,40}(?![\w'.-]|\s?[:=]))*/y
/** Of a name in the plural: `tokens=abc1,def2`. */
const wordList = new RegExp(
  String.raw`${grouped}|(?:${inWord}|[;,](?: (?=[A-Za-z_-]{0,40}\d))?(?![\w.-]{1,40}\s?[=:](?![\s=,;]|\\{0,31}"\s?[,}\]]|$))(?=\w))+`,
  'y',
)
/** In the query of a URL most signs may stand as they are, but those at the end are of the text around. */
const queryValue = new RegExp(
  String.raw`(?:[^\s&"#\\,;'\`<>()[\]{}|]|[,;'\`<>()[\]{}|]{1,8}(?![\s&"#\\,;'\`<>()[\]{}|]|$)|\\(?![nrtu"'\`\\]))+`,
  'y',
)
/** ODBC puts braces around a password with a semicolon or a space. */
const bracketed = /[^"'`<>()[\]{}\r\n]{1,200}/y
/** Brackets behind which a value goes on: `{noop}abc`, `<b>abc`, `[]abc`. */
const bracketsBefore = new RegExp(`(?:[<([{](?:${bracketed.source})?[>)\\]}]){1,4}(?!${edge.source})`, 'y')
/** A quotation mark that does not end the JSON string around. */
const markInLine = String.raw`\\*"(?!\s{0,3}(?:,\s{0,3}\\*"|[}\]]))`
const group = String.raw`\([^()\r\n]{0,200}\)|\[[^[\]\r\n]{0,200}\]|\{[^{}\r\n]{0,200}\}`
const lineInQuery = /[^"'`&\\\r\n]+/y
/** Ends also where the brackets around it do, unless it goes on: `{Cookie=a={b}; c=d}`. */
const assignedLine = new RegExp(
  String.raw`(?:[^"()[\]{}\\\r\n]|${group}|[([{]|[)\]}](?=;\s?[\w-]+=|[^\s;,)\]}"'\`])|${markInLine}|\\+(?![rn"\\]))+`,
  'y',
)
/** Up to the end of the string around it that begins with the name. */
const quotedLine = /(?:[^\\\r\n]|\\+(?![rn\\]))+/y
/** Ends where the JSON string around it does; other quotation marks are the value's own. */
const line = new RegExp(String.raw`(?:[^"\\\r\n]|\\+(?![rn"\\])|${markInLine})+`, 'y')
/** A private key of PuTTY: `Private-Lines: 2`, and so many lines of Base64. */
const keyLines = new RegExp(String.raw`\d{1,4}(?:${lineEnd}[\w+/=]{4,76}(?![\w+/=-]))+`, 'y')
/** Of YAML, the lines that are indented as the first. */
const further = String.raw`${line.source}(?:(?:${lineEnd}[ \t]{0,32}(?=${lineEnd}))*${lineEnd}\1${line.source})*`
/** Of `password: |`, not of `'password' =>`. */
const scalarLines = new RegExp(String.raw`(?<=[|>](?<!=>)[-+]?${lineEnd}([ \t]{1,32}))${further}`, 'y')
const recordLines = new RegExp(
  String.raw`(?<=${lineEnd}([ \t]{1,32})(?:- )?)(?=${keyInBlock}(?:\s|\\|$))${further}`,
  'y',
)

/** `203.0.113.7:80, "[2001:db8::1]", unknown`, and `for=_x;proto=https, for=_y`; a name with a sign, but for that of a port, goes on with another value. */
const hop = String.raw`(?![A-Za-z][\w.-]{0,60}\s?:(?!\d{1,5}(?![\w.])|[\dA-Fa-f]{0,4}:))(?:(?:for|by|host|proto)=)?(?:""[^"\r\n]{0,200}""|\\{0,31}"[^"\\\r\n]{0,200}\\{0,31}"|'[^'\r\n]{0,200}'|[^\s&;,"'\`<>(){}|\\=]+)(?![^\s&;,"'\`<>(){}|\\]|\s?[:=])`
const hopList = new RegExp(String.raw`(?!REDACTED)${hop}(?:\s{0,3}[,;]\s{0,3}${hop})*|${word.source}`, 'iy')

function endOfWord(text: string, at: number, naming: Naming): number {
  return at + (matchAt(endingFor(naming), text, at)?.length ?? 0)
}

function endingFor({ name, kind, before, after, sign }: Naming): RegExp {
  if (after !== undefined) return word
  if (hops.test(name)) return hopList
  if (kind === 'datum' && /(?:s|signature)$/i.test(name)) return wordList
  if (kind !== 'line') return kind === 'datum' && /[?&]/.test(before ?? '') ? word : secretWord
  if (sign === '=') return /[?&]/.test(before ?? '') ? lineInQuery : assignedLine
  return /["'`]/.test(before ?? '') ? quotedLine : line
}
