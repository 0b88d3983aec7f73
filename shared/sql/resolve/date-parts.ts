/** Parts of dates, which calls take as bare words. */
import { countsOf, functions, isBareWord, parameterAt, type Signature } from '../functions.ts'
import { extractParts } from '../grammar.ts'
import { hintFor, parts } from '../hints.ts'
import type { Call, Expression } from '../tree.ts'
import type { Faults } from './resolution.ts'

/** A part in capitals, `DAY` or `WEEK(MONDAY)`; `null` for what is no such word. */
export function partOf(node: Expression): string | null {
  if (node.kind === 'Path') return node.parts.length === 1 ? node.parts[0]!.name.toUpperCase() : null
  const [day] = node.kind === 'Call' && node.name[0]!.name.toUpperCase() === 'WEEK' ? node.arguments : []
  return day?.kind === 'Path' ? `WEEK(${day.parts[0]!.name.toUpperCase()})` : null
}

/** Functions that take bare words. */
const ofWords = new Set(
  [...functions].flatMap(([name, { signatures }]) =>
    signatures.some(({ parameters }) => parameters.some(({ kind }) => isBareWord(kind))) ? [name] : [],
  ),
)

/** Whether an argument of a function, at a place, is a bare word. */
export function isWordAt(name: string, at: number, node: Expression): boolean {
  if (!ofWords.has(name) || partOf(node) === null) return false
  return functions.get(name)!.signatures.some(({ parameters }) => isBareWord(parameters[at]?.kind))
}

/** A fault is a part in quotes, or before the value, as other dialects have it. */
export function checkParts(context: Faults, node: Call, name: string, signatures: Signature[]): void {
  if (!ofWords.has(name)) return
  const given = node.arguments.length
  const fitting = signatures.filter(({ parameters }) => {
    const { least, most } = countsOf(parameters)
    return given >= least && given <= most
  })
  if (fitting.length === 0) return
  refuseSwapped(context, node, name, fitting)
  for (const { parameters } of fitting)
    for (const [at, argument] of node.arguments.entries()) {
      if (parameterAt(parameters, at).kind !== 'PART' || partOf(argument) !== null) continue
      const text = argument.kind === 'Literal' ? argument.value.toUpperCase() : ''
      const hint = extractParts.has(text) ? `: write ${text} without quotes` : ''
      context.fault(argument, `${name} needs a date part such as DAY here${hint}`)
    }
}

/** Of a bare name or a literal text; else ''. */
function nameOf(node: Expression | undefined): string {
  if (node?.kind === 'Literal') return node.value.toUpperCase()
  return (node && partOf(node)) ?? ''
}

function refuseSwapped(context: Faults, node: Call, name: string, signatures: Signature[]): void {
  const [first] = node.arguments
  const part = nameOf(first)
  const late = signatures.every(({ parameters }) => parameters.findIndex(({ kind }) => kind === 'PART') > 0)
  if (!late || !extractParts.has(part) || extractParts.has(nameOf(node.arguments.at(-1)))) return
  const values = node.arguments.length > 2 ? 'later, earlier' : 'x'
  context.fault(first!, `${name} takes the part last, without quotes: write ${name}(${values}, ${part})`)
}

/** Parts of a day, and those of a calendar. */
const isTime = (part: string) => /^(MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR)$/.test(part)
const isDate = (part: string) =>
  /^(DAY|WEEK|ISOWEEK|MONTH|QUARTER|YEAR|ISOYEAR)$/.test(part) ||
  (part.startsWith('WEEK(') && extractParts.has(part))

/** Whether values of a type have a part, move by it or are counted in it; months have no one length for a TIMESTAMP. */
type Takes = (kind: string, part: string) => boolean

const cut: Takes = (kind, part) => (kind !== 'DATE' && isTime(part)) || (kind !== 'TIME' && isDate(part))
const count: Takes = (kind, part) => (kind === 'TIMESTAMP' ? isTime(part) || part === 'DAY' : cut(kind, part))

const families: [names: RegExp, takes: Takes][] = [
  [/_TRUNC$/, cut],
  [/^LAST_DAY$/, (_, part) => isDate(part)],
  [/_(DIFF|ADD|SUB)$/, count],
  [/_BUCKET$/, (kind, part) => count(kind, part) || (kind === 'TIMESTAMP' && part === 'WEEK')],
]

/** A fault is a part that values of a type do not have. @param kind the type of the first argument */
export function checkPartOf(context: Faults, node: Call, name: string, kind: string): void {
  const takes = families.find(([names]) => names.test(name))?.[1]
  if (!takes || !/^(DATE|DATETIME|TIME|TIMESTAMP)$/.test(kind)) return
  if (/_(ADD|SUB|BUCKET)$/.test(name)) return checkInterval(context, node, name, kind, takes)
  const part = node.arguments.slice(1).find((each, at) => isWordAt(name, at + 1, each))
  if (part && !takes(kind, partOf(part)!)) refuse(context, node, name, part)
}

function checkInterval(context: Faults, node: Call, name: string, kind: string, takes: Takes): void {
  const by = node.arguments[1]
  if (by?.kind !== 'IntervalLiteral') return
  const { part, to } = by
  const isBucket = name.endsWith('_BUCKET')
  if (!isBucket && to !== null) context.fault(by, `${name} takes an INTERVAL of one part`)
  if (to !== null || takes(kind, part)) return
  if (isBucket) return refuse(context, node, name, by)
  const moved = `${name.replace(/^[A-Z]+/, 'DATETIME')}(DATETIME(x), INTERVAL 1 ${part})`
  // A DATETIME moves by every part.
  const instead = kind === 'TIME' ? '' : `: write ${kind === 'TIMESTAMP' ? `TIMESTAMP(${moved})` : moved}`
  context.fault(by, `${name} does not support the ${part} date part for a ${kind}${instead}`)
}

function refuse(context: Faults, node: Call, name: string, part: Expression): void {
  const word = part.kind === 'Path' ? part.parts[0]!.name : ''
  const near = isKnown(word) ? null : hintFor(parts, word.toUpperCase(), extractParts)
  if (near) context.fault(part, `${name} knows no part ${word}; did you mean ${near}?`)
  else context.fault(node, `${name} does not support this date part for this type`)
}

const isKnown = (word: string) => extractParts.has(word.toUpperCase())
