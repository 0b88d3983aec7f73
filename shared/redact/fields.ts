/**
 * Named values in running text: header dumps, query strings, connection strings, log lines, and JSON, CSV or SQL in a
 * string. The name decides that the value is personal; its quotation marks and the patterns here decide where it ends.
 */
import { mark } from './prefilter.ts'
import { escape } from './escapes.ts'
import { endOf, type PersonalClass, type Span } from './personal-class.ts'
import { isPersonal, kindOf, type NameKind } from './names.ts'
import { literalText, quotedList, quoteMark } from './quoted.ts'

const assignment = '(?:(?<!:):(?!:(?!:)|\\/\\/)|=)'
const name = String.raw`(?:(?<![\w-])|(?<=${escape}))[\w-]{2,100}?`

/** `name=`, `name: `, `"name":`, `:name => `, `user[name]=`: found by the sign behind the name, which is rarer than words. */
export const field: PersonalClass = {
  name: 'value of a personal name',
  marks: mark.assignment,
  pattern: new RegExp(
    String.raw`${assignment}(?<=(["'\`])?(${name})(${quoteMark})?\]?\s?(${assignment}))[=>]?\s{0,2}`,
    'g',
  ),
  part(hit) {
    const [, before, named, after, sign] = hit
    const kind = kindOf(named!)
    if (!isPersonal(kind) || directory.test(named!)) return null
    return valueAt(hit.input, endOf(hit), { kind, before, after, sign: sign! })
  },
}

interface Naming {
  kind: NameKind
  /** The quotation mark before the name, with or without one after it. */
  before: string | undefined
  after: string | undefined
  sign: string
}

/** A shell's working directory: `PWD=/home/app`. */
const directory = /^(?:OLD)?PWD$/

/** An object as value has names of its own; only strings are replaced in a list. */
function valueAt(text: string, at: number, naming: Naming): Span | null {
  if (text.charAt(at) === '[') {
    const list = quotedList(text, at + 1, naming.after)
    if (list) return list
  }
  const literal = literalText(text, at, naming.after)
  if (literal) return literal[1] > literal[0] ? literal : null
  const start = naming.kind !== 'line' && opening.test(text.charAt(at)) ? at + 1 : at
  const value = start > at ? (naming.kind === 'secret' ? bracketed : word) : endingFor(naming)
  value.lastIndex = start
  const found = value.exec(text)?.[0] ?? ''
  const end = start + found.length
  if (found === '' || placeholder.test(found)) return null
  if (start > at && !closing.test(text.charAt(end))) return null
  if (naming.kind === 'datum' && isNoDatum(found, text.slice(end, end + 2), naming.sign)) return null
  // A bare value behind a quoted name is a number in JSON, and a bare word would make the text unreadable.
  const quotes = naming.sign === ':' && doubleQuote.test(naming.after ?? '') ? naming.after! : ''
  return [start, end, quotes]
}

/** One word in brackets: `token=<abc>`. */
const opening = /[<([{]/
const closing = /[>)\]}]/

/** Prose after a colon, and an object as a program prints it: `Token{a64f992 ...}`, `android.os.BinderProxy@2bd79ce`. */
function isNoDatum(value: string, next: string, sign: string): boolean {
  if (objectBegins.test(next) && typeName.test(value)) return true
  return printedObject.test(value) || (sign === ':' && (prose.test(value) || nameInProgram.test(value)))
}
const objectBegins = /^(?:\s?\{|\()/
const typeName = /^[A-Za-z][A-Za-z.$]{0,80}$/
const printedObject = /^(?:[a-z]\w{0,40}\.){1,9}[A-Za-z][\w$]{0,60}@[0-9a-f]{1,16}\W?$/
const nameInProgram = /^(?:[a-z]{2,20}\.){2,9}[A-Za-z]{2,60}(?:\/\d{1,6})?[:.]?$/

/** Placeholders and empty values, which are not personal: also a parameter in SQL. */
const placeholder = /^(?:\$\d+|\?|null|nil|none|undefined|true|false|\*+|REDACTED\W*)$/i
const doubleQuote = /^\\*"{1,2}$/
const prose = /^[A-Za-z]?[a-z]{1,19}[.!?]?$/

/** Values that no quotation marks hold. Each pattern is sticky. */
const word = /(?:[^\s&;,"'`<>()[\]{}|\\]|\\(?![nrtu"'`\\]))+/y
/** ODBC puts braces around a password with a semicolon or a space. */
const bracketed = /[^"'`<>()[\]{}\r\n]{1,200}/y
const assignedLine = /[^"'`&,}\\\r\n]+/y
/** Ends where the JSON string around it does; other quotation marks are the value's own. */
const line = /(?:[^"\\\r\n]|\\+(?![rn"\\])|\\*"(?!\s{0,3}(?:,\s{0,3}\\*"|[}\]])))+/y
const quotedLines: Record<string, RegExp> = {
  '"': /(?:[^"\\\r\n]|\\(?![rn"]))+/y,
  "'": /(?:[^'\\\r\n]|\\(?![rn']))+/y,
  '`': /(?:[^`\\\r\n]|\\(?![rn`]))+/y,
}

function endingFor({ kind, before, after, sign }: Naming): RegExp {
  if (kind !== 'line' || after !== undefined) return word
  if (sign === '=') return assignedLine
  return quotedLines[before ?? ''] ?? line
}
