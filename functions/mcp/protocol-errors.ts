/** A request to `/mcp`, as the files of this room share it. */
import { ProtocolError } from '@modelcontextprotocol/server'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { describeError } from '../../shared/log.ts'
import { redactSent } from '../../shared/redact/redact.ts'
import { allVisible, beginning, visible } from '../../shared/visible-text.ts'
import { Timing } from '../../shared/timing.ts'
import { type Call, goneSignal } from '../http/call.ts'
import { answerQuestion } from '../query/answer.ts'
import { redactionFor } from '../query/headers.ts'

export interface McpCall {
  call: Call
  /** Who sends it. */
  caller: Caller
}

/**
 * The answer to a tool's question, redacted unless the key may see all.
 * @param query parameters of the endpoint, as a query string
 * @param sql over its tables; `null` = its own query
 * @throws ApiError
 */
export async function ask({ call, caller }: McpCall, endpoint: Endpoint, query: string, sql: string | null) {
  Object.assign(call.notes, {
    how: 'mcp',
    endpoint: endpoint.name,
    version: endpoint.version,
    sql: sql !== null,
  })
  const isImposed = caller.redacted === true || !caller.rights.includes('pii:read')
  const redacted = redactionFor(endpoint, caller, call.req.headers) || isImposed
  const gone = () => goneSignal(call.res)
  const question = { caller, endpoint, query, callerSql: sql, redacted, isImposed, bypass: false, gone }
  const answered = await answerQuestion(call, question, new Timing())
  const { answer, status } = answered.result
  Object.assign(call.notes, { cache: status, rows: answer.summary.rows })
  return answered
}

/** What a caller sent, in an error: redacted, as it may be a row's value. */
export function echo(sent: string): string {
  return shorten(redactSent(sent))
}

/** Long enough to know it again, and no way to fill a context. */
export function shorten(sent: string): string {
  const shown = visible(sent)
  return shown.length <= 200 ? shown : `${beginning(shown, 200)}…`
}

/** A message that quotes what was sent, such as a name in SQL. */
export function briefly(message: string): string {
  return beginning(visible(message).replaceAll(/\S{201,}/g, shorten), 4_000)
}

/** For a name or an argument that the server does not know: JSON-RPC's code for it. */
export function invalidParams(message: string, data?: object): ProtocolError {
  return new ProtocolError(-32602, briefly(message), allVisible(data))
}

/**
 * What the protocol's library sends of a result or an error, with nothing hidden in it. It sends the message of any error:
 * those that are not for callers stay in the log line.
 */
export async function withProtocolErrors<T>({ call }: McpCall, act: () => T | Promise<T>): Promise<T> {
  try {
    return allVisible(await act())
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    Object.assign(call.notes, describeError(error))
    throw new ProtocolError(-32603, error instanceof ApiError ? briefly(error.message) : 'An internal error.')
  }
}
