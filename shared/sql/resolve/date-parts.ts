/** Parts of dates, which calls take as bare words. */
import { countsOf, functions, isBareWord, parameterAt, type Signature } from '../functions.ts'
import { extractParts } from '../grammar.ts'
import { instead, parts } from '../instead.ts'
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

/** What to say of parts that a function does not take, and where. */
export function unknownPart(node: Call, name: string): [at: Expression, message: string] {
  for (const argument of node.arguments) {
    const part = argument.kind === 'Path' && argument.parts.length === 1 ? argument.parts[0]!.name : ''
    const near = extractParts.has(part.toUpperCase())
      ? null
      : instead(parts, part.toUpperCase(), extractParts)
    if (near) return [argument, `${name} knows no part ${part}; did you mean ${near}?`]
  }
  return [node, `${name} does not support this date part for this type`]
}
