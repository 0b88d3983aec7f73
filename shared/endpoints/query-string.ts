/** The raw query string of a URL, read strictly: repeated parameters and broken UTF-8 are seen, not repaired. */
import { ApiError } from '../errors.ts'

export interface Pair {
  name: string
  /** `null` where the percent-escapes are not UTF-8. */
  value: string | null
}

export const repeated = 'is given more than once; send it once'
export const undecodable = 'is not valid percent-encoded UTF-8'

/** By their text in lower case. */
export const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** Parameters of every endpoint, which none may declare. Logflare calls GoogleSQL `bq_sql`, too. */
export const reservedNames = new Set(['sql', 'bq_sql', 'format'])

/** Parameters in which Logflare takes a query, with the dialect if it is not supported here. */
const dialects: ReadonlyMap<string, string | null> = new Map([
  ['sql', null],
  ['bq_sql', null],
  ['lql', 'Logflare’s own query language'],
  ['pg_sql', 'PostgreSQL’s SQL'],
  ['ch_sql', 'ClickHouse’s SQL'],
])

/** The last query string read: each step of a request reads the same one. */
let last: { query: string; pairs: readonly Pair[] } = { query: '', pairs: [] }

/** URLSearchParams would silently turn broken UTF-8 into U+FFFD. */
export function splitQuery(query: string): readonly Pair[] {
  if (query !== last.query) last = { query, pairs: query.split('&').filter(Boolean).map(pairOf) }
  return last.pairs
}

function pairOf(part: string): Pair {
  const equals = part.indexOf('=')
  const name = decode(equals < 0 ? part : part.slice(0, equals))
  return { name: name ?? '', value: decode(equals < 0 ? '' : part.slice(equals + 1)) }
}

/** The query string of these parameters. What is no text stands as JSON; NULL is left out. */
export function queryText(parameters: object): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) =>
      [name, typeof value === 'string' ? value : JSON.stringify(value)].map(encode).join('='),
    )
    .join('&')
}

/**
 * Refuses what would become another value on its way: lists and records, which would be their JSON text, integers that JSON's
 * numbers do not hold exactly, and halves of characters.
 * @param isKnown whether a name is a parameter; others are ignored, whatever they hold
 * @throws ApiError `invalid_parameter`
 */
export function assertSingleValues(members: unknown, isKnown: (name: string) => boolean): void {
  const problems = Object.entries(members ?? {})
    .filter(([name]) => isKnown(name))
    .map(([parameter, value]) => ({ parameter, detail: faultOfMember(value) }))
    .filter((problem): problem is { parameter: string; detail: string } => problem.detail !== null)
  if (problems.length > 0) throw ApiError.of('invalid_parameter', ...problems)
}

/** How a member of a JSON body would be another value as a parameter. */
function faultOfMember(value: unknown): string | null {
  if (typeof value === 'object' && value !== null) return 'must be one value: a text, a number, true or false'
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'is an integer past ±(2^53 - 1): send it as a text'
  if (value === Infinity || value === -Infinity) return 'is a number past ±1.7976931348623157e308'
  return typeof value === 'string' && !value.isWellFormed() ? 'holds half of a character' : null
}

/** JSON may hold halves of characters, which have no UTF-8. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/**
 * The query string of a call with the members of its JSON body, which a POST has, and a GET of Logflare's clients where
 * SQL is too long for the URL.
 * @param body as it was parsed; `undefined` = none
 * @throws ApiError `invalid_request`
 */
export function withBody(query: string, method: string, body: unknown): string {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return [query, queryText(body)].filter(Boolean).join('&')
  if (method !== 'POST') return query
  throw new ApiError(
    'invalid_request',
    'A POST takes a JSON body {"sql": "SELECT ..."}, with its Content-Type.',
  )
}

function decode(text: string): string | null {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/**
 * The query that a caller sends, `null` where there is none. One in another dialect is refused: without it the caller would get all
 * rows for those that it asks for.
 * @param isDeclared whether the endpoint has a parameter of this name
 * @throws ApiError `invalid_parameter`
 */
export function readSql(query: string, isDeclared: (name: string) => boolean): string | null {
  const sent = splitQuery(query).filter(
    ({ name, value }) => dialects.has(name) && value !== '' && !isDeclared(name),
  )
  if (sent.length === 0) return null
  for (const { name } of sent) {
    const dialect = dialects.get(name)
    const detail = `is ${dialect}, which is not spoken here: send GoogleSQL, BigQuery’s, as sql`
    if (dialect) throw ApiError.of('invalid_parameter', { parameter: name, detail })
  }
  const [first, second] = new Set(sent.map(({ name }) => name as 'sql' | 'bq_sql'))
  if (second === undefined) return first === undefined ? null : readSingle(query, first)
  const detail = 'is the same as sql: send one of the two'
  throw ApiError.of('invalid_parameter', { parameter: 'bq_sql', detail })
}

/**
 * The decoded value of one parameter, `null` where it is absent or empty.
 * @throws ApiError `invalid_parameter` where it occurs twice or is not UTF-8
 */
export function readSingle(
  query: string,
  name: 'sql' | 'bq_sql' | 'format' | 'endpoint' | 'cursor' | 'follow',
): string | null {
  const found = splitQuery(query).filter(pair => pair.name === name)
  if (found.length > 1) throw ApiError.of('invalid_parameter', { parameter: name, detail: repeated })
  if (found[0]?.value === null)
    throw ApiError.of('invalid_parameter', { parameter: name, detail: undecodable })
  return found[0]?.value || null
}
