/**
 * Named values in running text: header dumps, query strings, connection strings, log lines, and JSON, CSV or SQL in a
 * string. The name tells that the value is personal, `quotes.ts` and the patterns here where it ends.
 */
import { mark } from './prefilter.ts'
import { endOf, type PersonalClass, type Span } from './personal-class.ts'
import { escape } from './edges.ts'
import { kindOf, type NameKind } from './names.ts'
import { openingQuote, quoteMark, quotedList, quotedText } from './quotes.ts'

const assignment = '(?:(?<!:):(?!:(?!:)|\\/\\/)|=|%3[AD])'
const name = String.raw`(?:(?<=${escape})|(?<![\w-]))[\w-]{2,100}?`

/** `name=`, `name: `, `"name":`, `:name => `, `name%3D`: found by the rarer mark behind the name, as words are everywhere. */
export const field: PersonalClass = {
  name: 'value of a personal name',
  marks: mark.assignment,
  pattern: new RegExp(
    String.raw`${assignment}(?<=(["'\`])?(${name})(${quoteMark})?\s?(${assignment}))[=>]?\s{0,2}`,
    'gi',
  ),
  part(hit) {
    const [, before, named, after, sign] = hit
    const kind = kindOf(named!)
    if (kind === null || kind === 'version') return null
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

/** An object as value has names of its own; only strings are replaced in a list. */
function valueAt(text: string, at: number, naming: Naming): Span | null {
  if (text.charAt(at) === '[') return quotedList(text, at + 1, naming.after)
  const quote = openingQuote(text, at, naming.after)
  if (quote !== null) return quotedText(text, at, quote)
  const value = endingFor(naming)
  value.lastIndex = at
  const found = value.exec(text)?.[0] ?? ''
  if (found === '' || tellsNothing.test(found)) return null
  if (naming.kind === 'datum' && naming.sign === ':' && prose.test(found)) return null
  // A bare value behind a quoted name is a number in JSON, and a bare word would make the text unreadable.
  const quotes = naming.sign === ':' && doubleQuote.test(naming.after ?? '') ? naming.after! : ''
  return [at, at + found.length, quotes]
}

/** What stands for a value or for none, and tells nothing: also a parameter in SQL. */
const tellsNothing = /^(?:\$\d+|\?|null|nil|none|undefined|true|false|\*+|REDACTED\W*)$/i
const doubleQuote = /^\\*"{1,2}$/
const prose = /^[A-Za-z]?[a-z]{1,19}[.!?]?$/

/** Values that no quotation marks hold. Each pattern is sticky. */
const word = /(?:[^\s&;,"'`<>()[\]{}|\\]|\\(?![nrtu"'`\\]))+/y
const encodedWord = /(?:[^\s&;,"'`<>()[\]{}|\\%]|%(?!2[026C]|3B|0[AD])[0-9A-F]{2})+/iy
const assignedLine = /[^"'`&,}\\\r\n]+/y
/** Ends where the JSON string around it does; other quotation marks are the value's own. */
const line = /(?:[^"\\\r\n]|\\+(?![rn"\\])|\\*"(?!\s{0,3}(?:,\s{0,3}\\*"|[}\]])))+/y
const quotedLines: Record<string, RegExp> = {
  '"': /(?:[^"\\\r\n]|\\(?![rn"]))+/y,
  "'": /(?:[^'\\\r\n]|\\(?![rn']))+/y,
  '`': /(?:[^`\\\r\n]|\\(?![rn`]))+/y,
}

function endingFor({ kind, before, after, sign }: Naming): RegExp {
  if (sign.startsWith('%')) return encodedWord
  if (kind !== 'line' || after !== undefined) return word
  if (sign === '=') return assignedLine
  return quotedLines[before ?? ''] ?? line
}
