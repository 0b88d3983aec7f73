/**
 * Who has to correct what an engine refuses: 4xx is for what the caller of a request can change, its SQL or a value that
 * it sent. An endpoint's own query, its defaults, pins of a key and the logs are the operator's.
 */
import { LRUCache } from 'lru-cache'
import { type Endpoint, definitionError } from '../endpoints/definition.ts'
import { EngineError, type EngineErrorReason, type Statement } from '../engines/engine.ts'
import { ApiError, type ErrorCode, type Problem } from '../errors.ts'
import { isInCaller } from '../sandbox/sandbox.ts'
import { offsetOf, type Place, SqlError } from '../sql/error.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import type { AnyNode, Binary, Query } from '../sql/tree.ts'
import { children, descendants } from '../sql/walk.ts'

/** What a request consists of, and whose it is. */
interface BlamedRequest {
  endpoint: Pick<Endpoint, 'name' | 'sql'>
  statement: Statement
  /** Normal form of the caller's SQL, `null` for the endpoint's own query. */
  sql: string | null
  /** Parameters whose values are the caller's own: neither defaults nor pins. */
  sent: readonly string[]
  /** The requests for the rows that it reads as tables. */
  upstream?: readonly { request: BlamedRequest }[]
}

/** Errors of the engine that other SQL or other values may avoid. */
const avoidable = new Set<ErrorCode>(['invalid_query', 'result_too_large', 'bytes_limit_exceeded'])

/** The error, or where this request's caller can do nothing about it, the operator's: 500 `internal`. */
export function blame(error: ApiError, asked: BlamedRequest): ApiError {
  if (!avoidable.has(error.code) || isOfCaller(error, asked)) return error
  return definitionError(asked.endpoint, `its own query fails: ${error.message}`)
}

function isOfCaller(
  error: ApiError,
  { endpoint, statement, sql, sent, upstream = [] }: BlamedRequest,
): boolean {
  const { code, message, problems, cause } = error
  const failed = problems.find(problem => problem.endpoint !== undefined)?.endpoint
  if (failed !== undefined && failed !== endpoint.name)
    return upstream.some(({ request }) => leadsTo(request, failed) && isOfCaller(error, request))
  const [place] = problems.flatMap(({ line, column }) => (line && column ? [{ line, column }] : []))
  // `apply` has seen that the engine takes the endpoint's own part; with the caller's SQL the statement is too large.
  const isTooMuch = cause instanceof EngineError && cause.reason === 'unsupported'
  if (sql !== null) return !place || isTooMuch || isInCaller({ sql: statement.sql, normal: sql }, place)
  if (code !== 'invalid_query') return sent.length > 0
  // An error of the text, which no value changes.
  if (cause instanceof EngineError && cause.cause instanceof SqlError) return false
  const [, named] = /parameter @(\w+)/.exec(message) ?? []
  if (named) return sent.includes(named)
  const risk = /regular expression|^REGEXP_/i.test(message) ? 'pattern' : 'value'
  const risks = risksOf(endpoint.sql)
  const culprits = place && parametersAt(statement.sql, place)
  return sent.some(name => {
    const own = risks.get(name)
    return own?.has(risk) && (!culprits || culprits.has(name) || own.has('column'))
  })
}

function leadsTo({ endpoint, upstream = [] }: BlamedRequest, name: string): boolean {
  return endpoint.name === name || upstream.some(({ request }) => leadsTo(request, name))
}

/** The parameters in the part of a query that begins at this place. */
function parametersAt(sql: string, place: Place): ReadonlySet<string> {
  const at = offsetOf(sql, place)
  const parts = [...descendants(parse(sql, statementLimits))].filter(node => node.at === at)
  const within = parts.flatMap(part => [...descendants(part)])
  return new Set(within.flatMap(node => (node.kind === 'ParameterReference' ? node.name : [])))
}

/**
 * How a parameter's value can make a query fail while it runs: as a regular expression, or as any other operand; and whether
 * it becomes a column, which other parts of the query read.
 */
type Risk = 'pattern' | 'value' | 'column'
type Risks = ReadonlySet<Risk>

const none: Risks = new Set()
const all: Risks = new Set(['pattern', 'value', 'column'])

const byQuery = new LRUCache<string, ReadonlyMap<string, Risks>>({ max: 200, memoMethod: risksIn })

/**
 * The risks of each parameter of a query, by name. A parameter that is only compared has none, so an error while the
 * query runs comes from elsewhere, such as a value in the logs. In doubt a parameter has all.
 */
export function risksOf(sql: string): ReadonlyMap<string, Risks> {
  return byQuery.memo(sql)
}

function risksIn(sql: string): ReadonlyMap<string, Risks> {
  try {
    return risksInTree(parse(sql, statementLimits))
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    return new Map() // no value makes it right
  }
}

function risksInTree(query: Query): ReadonlyMap<string, Risks> {
  const found = new Map<string, Risks>()
  const visit = (node: AnyNode, risks: Risks): void => {
    if (node.kind === 'ParameterReference')
      found.set(node.name, new Set([...(found.get(node.name) ?? []), ...risks]))
    for (const child of children(node)) visit(child, risksBelow(node, child, risks))
  }
  visit(query, none)
  return found
}

type Below = {
  [Kind in AnyNode['kind']]?: (node: Extract<AnyNode, { kind: Kind }>, child: AnyNode, risks: Risks) => Risks
}

const same = (_node: AnyNode, _child: AnyNode, risks: Risks) => risks
const operand = (_node: AnyNode, _child: AnyNode, risks: Risks) => withRisk(risks, 'value')
const anywhere = () => all

/** The risks of a child's value, given those of the node's own. Other kinds are conditions, and parts of queries: none. */
const below: Below = {
  Query: (node, child) => (child === node.limit || child === node.offset ? withRisk(none, 'value') : none),
  SelectColumn: anywhere,
  UnnestReference: anywhere,
  ArrayLiteral: anywhere,
  StructLiteral: anywhere,
  Tuple: anywhere,
  Parenthesized: same,
  NamedArgument: same,
  Case: (node, child, risks) => (child === node.operand ? none : risks),
  CaseBranch: (node, child, risks) => (child === node.when ? none : risks),
  Binary: (node, _, risks) => (isComparison(node) ? none : withRisk(risks, 'value')),
  Cast: (node, _, risks) => (node.safe ? risks : withRisk(risks, 'value')),
  Like: () => withRisk(none, 'value'),
  LikeAny: () => withRisk(none, 'value'),
  Call: (node, _, risks) =>
    risksOfArguments(
      node.name.map(({ name }) => name.toUpperCase()),
      risks,
    ),
  Unary: operand,
  Subscript: operand,
  IntervalLiteral: operand,
  Extract: operand,
}

function risksBelow(node: AnyNode, child: AnyNode, risks: Risks): Risks {
  return below[node.kind]?.(node as never, child, risks) ?? none
}

const passing = new Set(['COALESCE', 'IF', 'IFNULL', 'NULLIF'])
const conditions = new Set(['STARTS_WITH', 'ENDS_WITH'])

function risksOfArguments([name = '', ...rest]: string[], risks: Risks): Risks {
  if (name === 'SAFE' && rest.length > 0) return risks
  if (name === 'REGEXP_CONTAINS') return withRisk(none, 'pattern')
  if (name.startsWith('REGEXP_')) return withRisk(withRisk(risks, 'value'), 'pattern')
  if (conditions.has(name)) return none
  return passing.has(name) ? risks : withRisk(risks, 'value')
}

function isComparison({ operator }: Binary): boolean {
  return /^(AND|OR|[=!<>]=?|<>)$/.test(operator)
}

function withRisk(risks: Risks, one: Risk): Risks {
  return new Set([...risks, one])
}

/**
 * Code and detail by the reason alone: BigQuery gives one reason under several statuses. `{message}` is the engine's,
 * and so is a detail without words of this table: the caller's own input is at fault.
 */
const meanings: Record<EngineErrorReason, [code: ErrorCode, detail?: string]> = {
  rejected: ['invalid_query'],
  unsupported: ['invalid_query'],
  misconfigured: ['internal', 'An internal error.'],
  no_rollup: ['engine_error', 'The query engine failed.'],
  too_many_bytes: ['bytes_limit_exceeded', '{message}; ask for less.'],
  result_too_large: ['result_too_large', '{message}; ask for fewer rows or columns.'],
  overloaded: ['overloaded', 'The service is busy with other queries; come back in a few seconds.'],
  timeout: ['query_timeout', 'The query did not finish within {timeoutSeconds} s.'],
  cancelled: ['engine_unavailable', 'The query was ended before its time: send it again.'],
  failed: ['engine_error', 'The query engine failed.'],
  unavailable: ['engine_unavailable', 'The query engine is not available at the moment.'],
}

/** What an engine's error means for a caller that can avoid it; `blame.ts` says whether it can. */
export function apiErrorOf(cause: EngineError, endpoint: Endpoint): ApiError {
  const [code, detail] = meanings[cause.reason]
  if (detail === undefined) {
    const problems = suspects(cause, endpoint)
    const unnamed = problems.filter(
      ({ parameter }) => parameter !== 'sql' && !cause.message.includes(`@${parameter}`),
    )
    const names = unnamed.map(({ parameter }) => `${parameter}: `).join('or ')
    return new ApiError(code, names + cause.message, { problems, cause })
  }
  const text = detail
    .replace('{message}', () => cause.message)
    .replace('{timeoutSeconds}', String(endpoint.timeoutSeconds))
  return new ApiError(code, text, { cause })
}

/**
 * Where the engine's message applies: a place in the statement, or a parameter that it names. For a bad regular
 * expression the engine names no parameter; the definition says which of them are regular expressions.
 */
function suspects(error: EngineError, endpoint: Endpoint): Problem[] {
  if (error.place) return [{ parameter: 'sql', ...error.place, detail: error.message }]
  const [, named] = /parameter @(\w+)/.exec(error.message) ?? []
  if (named) return [{ parameter: named, detail: error.message }]
  if (!/regular expression|^REGEXP_/i.test(error.message)) return []
  return Object.entries(endpoint.parameters)
    .filter(([, definition]) => definition.format === 'regular-expression')
    .map(([parameter]) => ({ parameter, detail: error.message }))
}
