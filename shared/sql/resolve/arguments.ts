/** What GoogleSQL asks of the arguments of some functions, and of their windows, beside types. */
import { functions, isBareWord, parameterAt, type Signature, takesCount } from '../functions.ts'
import { extractParts } from '../grammar.ts'
import { hintFor, parts } from '../hints.ts'
import { numbering } from '../relations.ts'
import { noSignature } from './coercion.ts'
import { stepsOf } from './literals.ts'
import { isNull } from './operators.ts'
import type { Context, Faults, WholeWindow } from './resolution.ts'
import { coerces, commonType, elementOf, isUnknown, orderable, type Type, type Value } from './types.ts'
import type { Call, Expression } from '../tree.ts'
import { isConstant } from '../walk.ts'

type Check = (context: Context, node: Call, name: string, given: Value[]) => void

const checks: Record<string, Check> = {
  ...each('ARRAY_CONCAT ARRAY_CONCAT_AGG', (context, node, name, given) => {
    if (given.some(({ type }) => type === null)) misfits(context, node, name, given)
  }),
  ...each('LAG LEAD NTH_VALUE', checkNumber),
  ...each('PERCENTILE_CONT PERCENTILE_DISC', checkShare),
  ...each('GENERATE_DATE_ARRAY', steppingBy(/^(DAY|WEEK|MONTH|QUARTER|YEAR)$/)),
  ...each('GENERATE_TIMESTAMP_ARRAY', steppingBy(/^(MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR|DAY)$/)),
  ...each('JSON_REMOVE', pathsEvery(1)),
  ...each('JSON_ARRAY_APPEND JSON_ARRAY_INSERT JSON_SET', pathsEvery(2)),
  ...each(
    `JSON_EXTRACT JSON_QUERY JSON_EXTRACT_ARRAY JSON_QUERY_ARRAY JSON_EXTRACT_SCALAR JSON_VALUE JSON_EXTRACT_STRING_ARRAY
    JSON_VALUE_ARRAY JSON_STRIP_NULLS`,
    (context, node, name) => {
      const path = node.arguments[1]
      if (path && path.kind !== 'NamedArgument') checkPath(context, path, name)
    },
  ),
  JSON_OBJECT: checkObject,
  RANGE_BUCKET: checkBuckets,
  CONTAINS_SUBSTR(context, node, name, given) {
    if (hasBytes(given[0]!.type)) misfits(context, node, name, given)
  },
  STRING_AGG(context, node, _, given) {
    if (given[1]?.type === null) context.fault(node, 'The delimiter of STRING_AGG must not be NULL')
  },
}

function each(names: string, check: Check): Record<string, Check> {
  return Object.fromEntries(names.split(/\s+/).map(name => [name, check]))
}

/** @param given the values of all arguments that are values and have no name */
export function checkArguments(context: Context, node: Call, name: string, given: Value[]): void {
  if (Object.hasOwn(checks, name)) checks[name]!(context, node, name, given)
}

function misfits(context: Context, node: Call, name: string, given: Value[]): void {
  noSignature(context, node, `function ${name}`, given)
}

function hasBytes(type: Type | null): boolean {
  if (type?.kind === 'ARRAY') return hasBytes(type.element)
  return type?.kind === 'STRUCT' ? type.fields.some(field => hasBytes(field.type)) : type?.kind === 'BYTES'
}

function writtenInteger(node: Expression | undefined): number | null {
  if (node?.kind === 'Unary' && node.operator === '-') {
    const number = writtenInteger(node.operand)
    return number === null ? null : -number
  }
  return node?.kind === 'Literal' && node.literal === 'INTEGER' ? Number(node.text) : null
}

/** The number of a LAG, LEAD or NTH_VALUE, and the default of the first two. */
function checkNumber(context: Context, { arguments: [, node, otherwise] }: Call, name: string): void {
  if (node && !isConstant(node)) context.fault(node, `The number of ${name} must be a literal or a parameter`)
  if (otherwise && !isConstant(otherwise))
    context.fault(otherwise, `The default of ${name} must be constant: write IFNULL around the call`)
  const least = name === 'NTH_VALUE' ? 1 : 0
  const number = writtenInteger(node)
  if (node && (isNull(node) || (number !== null && number < least)))
    context.fault(node, `The number of ${name} must be at least ${least}`)
}

function checkShare(context: Context, { arguments: [, node] }: Call, name: string): void {
  if (node?.kind === 'Literal' && !(Number(node.text) >= 0 && Number(node.text) <= 1))
    context.fault(node, `The share of ${name} must be from 0 to 1`)
}

function steppingBy(parts: RegExp): Check {
  return (context, { arguments: [, , step] }, name) => {
    if (step?.kind === 'IntervalLiteral' && !parts.test(step.part))
      context.fault(step, `${name} does not step by ${step.part}`)
  }
}

/** A value and paths, each with so many arguments. */
function pathsEvery(size: number): Check {
  return (context, node, name, given) => {
    if ((given.length - 1) % size > 0) misfits(context, node, name, given)
    const rest = node.arguments.slice(1).filter(({ kind }) => kind !== 'NamedArgument')
    for (const [at, path] of rest.entries()) if (at % size === 0) checkPath(context, path, name)
  }
}

/** A path is a literal; what runs the query may take parameters, too. */
function checkPath(context: Context, node: Expression, name: string): void {
  if (isNull(node) || node.kind === 'ParameterReference') return
  if (node.kind !== 'Literal') {
    context.fault(node, `The JSONPath of ${name} must be a literal string`)
    return
  }
  const steps = stepsOf(name, node.value)
  if (steps === null) context.fault(node, 'Invalid JSONPath: write $.key or $.list[0]')
  if (name === 'JSON_REMOVE' && steps?.length === 0)
    context.fault(node, `The JSONPath of ${name} cannot be $`)
}

/** Keys and values in turn, or an array of keys and one of values. */
function checkObject(context: Context, node: Call, name: string, given: Value[]): void {
  const isText = ({ type }: Value) => type?.kind === 'STRING' || isUnknown(type)
  const [keys, items] = given
  const isPair = given.length === 2 && keys!.type?.kind === 'ARRAY' && items!.type?.kind === 'ARRAY'
  const isFit = isPair
    ? isText({ type: elementOf(keys!.type) })
    : given.length % 2 === 0 && given.every((key, at) => at % 2 === 1 || isText(key))
  if (!isFit) misfits(context, node, name, given)
}

function checkBuckets(context: Context, node: Call, name: string, given: Value[]): void {
  const [point, list] = given as [Value, Value]
  if (isUnknown(list.type)) return
  const element = elementOf(list.type)
  const type = element && commonType([point, { ...list, type: element }])
  const isFit = type && orderable(type) && coerces(list, { kind: 'ARRAY', element: type })
  if (!isFit) misfits(context, node, name, given)
}

/** Functions that need ORDER BY; some of them ignore the frame. */
const ofPlaces = /^(CUME_DIST|DENSE_RANK|LAG|LEAD|NTILE|PERCENT_RANK|RANK)$/
const ofFrames = /^(FIRST_VALUE|LAST_VALUE|NTH_VALUE)$/
const ofAllRows = /^PERCENTILE_/

export function checkWindow(
  context: Context,
  node: Call,
  name: string,
  { orderBy, frame }: WholeWindow,
): void {
  if ((ofPlaces.test(name) || ofFrames.test(name)) && orderBy.length === 0)
    context.fault(node, `${name} needs ORDER BY in its window`)
  if (ofAllRows.test(name) && orderBy.length > 0)
    context.fault(node, `${name} takes no ORDER BY in its window`)
  if ((ofPlaces.test(name) || ofAllRows.test(name) || name === 'ROW_NUMBER') && frame)
    context.fault(node, `${name} takes no frame in its window`)
  if (node.distinct && orderBy.length > 0)
    context.fault(node, 'DISTINCT does not go with ORDER BY in the window')
}

/** With DISTINCT, values have no other order than their own. */
export function checkDistinct(context: Context, node: Call, name: string): void {
  if (!node.distinct || node.orderBy.length === 0) return
  const numberOf = numbering()
  const given = new Set(node.arguments.map(numberOf))
  const other = node.orderBy.find(({ expression }) => !given.has(numberOf(expression)))
  if (other) context.fault(other, `${name} with DISTINCT can only ORDER BY its argument`)
}

// ---- parts of dates, which calls take as bare words

/** A part in capitals, `DAY` or `WEEK(MONDAY)`; `null` for what is no such word. */
export function partOf(node: Expression): string | null {
  if (node.kind === 'Path') return node.parts.length === 1 ? node.parts[0]!.name.toUpperCase() : null
  const [day] = node.kind === 'Call' && node.name[0]!.name.toUpperCase() === 'WEEK' ? node.arguments : []
  return day?.kind === 'Path' ? `WEEK(${day.parts[0]!.name.toUpperCase()})` : null
}

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
  const fitting = signatures.filter(signature => takesCount(signature, node.arguments.length))
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
  const known = extractParts.has(word.toUpperCase())
  const near = known ? null : hintFor(parts, word.toUpperCase(), extractParts)
  if (near) context.fault(part, `${name} knows no part ${word}; did you mean ${near}?`)
  else context.fault(node, `${name} does not support this date part for this type`)
}
