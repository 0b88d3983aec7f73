/** The combined log format of Apache and nginx, as entries of the edge table. */
import { edgeMessage } from './edge.ts'
import type { Json } from './entries.ts'
import { BadEntry } from './error.ts'

/** Whose requests they are; the format does not say. */
export interface Site {
  project: string
  /** The host's name, for the URLs. */
  host: string
}

/** The inside of a quoted field, where a backslash escapes. */
const quoted = String.raw`(?:[^"\\]|\\.)*`
/** A date's bracket opens with the day: the name of a user may have others. */
const user = String.raw`(?:[^[]|\[(?!\d\d/))+`
const start = String.raw`^(?<client>\S+) \S+ (?<user>${user}) \[(?<time>\d\d/[^\]]*)\] "(?<request>${quoted})" (?<status>\d{3}|-) (?<length>\d+|-)`
/** Referer and user agent; the common format has neither. A line cut short, and fields added at the end, pass. */
const end = String.raw`(?: "(?<referer>${quoted})\\?(?:"(?: "(?<agent>${quoted})\\?(?:".*)?)?)?)?$`
const frame = new RegExp(start + end, 's')
/** In characters. Web servers take no longer requests, and the expression's stack has its bounds. */
const longestLine = 200_000

/**
 * Reads a line such as
 * `203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a?b=1 HTTP/1.1" 200 512 "https://example.com/" "curl/8.5.0"`.
 * A `-` is nothing. A request line that is none leaves method, path and URL unknown.
 * @returns an entry of the edge table, its objects plain
 * @throws BadEntry where the line is not in the format, or its time is none
 */
export function parseCombined(line: string, { project, host }: Site): Json {
  if (line.length > longestLine) throw new BadEntry(`longer than ${longestLine} characters`)
  const match = frame.exec(line.trimEnd())
  if (!match) throw new BadEntry('not in the combined log format')
  const field = (name: string) => known(match.groups?.[name])
  const [client, user, agent, request] = [field('client'), field('user'), field('agent'), field('request')]
  const { method, path, search, url, protocol } = parseRequest(request ?? '', host)
  const status = field('status') === null ? null : Number(field('status'))
  return {
    timestamp: parseTime(field('time') ?? ''),
    event_message: edgeMessage({ method, status, client, ray: null, url: url ?? request, agent }),
    project,
    metadata: {
      request: {
        method,
        path,
        search,
        url,
        host,
        protocol: 'https:',
        cf: { httpProtocol: protocol },
        headers: {
          cf_connecting_ip: client,
          x_real_ip: client,
          host,
          referer: field('referer'),
          user_agent: agent,
        },
        sb: user && { auth_user: user },
      },
      response: { status_code: status, headers: { content_length: field('length') } },
    },
  }
}

function known(field: string | undefined): string | null {
  return field === undefined || field === '-' || field === '' ? null : unescaped(field)
}

const letters: Record<string, string> = { b: '\b', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Undoes `\"`, `\\`, `\n` and `\xe2\x82\xac`; what is not UTF-8 stays as it is written. */
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

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** @returns ISO 8601 with the zone; whether there is such a time is for its reader to say */
function parseTime(text: string): string {
  const match = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})$/.exec(text)
  const month = months.indexOf(match?.[2] ?? '') + 1
  if (!match || month === 0)
    throw new BadEntry(`${JSON.stringify(text)} is not a time such as 17/May/2015:10:05:03 +0000`)
  return `${match[3]}-${String(month).padStart(2, '0')}-${match[1]}T${match[4]}${match[5]}`
}

const unknownRequest = { method: null, path: null, search: null, url: null, protocol: null }

function parseRequest(request: string, host: string) {
  const match = /^([A-Za-z-]+) (.+?)(?: (HTTP\/\d(?:\.\d)?))?$/s.exec(request)
  if (!match) return unknownRequest
  const [, method, target, protocol = null] = match as unknown as [string, string, string, string?]
  // A proxy is asked for a whole URL, and by `OPTIONS *` or CONNECT for no path at all.
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  const noPath = target === '*' || method === 'CONNECT'
  if (!noPath && local !== '' && !/^[/?]/.test(local)) return unknownRequest
  if (noPath) return { method, path: target, search: '', url: `https://${host}`, protocol }
  const query = local.includes('?') ? local.indexOf('?') : local.length
  const [path, search] = [local.slice(0, query) || '/', local.slice(query)]
  return { method, path, search, url: `https://${host}${path}${search}`, protocol }
}
