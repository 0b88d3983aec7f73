/**
 * Where in a query an error has its cause: DuckDB gives places in its own SQL only, BigQuery none for values. A part of the query is
 * named where it alone can have caused the error; where several can, the error stays without a place.
 */
import { placeOf } from '../sql/error.ts'
import { isAggregateName } from '../sql/functions.ts'
import { Lineage } from '../sql/lineage.ts'
import { nearestName } from '../sql/nearest.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { keysOf } from '../sql/resolve/grouping.ts'
import { resolvedAlone } from '../sql/tables.ts'
import type { AnyNode, Call, Path, Query } from '../sql/tree.ts'
import { calledName, children, descendants } from '../sql/walk.ts'
import { isZone } from './calendar.ts'
import { EngineError } from './engine.ts'

interface Suspicion {
  /** The parts that can have caused it. */
  suspects: (query: Query) => AnyNode[]
  /** Whether each of them is at fault, so that the first one will do. */
  all?: boolean
  /** Whether several of them are named, without a place. */
  named?: boolean
  /** What to write instead, after the message. */
  instead?: string | ((node: AnyNode) => string)
}

/** By the beginning of the message that the `failures.ts` of an engine gives. */
const suspicions: [message: string, Suspicion][] = [
  ['A column is neither grouped', { suspects: ungrouped, all: true, instead: ungroupedInstead }],
  [
    'Aggregate functions cannot be nested',
    { suspects: nested, all: true, instead: 'put the inner one into a subquery' },
  ],
  ['Division by zero', { suspects: divisions, instead: divisionInstead }],
  ['Unknown time zone', { suspects: unknownZones, all: true, instead: zoneInstead }],
  ['Array index is out of bounds', { suspects: indexes, instead: '[SAFE_OFFSET(n)] gives NULL' }],
  [
    'A scalar subquery returned more',
    { suspects: kind('ScalarSubquery'), instead: 'add LIMIT 1, or aggregate' },
  ],
  [
    'A date or time does not have the format',
    { suspects: callsOf(/^PARSE_/), instead: 'SAFE.PARSE_... gives NULL' },
  ],
  [
    'Bad regular expression: invalid perl operator',
    { suspects: callsOf(/^REGEXP_/), instead: 'RE2 has no look-ahead and no backreferences' },
  ],
  ['Bad regular expression', { suspects: callsOf(/^REGEXP_/) }],
  ['LIMIT and OFFSET take no negative', { suspects: rowCounts }],
  ['A value is not JSON', { suspects: callsOf(/^PARSE_JSON$|^JSON_/) }],
  ['A value cannot be converted', { suspects: conversions, instead: conversionInstead }],
  ...['A number or date', 'A number', 'A date or time'].map((what): [string, Suspicion] => [
    `${what} is out of range`,
    { suspects: outOfRange, named: true, instead: rangeInstead },
  ]),
  [
    'A function refuses a value',
    { suspects: callsOf(/^(ACOS|ASIN|ATANH|CHR|FROM_HEX)$/), named: true, instead: rangeInstead },
  ],
  ['Bitwise shifts take no negative', { suspects: shifts, named: true, instead: rangeInstead }],
  ['Length must not be negative', { suspects: withLength, named: true, instead: rangeInstead }],
  ['Bad value for a cast', { suspects: conversionsOfJson, named: true, instead: castInstead }],
]

/** The error with its place in `sql`, where that is known. */
export function located(error: EngineError, sql: string): EngineError {
  const suspicion = suspicions.find(([message]) => error.message.startsWith(message))?.[1]
  if (error.reason !== 'rejected' || error.place || !suspicion) return error
  const { suspects, all = false, named = false, instead } = suspicion
  const found = suspects(parse(sql, statementLimits))
  const names = [...new Set(found.map(shown))]
  if (named && found.length > 1 && names.length <= 3)
    return new EngineError('rejected', `${error.message}: in ${names.join(' or ')}`, { cause: error.cause })
  if (found.length === 0 || (found.length > 1 && !all)) return error
  const culprit = found[0]!
  if (culprit.kind === 'ParameterReference')
    return new EngineError('rejected', `${error.message}: see parameter @${culprit.name}`, {
      cause: error.cause,
    })
  // A parameter's value is at fault, not the text of the query.
  if (!all && [...descendants(culprit)].some(node => node.kind === 'ParameterReference')) return error
  const hint = typeof instead === 'function' ? instead(culprit) : instead
  const message = error.message + (hint ? `: ${hint}` : '')
  return new EngineError('rejected', message, { place: placeOf(sql, culprit.at), cause: error.cause })
}

function kind(name: AnyNode['kind']) {
  return (query: Query) => [...descendants(query)].filter(node => node.kind === name)
}

function callsOf(names: RegExp) {
  return (query: Query) =>
    callsIn(query).filter(call => call.name.length === 1 && names.test(calledName(call)))
}

function callsIn(node: AnyNode): Call[] {
  return [...descendants(node)].filter(inner => inner.kind === 'Call')
}

function isPlainAggregate(call: Call): boolean {
  return isAggregateName(calledName(call)) && !call.over
}

function divisions(query: Query): AnyNode[] {
  return [...descendants(query)].filter(
    node =>
      (node.kind === 'Binary' && node.operator === '/') ||
      (node.kind === 'Call' && /^(DIV|MOD|GENERATE_\w*ARRAY)$/.test(calledName(node))),
  )
}

function divisionInstead(node: AnyNode): string {
  if (node.kind !== 'Call') return 'SAFE_DIVIDE(a, b) gives NULL'
  const name = calledName(node)
  return name.startsWith('GENERATE_') ? 'its step is not 0' : `SAFE.${name}(a, b) gives NULL`
}

/** As a message names a part of the query. */
function shown(node: AnyNode): string {
  if (node.kind === 'Call') return calledName(node)
  return 'operator' in node && typeof node.operator === 'string' ? node.operator : node.kind.toUpperCase()
}

const limitedFunctions =
  /^(SUM|AVG|ABS|SQRT|LN|LOG|LOG10|EXP|POW|POWER|A(COS|SIN|TAN)H?|COSH|SINH|CHR|DIV|ROUND|DATE|DATETIME|TIME|TIMESTAMP)$|^(DATE|DATETIME|TIME|TIMESTAMP|PARSE|RANGE|NET|REGEXP)[_.]|^INSTR$/

/** Arithmetic, casts, and functions whose results or arguments have bounds. */
function outOfRange(query: Query): AnyNode[] {
  const nodes = [...descendants(query)].filter(
    node =>
      (node.kind === 'Binary' && /^([-+*/]|<<)$/.test(node.operator)) ||
      (node.kind === 'Unary' && node.operator === '-' && node.operand.kind !== 'Literal') ||
      (node.kind === 'IntervalLiteral' && node.value.kind !== 'Literal') ||
      (node.kind === 'Call' && limitedFunctions.test(calledName(node))),
  )
  return [...nodes, ...conversions(query).filter(({ kind }) => kind === 'Cast')]
}

function rangeInstead(node: AnyNode): string {
  return node.kind === 'Cast' ? 'SAFE_CAST gives NULL' : `in ${shown(node)}`
}

function withLength(query: Query): AnyNode[] {
  return callsOf(/^(SUBSTR|SUBSTRING|LEFT|RIGHT|[LR]PAD|REPEAT)$/)(query)
}

function shifts(query: Query): AnyNode[] {
  return [...descendants(query)].filter(node => node.kind === 'Binary' && /^(<<|>>)$/.test(node.operator))
}

/** Functions that take a JSON value of one type, casts, and ASCII. */
function conversionsOfJson(query: Query): AnyNode[] {
  const calls = callsOf(/^(INT64|FLOAT64|BOOL|STRING|ASCII)$/)(query)
  return [...calls, ...conversions(query).filter(({ kind }) => kind === 'Cast')]
}

function castInstead(node: AnyNode): string {
  if (node.kind !== 'Call') return 'SAFE_CAST gives NULL'
  const name = calledName(node)
  return name === 'ASCII'
    ? 'ASCII takes a text that begins with an ASCII character: write UNICODE(x)'
    : `${name} takes a JSON value of that type alone: write LAX_${name}(x)`
}

/** Time zones that are written out and that nothing knows. */
function unknownZones(query: Query): AnyNode[] {
  const nodes = [...descendants(query)].flatMap(node => {
    if (node.kind === 'Extract') return node.zone ?? []
    return node.kind === 'Call' && /DATE|TIME|^STRING$/.test(calledName(node))
      ? (node.arguments.at(-1) ?? [])
      : []
  })
  return nodes.filter(
    node =>
      node.kind === 'Literal' &&
      node.literal === 'STRING' &&
      /^([A-Z_]+[\w+-:]*(\/[\w+-]+)*|[+-][\d:]+)$/i.test(node.value) &&
      !isZone(node.value),
  )
}

function zoneInstead(node: AnyNode): string {
  const name = node.kind === 'Literal' ? node.value.slice(0, 60) : ''
  const near = nearestName(name, Intl.supportedValuesOf('timeZone'))
  return `'${name}'; ${near ? `did you mean '${near}'?` : "one is written 'Europe/Berlin' or '+01:00'"}`
}

/** The parser takes no literal that is negative. */
function rowCounts(query: Query): AnyNode[] {
  const queries = [...descendants(query)].filter(node => node.kind === 'Query')
  return queries
    .flatMap(({ limit, offset }) => [limit, offset])
    .filter(count => count?.kind === 'ParameterReference')
}

function indexes(query: Query): AnyNode[] {
  return [...descendants(query)].filter(node => node.kind === 'Subscript' && !node.mode?.startsWith('SAFE'))
}

/** Casts and functions that read a text, of anything but literals and parameters, whose values are checked before. */
function conversions(query: Query): AnyNode[] {
  return [...descendants(query)].filter(node => {
    if (node.kind === 'Cast') return !node.safe && node.operand.kind !== 'ParameterReference'
    const read = node.kind === 'Call' && reading.test(calledName(node)) ? node.arguments : []
    return read.some(({ kind }) => kind !== 'Literal' && kind !== 'ParameterReference')
  })
}

const reading = /^(DATE|DATETIME|TIME|TIMESTAMP|FROM_BASE(32|64))$/

function conversionInstead(node: AnyNode): string {
  return node.kind === 'Call' ? `SAFE.${calledName(node)} gives NULL` : 'SAFE_CAST gives NULL'
}

/** The calls that match, but for those of subqueries. */
function outside(node: AnyNode | null, matches: (call: Call) => boolean): AnyNode[] {
  if (!node || node.kind === 'Query') return []
  const own = node.kind === 'Call' && matches(node) ? [node] : []
  return [...own, ...children(node).flatMap(child => outside(child, matches))]
}

function nested(query: Query): AnyNode[] {
  return callsIn(query)
    .filter(isPlainAggregate)
    .flatMap(call => call.arguments.flatMap(argument => outside(argument, isPlainAggregate)))
}

function ungroupedInstead(node: AnyNode): string {
  const name = node.kind === 'Path' ? node.parts.map(part => part.name).join('.') : 'it'
  return `add ${name}, or the expression around it, to GROUP BY, or write ANY_VALUE(${name})`
}

/** Columns beside aggregates that are no key of GROUP BY. */
function ungrouped(query: Query): AnyNode[] {
  const resolution = resolvedAlone(query)
  const lineage = new Lineage(resolution)
  const nodes = [...descendants(query)]
  const sorted = new Map(nodes.flatMap(node => (node.kind === 'Query' ? [[node.body, node.orderBy]] : [])))
  return nodes.flatMap(node => {
    if (node.kind !== 'Select' || node.groupBy?.grouping === 'ALL') return []
    const shown = [...node.items, ...(sorted.get(node) ?? [])]
    const isGrouped =
      node.groupBy ?? node.having ?? shown.find(part => outside(part, isPlainAggregate).length > 0)
    if (!isGrouped) return []
    const keys = keysOf(node).flatMap(key => (key.kind === 'Tuple' ? [key, ...key.items] : [key]))
    const texts = new Set(keys.map(textOf))
    const isItem = (path: Path) => resolution.paths.get(path)?.column?.from.kind === 'item'
    const loose = (part: AnyNode): AnyNode[] => {
      if (part.kind === 'Query' || (part.kind === 'Call' && isPlainAggregate(part))) return []
      if (texts.has(textOf(part))) return []
      if (part.kind !== 'Path') return children(part).flatMap(loose)
      return isItem(part) || keys.some(key => lineage.isWithin(part, key)) ? [] : [part]
    }
    return [...shown, node.having, node.qualify].flatMap(part => (part ? loose(part) : []))
  })
}

function textOf(node: AnyNode): string {
  return JSON.stringify(node, (key, value: unknown) => (key === 'at' ? undefined : value)).toLowerCase()
}
