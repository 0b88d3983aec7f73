/**
 * Where in a query an error has its cause: DuckDB gives places in its own SQL only, BigQuery none for values. A part of the query is
 * named where it alone can have caused the error; where several can, the error stays without a place.
 */
import { placeOf } from '../sql/error.ts'
import { isAggregateName } from '../sql/functions.ts'
import { Lineage, resolvedAlone } from '../sql/tables.ts'
import { nearestName } from '../sql/hints.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { keysOf } from '../sql/resolve/grouping.ts'
import { numbering } from '../sql/relations.ts'
import type { AnyNode, Path, Query } from '../sql/tree.ts'
import { calledName, children, descendants, descendantsHere } from '../sql/walk.ts'
import { isZone } from './calendar.ts'
import { EngineError } from './engine.ts'

type Suspects = (query: Query) => AnyNode[]

/**
 * By the beginning of the message that the `failures.ts` of an engine gives.
 * @param instead what to write instead, after the message
 * @param how `each` = every suspect is at fault, so that the first one will do; `named` = several are named, without a place
 */
type Suspicion = [
  message: string,
  suspects: Suspects,
  instead?: string | ((node: AnyNode) => string),
  how?: 'each' | 'named',
]

const division = where(isCall(/^(DIV|MOD|GENERATE_\w*ARRAY)$/), isBinary(/^\/$/))
const conversion = where(isCast, isReading)
const conversionOfJson = where(isCast, isCall(/^(INT64|FLOAT64|BOOL|STRING|ASCII)$/))
/** Arithmetic, casts, and functions whose results or arguments have bounds. */
const outOfRange = where(
  isBinary(/^([-+*/]|<<)$/),
  node => node.kind === 'Unary' && node.operator === '-' && node.operand.kind !== 'Literal',
  node => node.kind === 'IntervalLiteral' && node.value.kind !== 'Literal',
  isCall(
    /^(SUM|AVG|ABS|SQRT|LN|LOG|LOG10|EXP|POW|POWER|A(COS|SIN|TAN)H?|COSH|SINH|CHR|DIV|ROUND|DATE|DATETIME|TIME|TIMESTAMP)$|^(DATE|DATETIME|TIME|TIMESTAMP|PARSE|RANGE|NET|REGEXP)[_.]|^INSTR$/,
  ),
  isCast,
)
const regexp = where(isCall(/^REGEXP_/))

const isIndex = (node: AnyNode) => node.kind === 'Subscript' && !node.mode?.startsWith('SAFE')
const lengths = /^(SUBSTR|SUBSTRING|LEFT|RIGHT|[LR]PAD|REPEAT)$/

const suspicions: Suspicion[] = [
  ['A column is neither grouped', ungrouped, ungroupedInstead, 'each'],
  ['Division by zero', division, divisionInstead],
  ['Unknown time zone', each(unknownZones), zoneInstead, 'each'],
  ['Array index is out of bounds', where(isIndex), '[SAFE_OFFSET(n)] gives NULL'],
  [
    'A scalar subquery returned more',
    where(({ kind }) => kind === 'ScalarSubquery'),
    'add LIMIT 1, or aggregate',
  ],
  ['A date or time does not have the format', where(isCall(/^PARSE_/)), 'SAFE.PARSE_... gives NULL'],
  ['Bad regular expression: invalid perl operator', regexp, 'RE2 has no look-ahead and no backreferences'],
  ['Bad regular expression', regexp],
  ['LIMIT and OFFSET take no negative', each(rowCounts)],
  ['A value is not JSON', where(isCall(/^PARSE_JSON$|^JSON_/))],
  ['A value cannot be converted', conversion, conversionInstead],
  ['A number or date is out of range', outOfRange, rangeInstead, 'named'],
  ['A number is out of range', outOfRange, rangeInstead, 'named'],
  ['A date or time is out of range', outOfRange, rangeInstead, 'named'],
  ['A function refuses a value', where(isCall(/^(ACOS|ASIN|ATANH|CHR|FROM_HEX)$/)), rangeInstead, 'named'],
  ['Bitwise shifts take no negative', where(isBinary(/^(<<|>>)$/)), rangeInstead, 'named'],
  ['Length must not be negative', where(isCall(lengths)), rangeInstead, 'named'],
  ['Bad value for a cast', conversionOfJson, castInstead, 'named'],
]

/** The error with its place in `sql`, where that is known. */
export function locate(error: EngineError, sql: string): EngineError {
  const suspicion = suspicions.find(([message]) => error.message.startsWith(message))
  if (error.reason !== 'rejected' || error.place || !suspicion) return error
  const [, suspects, instead, how] = suspicion
  const found = suspects(parse(sql, statementLimits))
  const names = [...new Set(found.map(display))]
  if (how === 'named' && found.length > 1 && names.length <= 3)
    return new EngineError('rejected', `${error.message}: in ${names.join(' or ')}`, { cause: error.cause })
  if (found.length === 0 || (found.length > 1 && how !== 'each')) return error
  const culprit = found[0]!
  if (culprit.kind === 'ParameterReference')
    return new EngineError('rejected', `${error.message}: see parameter @${culprit.name}`, {
      cause: error.cause,
    })
  // A parameter's value is at fault, not the text of the query.
  if (how !== 'each' && [...descendants(culprit)].some(node => node.kind === 'ParameterReference'))
    return error
  const hint = typeof instead === 'function' ? instead(culprit) : instead
  const message = error.message + (hint ? `: ${hint}` : '')
  return new EngineError('rejected', message, { place: placeOf(sql, culprit.at), cause: error.cause })
}

function each(partsOf: (node: AnyNode) => AnyNode[]): Suspects {
  return query => [...descendants(query)].flatMap(partsOf)
}

function where(...are: ((node: AnyNode) => boolean)[]): Suspects {
  return query => [...descendants(query)].filter(node => are.some(is => is(node)))
}

/** Of a function under SAFE the name begins with that. */
function isCall(names: RegExp) {
  return (node: AnyNode) => node.kind === 'Call' && names.test(calledName(node))
}

function isBinary(operators: RegExp) {
  return (node: AnyNode) => node.kind === 'Binary' && operators.test(node.operator)
}

/** Of anything but a parameter, whose value is checked before. */
function isCast(node: AnyNode): boolean {
  return node.kind === 'Cast' && !node.safe && node.operand.kind !== 'ParameterReference'
}

/** A function that reads a text, of anything but literals and parameters. */
function isReading(node: AnyNode): boolean {
  const read = isCall(/^(DATE|DATETIME|TIME|TIMESTAMP|FROM_BASE(32|64))$/)(node) ? children(node) : []
  return read.some(({ kind }) => kind !== 'Literal' && kind !== 'ParameterReference')
}

function isPlainAggregate(node: AnyNode): boolean {
  return node.kind === 'Call' && isAggregateName(calledName(node)) && !node.over
}

function display(node: AnyNode): string {
  if (node.kind === 'Call') return calledName(node)
  return 'operator' in node && typeof node.operator === 'string' ? node.operator : node.kind.toUpperCase()
}

function divisionInstead(node: AnyNode): string {
  if (node.kind !== 'Call') return 'SAFE_DIVIDE(a, b) gives NULL'
  const name = calledName(node)
  return name.startsWith('GENERATE_') ? 'its step is not 0' : `SAFE.${name}(a, b) gives NULL`
}

function rangeInstead(node: AnyNode): string {
  return node.kind === 'Cast' ? 'SAFE_CAST gives NULL' : `in ${display(node)}`
}

function conversionInstead(node: AnyNode): string {
  return node.kind === 'Call' ? `SAFE.${calledName(node)} gives NULL` : 'SAFE_CAST gives NULL'
}

function castInstead(node: AnyNode): string {
  if (node.kind !== 'Call') return 'SAFE_CAST gives NULL'
  const name = calledName(node)
  return name === 'ASCII'
    ? 'ASCII takes a text that begins with an ASCII character: write UNICODE(x)'
    : `${name} takes a JSON value of that type alone: write LAX_${name}(x)`
}

/** Time zones that are written out and that nothing knows. */
function unknownZones(node: AnyNode): AnyNode[] {
  const isOfTimes = node.kind === 'Call' && /DATE|TIME|^STRING$/.test(calledName(node))
  const zone = node.kind === 'Extract' ? node.zone : isOfTimes ? node.arguments.at(-1) : null
  const isWritten = zone?.kind === 'Literal' && zone.literal === 'STRING'
  const isName = isWritten && /^([A-Z_]+[\w+-:]*(\/[\w+-]+)*|[+-][\d:]+)$/i.test(zone.value)
  return isName && !isZone(zone.value) ? [zone] : []
}

function zoneInstead(node: AnyNode): string {
  const name = node.kind === 'Literal' ? node.value.slice(0, 60) : ''
  const near = nearestName(name, Intl.supportedValuesOf('timeZone'))
  return `'${name}'; ${near ? `did you mean '${near}'?` : "one is written 'Europe/Berlin' or '+01:00'"}`
}

/** The parser takes no literal that is negative. */
function rowCounts(node: AnyNode): AnyNode[] {
  const counts = node.kind === 'Query' ? [node.limit, node.offset] : []
  return counts.filter(count => count?.kind === 'ParameterReference')
}

function ungroupedInstead(node: AnyNode): string {
  const name = node.kind === 'Path' ? node.parts.map(part => part.name).join('.') : 'it'
  return `add ${name}, or the expression around it, to GROUP BY, or write ANY_VALUE(${name})`
}

/** Columns beside aggregates that are no key of GROUP BY. */
function ungrouped(query: Query): AnyNode[] {
  const resolution = resolvedAlone(query)
  const lineage = new Lineage(resolution)
  const numberOf = numbering()
  const isAggregated = (part: AnyNode) => [...descendantsHere(part)].some(isPlainAggregate)
  const nodes = [...descendants(query)]
  const sorted = new Map(nodes.flatMap(node => (node.kind === 'Query' ? [[node.body, node.orderBy]] : [])))
  return nodes.flatMap(node => {
    if (node.kind !== 'Select' || node.groupBy?.grouping === 'ALL') return []
    const shown = [...node.items, ...(sorted.get(node) ?? [])]
    if (!node.groupBy && !node.having && !shown.some(isAggregated)) return []
    const keys = keysOf(node).flatMap(key => (key.kind === 'Tuple' ? [key, ...key.items] : [key]))
    const numbers = new Set(keys.map(numberOf))
    const isItem = (path: Path) => resolution.paths.get(path)?.column?.from.kind === 'item'
    const loose = (part: AnyNode): AnyNode[] => {
      if (part.kind === 'Query' || isPlainAggregate(part) || numbers.has(numberOf(part))) return []
      if (part.kind !== 'Path') return children(part).flatMap(loose)
      return isItem(part) || keys.some(key => lineage.isWithin(part, key)) ? [] : [part]
    }
    return [...shown, node.having, node.qualify].flatMap(part => (part ? loose(part) : []))
  })
}
