/**
 * Where in a query an error has its cause: DuckDB gives places in its own SQL only, BigQuery none for values. A part of the query is
 * named where it alone can have caused the error; where several can, the error stays without a place.
 */
import { placeOf } from '../sql/error.ts'
import { isAggregateName } from '../sql/functions.ts'
import { nearestName } from '../sql/nearest.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import type { AnyNode, Call, Expression, Path, Query, Select } from '../sql/tree.ts'
import { children, descendants } from '../sql/walk.ts'
import { isDay, isZone } from './calendar.ts'
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
  return (query: Query) => callsIn(query).filter(call => call.name.length === 1 && names.test(nameOf(call)))
}

function callsIn(node: AnyNode): Call[] {
  return [...descendants(node)].filter(inner => inner.kind === 'Call')
}

function nameOf({ name }: Call): string {
  return name.map(part => part.name.toUpperCase()).join('.')
}

function isPlainAggregate(call: Call): boolean {
  return isAggregateName(nameOf(call)) && !call.over
}

function divisions(query: Query): AnyNode[] {
  return [...descendants(query)].filter(
    node =>
      (node.kind === 'Binary' && node.operator === '/') ||
      (node.kind === 'Call' && /^(DIV|MOD|GENERATE_\w*ARRAY)$/.test(nameOf(node))),
  )
}

function divisionInstead(node: AnyNode): string {
  if (node.kind !== 'Call') return 'SAFE_DIVIDE(a, b) gives NULL'
  const name = nameOf(node)
  return name.startsWith('GENERATE_') ? 'its step is not 0' : `SAFE.${name}(a, b) gives NULL`
}

/** As a message names a part of the query. */
function shown(node: AnyNode): string {
  if (node.kind === 'Call') return nameOf(node)
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
      (node.kind === 'Call' && limitedFunctions.test(nameOf(node))),
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
  const name = nameOf(node)
  return name === 'ASCII'
    ? 'ASCII takes a text that begins with an ASCII character: write UNICODE(x)'
    : `${name} takes a JSON value of that type alone: write LAX_${name}(x)`
}

/** Time zones that are written out and that nothing knows. */
function unknownZones(query: Query): AnyNode[] {
  const nodes = [...descendants(query)].flatMap(node => {
    if (node.kind === 'Extract') return node.zone ?? []
    return node.kind === 'Call' && /DATE|TIME|^STRING$/.test(nameOf(node))
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

/**
 * Casts and functions that read a text, of anything but parameters, whose values are checked before, and texts that are no date where
 * one is compared.
 */
function conversions(query: Query): AnyNode[] {
  const nodes = [...descendants(query)]
  const casts = nodes.filter(node => {
    const [read] = node.kind === 'Cast' && !node.safe ? [node.operand] : argumentsRead(node)
    return read !== undefined && read.kind !== 'ParameterReference'
  })
  const texts = nodes.flatMap(node => {
    if (node.kind === 'TypedLiteral') return isDate(node.value.value) ? [] : [node]
    const operands = comparedBy(node)
    return operands.filter(
      text => text.kind === 'Literal' && text.literal === 'STRING' && !isDate(text.value),
    )
  })
  return [...casts, ...texts]
}

function conversionInstead(node: AnyNode): string {
  if (node.kind === 'Call') return `SAFE.${nameOf(node)} gives NULL`
  return node.kind === 'Cast' ? 'SAFE_CAST gives NULL' : "a time is written '2026-01-31 12:00:00'"
}

const conversionCalls = ['DATE', 'DATETIME', 'TIME', 'TIMESTAMP']

/** Of a function that reads a text which the query does not hold. */
function argumentsRead(node: AnyNode): AnyNode[] {
  if (node.kind !== 'Call' || !/^(DATE|DATETIME|TIME|TIMESTAMP|FROM_BASE(32|64))$/.test(nameOf(node)))
    return []
  return node.arguments.filter(({ kind }) => kind !== 'Literal')
}

function comparedBy(node: AnyNode): AnyNode[] {
  if (node.kind === 'Binary')
    return /^(=|!=|<>|<|>|<=|>=)$/.test(node.operator) ? [node.left, node.right] : []
  if (node.kind === 'Between') return [node.low, node.high]
  if (node.kind === 'Call') return conversionCalls.includes(nameOf(node)) ? node.arguments : []
  return node.kind === 'In' && node.among.kind === 'InList' ? node.among.items : []
}

function isDate(text: string): boolean {
  const day = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/.exec(text)
  if (!day) return /^\s*\d{1,2}:\d{1,2}/.test(text)
  return isDay(...(day.slice(1).map(Number) as [number, number, number]))
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
  const nodes = [...descendants(query)]
  const sorted = new Map(nodes.flatMap(node => (node.kind === 'Query' ? [[node.body, node.orderBy]] : [])))
  const found: AnyNode[] = []
  for (const node of nodes) {
    if (node.kind !== 'Select') continue
    const parts = [...node.items, ...(sorted.get(node) ?? [])]
    const aggregates = parts.some(part => outside(part, isPlainAggregate).length > 0)
    const groups = node.groupBy !== null || node.having !== null || aggregates
    if (!groups || node.groupBy?.grouping === 'ALL') continue
    const keys = keysOf(node)
    for (const part of [...parts, node.having, node.qualify]) found.push(...loose(part, keys))
  }
  return found
}

/** The keys of GROUP BY; one by number or alias is the item of the select list. */
function keysOf({ groupBy, items }: Select): Expression[] {
  const keys = (groupBy?.items ?? []).flatMap(key => (key.kind === 'Tuple' ? [key, ...key.items] : [key]))
  const named = keys.flatMap(key => {
    const item = items.find(
      (item, at) =>
        item.kind === 'SelectColumn' &&
        (key.kind === 'Literal'
          ? Number(key.text) === at + 1
          : key.kind === 'Path' &&
            key.parts.length === 1 &&
            item.alias !== null &&
            same(item.alias.name, key.parts[0]!.name)),
    )
    return item?.kind === 'SelectColumn' ? [item.expression] : []
  })
  const aliases = items.flatMap(item =>
    item.kind === 'SelectColumn' && item.alias
      ? [{ kind: 'Path' as const, parts: [item.alias], at: item.at }]
      : [],
  )
  return [...keys, ...named, ...aliases]
}

function loose(node: AnyNode | null, keys: Expression[]): AnyNode[] {
  if (!node || node.kind === 'Query' || (node.kind === 'Call' && isPlainAggregate(node))) return []
  if (keys.some(key => textOf(key) === textOf(node))) return []
  if (node.kind === 'Path') return keys.some(key => key.kind === 'Path' && covers(key, node)) ? [] : [node]
  return children(node).flatMap(child => loose(child, keys))
}

/** Whether a path may be that of a key, or of a field of it. */
function covers(key: Path, path: Path): boolean {
  const [own, other] = [key, path].map(({ parts }) => parts.map(part => part.name.toLowerCase())) as [
    string[],
    string[],
  ]
  return own.every((name, at) => other[at] === name) || own.at(-1) === other.at(-1)
}

function textOf(node: AnyNode): string {
  return JSON.stringify(node, (key, value: unknown) => (key === 'at' ? undefined : value)).toLowerCase()
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
