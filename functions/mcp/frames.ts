/**
 * A short way for `tools/call`: a hot chart took 4.6 times the CPU of its answer over HTTP, and 8.7 times for a client of 2025,
 * most of it in the protocol's library. What the library does depends on the form of a request: all of it but the id, the
 * values of the arguments, and what a client numbers its requests by. So it judges each form once, with marks in the places of
 * the id and the result, and what it writes around them is the frame of later answers. It answers what has no frame.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import type { McpCall } from './call.ts'

/** Forms remembered: one for each tool and set of its arguments, by the version of a client. */
const maxForms = 500
const maxFormCharacters = 2_000

/** The headers that the library reads. */
const headersRead = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
]

export interface ToolCall {
  name: string
  arguments?: Record<string, unknown> | undefined
  _meta?: unknown
}

/** What the library may have a frame for; it judges the rest, such as the name's type. */
interface ToolRequest {
  id: string | number
  params: ToolCall
}

interface Frame {
  status: number
  headers: [name: string, value: string][]
  /** Before the members of the result, between them and the id, after it. */
  parts: [string, string, string]
}

interface FramedRequest extends ToolRequest {
  frame: Frame
}

/** Lets the library answer a body as that of the call, with a tool in the place of all others. */
export type AskLibrary = (
  mcpCall: McpCall,
  body: unknown,
  callTool?: (params: ToolCall) => CallToolResult,
) => Promise<Response>

/** @returns a function that finds the frame for a request; it gives `null` where the library has to answer */
export function frames(askLibrary: AskLibrary): (mcpCall: McpCall) => Promise<FramedRequest | null> {
  const known = new LRUCache<string, Promise<Frame | null>>({ max: maxForms })
  return async mcpCall => {
    const { headers, body } = mcpCall.call.req as { headers: IncomingHttpHeaders; body: unknown }
    if (!isToolRequest(body)) return null
    const form = formOf(headers, body)
    if (form.length > maxFormCharacters) return null
    let learning = known.get(form)
    if (!learning) {
      learning = learn(askLibrary, mcpCall, body)
      known.set(form, learning)
      learning.catch(() => known.delete(form))
    }
    const frame = await learning
    return frame && { frame, id: body.id, params: body.params }
  }
}

function isToolRequest(body: unknown): body is ToolRequest {
  if (!isRecord(body) || body['method'] !== 'tools/call') return false
  const { id, params } = body
  const isId = typeof id === 'string' || Number.isSafeInteger(id)
  return isId && isRecord(params) && isRecord(params['arguments'])
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function formOf(headers: IncomingHttpHeaders, body: ToolRequest): string {
  const { _meta, arguments: args } = body.params
  const params = { ...body.params, _meta: metaForm(_meta), arguments: Object.keys(args!) }
  return JSON.stringify([headersRead.map(name => headers[name]), { ...body, id: 0, params }])
}

/** Clients number requests by `progressToken` and keys of their own; the library reads the type of such a value. */
function metaForm(meta: unknown): unknown {
  if (!isRecord(meta)) return meta
  const isNumber = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value)
  const forms = Object.entries(meta).map(([name, value]) => {
    const isOwn = !name.startsWith('io.modelcontextprotocol/')
    return [name, isOwn && isNumber(value) ? typeof value : value]
  })
  return Object.fromEntries(forms)
}

/** A form has no frame where the library refuses it, or passes on something else than it got. */
async function learn(askLibrary: AskLibrary, mcpCall: McpCall, body: ToolRequest): Promise<Frame | null> {
  const [id, text] = [randomUUID(), randomUUID()]
  const result: CallToolResult = { content: [{ type: 'text', text }] }
  let given: ToolCall | undefined
  const response = await askLibrary(mcpCall, { ...body, id }, params => {
    given = params
    return result
  })
  const { name, arguments: args } = body.params
  if (!isDeepStrictEqual([given?.name, given?.arguments], [name, args])) return null
  const [before, rest = '', ...more] = (await response.text()).split(JSON.stringify(result).slice(1, -1))
  const [between, after, ...others] = rest.split(JSON.stringify(id))
  if (after === undefined || more.length + others.length > 0) return null
  return { status: response.status, headers: [...response.headers], parts: [before!, between!, after] }
}

/** @param result JSON of an object */
export function inFrame({ frame, id }: FramedRequest, result: Buffer): Buffer {
  const [before, between, after] = frame.parts
  const end = between + JSON.stringify(id) + after
  return Buffer.concat([Buffer.from(before), result.subarray(1, -1), Buffer.from(end)])
}
