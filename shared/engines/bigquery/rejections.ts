/** BigQuery's complaint about a statement, in words that are fit for whoever asked for it. */
import type { Place } from '../../sql/error.ts'
import { placeInOther } from '../../sql/places.ts'
import type { SentStatement } from './statement.ts'

export interface Wording {
  message: string
  /** In the statement's own SQL. */
  place: Place | null
}

/**
 * What goes wrong with values while a query runs. BigQuery quotes them, and they may be of columns that the caller does
 * not see. The words are those of the local engine.
 */
const aboutValues: [pattern: RegExp, message: string][] = [
  [/Cannot parse regular expression: ([^:]+)/, 'Bad regular expression: $1'],
  [/query parameter \W?(\w+)\W? in type \W?(?:TYPE_)?(\w+)/, 'The value of parameter @$1 is not a valid $2'],
  [/division by zero/i, 'Division by zero'],
  [/Array index .*out of bounds/, 'Array index is out of bounds'],
  [/Scalar subquery produced more than one element/, 'A scalar subquery returned more than one row'],
  [/(invalid|unknown|unrecognized) time ?zone/i, 'Unknown time zone'],
  [/(syntax error while parsing|parsing JSON|invalid JSON|JSON text)/i, 'A value is not JSON'],
  [/Failed to parse input string|Mismatch between format/, 'A date or time does not have the format given'],
  [/null element/i, 'An array in the result has a NULL element'],
  [/overflow|out of range/i, 'A number or date is out of range'],
  [
    /^(Bad|Invalid) \w+( value)?: |Could not (cast|convert)|^Cannot (cast|convert) value/i,
    'A value cannot be converted to the type asked for',
  ],
]

/** Resources, whatever they are called. */
const aboutResources =
  /access denied|permission|not found: (table|dataset|project|routine|job)|[\w-]+:[\w-]+\.\w/i

/** @param complaint BigQuery's sentence, with ` at [line:column]` at its end where it is about the text */
export function rejection(complaint: string, sent: SentStatement): Wording {
  const { text, place } = parted(complaint, sent)
  const known = aboutValues.find(([pattern]) => pattern.test(text))
  if (known) return { message: replacement(text, known), place }
  if (!place) return { message: 'A function refuses a value that it is given', place }
  // What has a place is about the text: names and types, not values.
  const fit = !aboutResources.test(text) && !sent.hidden.some(word => holds(text, word))
  return { message: fit ? text : 'The query is not valid', place }
}

/** A table that is missing, under the name that the statement has for it, or a right that is: words for the operator. */
export function refusal(complaint: string, sent: SentStatement): Wording {
  const { text, place } = parted(complaint, sent)
  const real = [...sent.logical.keys()].find(name => holds(text.replaceAll(':', '.'), name))
  const what = real === undefined ? 'What the query needs' : `The table ${sent.logical.get(real)}`
  const [right] = /\bbigquery\.\w+\.\w+/.exec(text) ?? []
  return { message: `${what} is missing, or may not be used${right ? ` without ${right}` : ''}`, place }
}

/** The sentence, and the place that stands at its end, in the statement's own SQL. */
function parted(complaint: string, { sql, own }: SentStatement): { text: string; place: Place | null } {
  const [, text = complaint, line, column] = /^(.*?)\s+at \[(\d+):(\d+)\]/s.exec(complaint) ?? []
  if (line === undefined) return { text, place: null }
  return { text, place: placeInOther(sql, { line: Number(line), column: Number(column) }, own) }
}

function replacement(text: string, [pattern, message]: [RegExp, string]): string {
  const groups = pattern.exec(text) ?? []
  return message.replaceAll(/\$(\d)/g, (_, number: string) => groups[Number(number)]?.trim() ?? '')
}

/** Whole words only, in any case. */
function holds(text: string, word: string): boolean {
  const escaped = word.replaceAll(/[^\w]/g, '\\$&')
  return new RegExp(`(?<!\\w)${escaped}(?!\\w)`, 'i').test(text)
}
