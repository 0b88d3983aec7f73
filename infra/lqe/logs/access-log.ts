/** The combined log format of Apache and nginx: as entries of the edge table, or of a table of its own. */
import type { FieldSchema } from '../../../shared/engines/schema.ts'
import { BadEntry, type Json } from './entries.ts'
import { entryTimestamp } from './times.ts'

/** The table of requests at the edge, the only one for web server logs. */
export const edgeTable = 'cloudflare.logs.prod'

/** The inside of a quoted field, where a backslash escapes. */
const quoted = String.raw`(?:[^"\\]|\\.)*`
/** A user's name may have brackets; the date's opens with the day. */
const user = String.raw`(?:[^[]|\[(?!\d\d/))+`
/** Apache's vhost_combined begins with the site and its port, which no client's address looks like. */
const site = String.raw`(?:[^\s:]+:\d+ )?`
const start = String.raw`^${site}(?<client>\S+) \S+ (?<user>${user}) \[(?<time>\d\d/[^\]]*)\] "(?<request>${quoted})" (?<status>\d{3}|-) (?<length>\d+|-)`
/** Referer and user agent, which the common format lacks. A line may be cut short or have more fields at its end. */
const end = String.raw`(?: "(?<referer>${quoted})\\?(?:"(?: "(?<agent>${quoted})\\?(?:".*)?)?)?)?$`
const frame = new RegExp(start + end, 's')
/** In characters. Web servers refuse longer requests, and the expression's stack is bounded. */
const longestLine = 200_000

/** Whether a line is in the format, also in the common format, which has less. */
export function isCombined(line: string): boolean {
  return line.length <= longestLine && frame.test(line.trimEnd())
}

/**
 * Reads a line such as
 * `203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a?b=1 HTTP/1.1" 200 512 "https://example.com/" "curl/8.5.0"`.
 * @param host of the URL
 * @returns `null` where it has a `-`, or no such field
 * @throws BadEntry for a line that is not in the format, or has no valid time
 */
function readLine(line: string, host: string) {
  if (line.length > longestLine) throw new BadEntry(`longer than ${longestLine} characters`)
  const match = frame.exec(line.trimEnd())
  if (!match) throw new BadEntry('not in the combined log format')
  const field = (name: string) => known(match.groups?.[name])
  const [status, timestamp, request] = [field('status'), field('time') ?? '', field('request')]
  if (entryTimestamp(timestamp) === null)
    throw new BadEntry(`${JSON.stringify(timestamp)} is not a time such as 17/May/2015:10:05:03 +0000`)
  return {
    timestamp,
    client: field('client'),
    user: field('user'),
    request,
    ...parseRequest(request ?? '', host),
    status: status === null ? null : Number(status),
    length: field('length'),
    referer: field('referer'),
    user_agent: field('agent'),
  }
}

/** The columns of a table that is made for access logs, beside `id` and `timestamp`. */
export const accessColumns: FieldSchema[] = [
  { name: 'event_message', type: 'STRING', mode: 'NULLABLE', description: 'The line as it is' },
  ...['client', 'user', 'method', 'path', 'search', 'protocol'].map(text),
  ...['status', 'bytes'].map(name => ({ name, type: 'INT64', mode: 'NULLABLE' as const })),
  ...['referer', 'user_agent'].map(text),
]

function text(name: string): FieldSchema {
  return { name, type: 'STRING', mode: 'NULLABLE' }
}

/**
 * A line as an entry of a table that is made for access logs. A malformed request line leaves method and path unknown.
 * @returns an entry whose message is the line
 * @throws BadEntry
 */
export function parseAccess(line: string): Json {
  const { request: _, url: __, timestamp, length, referer, user_agent, ...parts } = readLine(line, '-')
  const bytes = length === null ? null : Number(length)
  // In this order, of which the entry's id is made.
  return { timestamp, event_message: line.trimEnd(), ...parts, bytes, referer, user_agent }
}

/**
 * A line as an entry of the edge table. A malformed request line leaves method, path and URL unknown.
 * @param site the project and the host of the URLs, which the format does not have
 * @returns an entry, its objects plain
 * @throws BadEntry
 */
export function parseCombined(line: string, { project, host }: { project: string; host: string }): Json {
  const { timestamp, client, user, request, status, length, referer, user_agent, protocol, ...parts } =
    readLine(line, host)
  const { method, url } = parts
  // Such as `GET | 200 | 203.0.113.9 | - | https://example.com/ | curl/8.5.0`; the fourth is the ray.
  const message = [method, status, client, null, url ?? request, user_agent]
  return {
    timestamp,
    event_message: message.map(part => part ?? '-').join(' | '),
    project,
    metadata: {
      request: {
        ...parts,
        host,
        protocol: 'https:',
        cf: { httpProtocol: protocol },
        headers: { cf_connecting_ip: client, x_real_ip: client, host, referer, user_agent },
        sb: user && { auth_user: user },
      },
      response: { status_code: status, headers: { content_length: length } },
    },
  }
}

function known(field: string | undefined): string | null {
  return field === undefined || field === '-' || field === '' ? null : unescaped(field)
}

const letters: Record<string, string> = { b: '\b', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Undoes `\"`, `\\`, `\n` and `\xe2\x82\xac`; bytes that are not UTF-8 stay as they are written. */
function unescaped(field: string): string {
  if (!field.includes('\\')) return field
  return field.replaceAll(
    /((?:\\x[0-9a-f]{2})+)|\\(.)/gis,
    (whole: string, bytes?: string, letter?: string) => {
      if (bytes === undefined) return letters[letter!] ?? letter!
      const text = Buffer.from(bytes.replaceAll(/\\x/gi, ''), 'hex').toString('utf8')
      return text.includes('\ufffd') ? whole : text
    },
  )
}

const unknownRequest = { method: null, path: null, search: null, url: null, protocol: null }

function parseRequest(request: string, host: string) {
  const match = /^([A-Za-z-]+) (.+?)(?: (HTTP\/\d(?:\.\d)?))?$/s.exec(request)
  if (!match) return unknownRequest
  const [, method, target, protocol = null] = match as unknown as [string, string, string, string?]
  // A request to a proxy has a whole URL; `OPTIONS *` and CONNECT have no path.
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  const noPath = target === '*' || method === 'CONNECT'
  if (!noPath && local !== '' && !/^[/?]/.test(local)) return unknownRequest
  if (noPath) return { method, path: target, search: '', url: `https://${host}`, protocol }
  const query = local.includes('?') ? local.indexOf('?') : local.length
  const [path, search] = [local.slice(0, query) || '/', local.slice(query)]
  return { method, path, search, url: `https://${host}${path}${search}`, protocol }
}
