/** A call for a page: from its cursor to the statement that runs, and from the rows to the cursors that lead on. */
import { hash } from 'node:crypto'
import type { Endpoint, Paging } from '../endpoints/definition.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import { readSingle } from '../endpoints/query-string.ts'
import { toMicros } from '../endpoints/timestamps.ts'
import type { Result, Row, Statement } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import type { Cursor, Cursors } from './cursor.ts'
import { pageRows, pageStatement, type Position } from './statement.ts'

/** Where an answer's neighbours are. */
export interface PageMarks {
  /** For `cursor`: the rows that come after these. `null` = there are none. */
  next: string | null
  /** For `follow`: rows that are newer than the newest of these; `null` on pages of older rows. */
  newest: string | null
}

/** A page that is to be run. */
export interface Page {
  statement: Statement
  /** What the caller sent, for the cache key; `null` for the first page. */
  cursor: string | null
  /** Rows that it may have. */
  rows: number
  /** The result as it is answered, and its marks. @param result of the statement with `rows` as its limit */
  finish<R extends Result>(result: R): Promise<{ result: R; marks: PageMarks }>
}

interface SentCursor extends Cursor {
  text: string
}

/**
 * The cursor that a call holds; `null` where it holds none, or the endpoint has no pages.
 * @throws ApiError `invalid_parameter` for one that is damaged, over or of another endpoint; `store_unavailable`
 */
export async function readCursor(
  cursors: Cursors,
  endpoint: Endpoint,
  query: string,
): Promise<SentCursor | null> {
  if (!endpoint.page) return null
  const texts = { next: readSingle(query, 'cursor'), follow: readSingle(query, 'follow') }
  if (texts.next !== null && texts.follow !== null)
    throw refusal('cursor', 'and follow lead in two directions; send one of them')
  const direction = texts.follow === null ? 'next' : 'follow'
  const text = texts[direction]
  if (text === null) return null
  const parameter = parameterOf({ direction })
  const cursor = await cursors.open(text)
  if (!cursor)
    throw refusal(
      parameter,
      'is damaged, or its time is over: send it as meta.next or meta.newest had it, or begin with the first page',
    )
  if (cursor.endpointId !== endpoint.id) throw refusal(parameter, 'is of another endpoint')
  if (cursor.direction !== direction)
    throw refusal(parameter, `leads the other way: cursor takes meta.next, follow takes meta.newest`)
  return { ...cursor, text }
}

/** What a call asks for, besides its parameters. */
interface PageRequest {
  cursor: SentCursor | null
  /** What relative times counted from. */
  now: Date
  /** The caller's own SQL, which has no pages. */
  sql: string | null
}

/**
 * The page that a call asks for; `null` for a caller's own SQL, and where the endpoint has none.
 * @throws ApiError `invalid_parameter` for a cursor of other parameters, or beside SQL
 */
export function pageFor(
  cursors: Cursors,
  endpoint: Endpoint,
  parameters: Parameters,
  { cursor, now, sql: callerSql }: PageRequest,
): Page | null {
  const { sql, version, page, newestFirst, maxRows } = endpoint
  if (cursor && callerSql !== null)
    throw refusal(parameterOf(cursor), 'does not go with sql: bound the time in the SQL itself')
  if (!page || callerSql !== null) return null
  const hashed = hash('sha256', parameters.canonical).slice(0, 32)
  if (cursor && cursor.parameters !== hashed)
    throw refusal(parameterOf(cursor), 'is of other parameters: send those of its first page')
  const limit = pageRows({ sql, version, page })
  const isRelative = Object.keys(parameters.resolved).length > 0
  const seal = (direction: Cursor['direction'], after: Position) =>
    cursors.seal({
      endpointId: endpoint.id,
      parameters: hashed,
      direction,
      after,
      now: isRelative ? now.getTime() : null,
    })
  const following = cursor?.direction === 'follow'
  return {
    statement: pageStatement({ sql, version, page, newestFirst }, parameters.bindings, cursor),
    cursor: cursor?.text ?? null,
    rows: Math.min(maxRows, limit),
    async finish(result) {
      const rows = result.text?.ndjson.split('\n').filter(Boolean) ?? result.rows
      const [first, last] = [firstPosition(rows, page), firstPosition(rows.toReversed(), page)]
      const next = !following && result.truncated && last ? await seal('next', last) : null
      const newest = following ? (last ?? cursor.after) : (first ?? startOf(endpoint, parameters))
      return {
        result: { ...result, truncated: result.truncated && limit > maxRows },
        marks: { next, newest: cursor && !following ? null : await seal('follow', newest) },
      }
    },
  }
}

/**
 * The cursor of the rows after one of an answer, where only a part of it is shown. `null` where the row does not say its place,
 * as redaction took it out.
 * @param known any cursor that the same answer leads to or from
 */
export async function cursorAfter(
  cursors: Cursors,
  { page }: Endpoint,
  row: Row,
  known: string,
): Promise<string | null> {
  const cursor = await cursors.open(known)
  const after = page && positionOf(row, page)
  if (!cursor || !after || after.tie.includes('REDACTED')) return null
  return cursors.seal({ ...cursor, direction: 'next', after })
}

/** The position of the first row that has one. Rows that are text are parsed one by one until then. */
function firstPosition(rows: (Row | string)[], page: Paging): Position | null {
  for (const row of rows) {
    const position = positionOf(typeof row === 'string' ? (JSON.parse(row) as Row) : row, page)
    if (position) return position
  }
  return null
}

/** `null` for a row without a time: such rows come last, and are on no further page. */
function positionOf(row: Row, { by }: Paging): Position | null {
  const [time, tie] = by.map(name => row[name] as number | string | null)
  return time == null ? null : { time: String(time), tie: tie == null ? '' : String(tie) }
}

/** For `follow` of an answer without rows: the start of the window, so that every row that comes is newer. */
function startOf({ newestFirst }: Endpoint, { bindings }: Parameters): Position {
  const start = bindings.find(({ name }) => name === newestFirst?.start)?.value
  return {
    time: String(toMicros(typeof start === 'string' ? start : '0001-01-01T00:00:00.000001Z')),
    tie: '',
  }
}

function parameterOf({ direction }: Pick<Cursor, 'direction'>): 'cursor' | 'follow' {
  return direction === 'next' ? 'cursor' : 'follow'
}

function refusal(parameter: string, detail: string): ApiError {
  return ApiError.of('invalid_parameter', { parameter, detail })
}
