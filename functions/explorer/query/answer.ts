/** What an answer says of itself: how many rows, over which time, from where, how old, and how long each step took. */
import { bytesText } from '../../../shared/visible-text.ts'
import { millisOf } from '../../../shared/answers/times.ts'
import { buckets, momentOf, type Range, shown } from '../logs/range.ts'
import { type Zone, zoneName } from '../logs/zone.ts'
import { type Answer, now, type Parameter, parametersOf, type Query } from '../service.ts'

/** How many rows there are, and whether the query's own LIMIT cut them; where it has pages, the next one says so. */
export function countOf({ sql, endpoint }: Query, { rows, headers }: Answer): string {
  if (/rel="next"/.test(headers.get('link') ?? '')) return `${rows.length} rows, and there are more.`
  const limit = sql === null ? endpoint.limit : limitIn(sql)
  if (rows.length > 1 && rows.length === limit) return `${rows.length} rows: the LIMIT, so there may be more.`
  return rows.length === 1 ? '1 row.' : `${rows.length} rows.`
}

/** The LIMIT at the end of a text of SQL. */
function limitIn(sql: string): number {
  return Number(/\bLIMIT\s+(\d+)(\s+OFFSET\s+\d+)?[\s;]*$/i.exec(bare(sql))?.[1])
}

/** Without comments. */
function bare(sql: string): string {
  return sql.replaceAll(/(--|#)[^\n'"`]*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
}

/** The axis of the chart: what the endpoint says of its buckets, as of the answer, else what the query asked for. */
export function axisOf(query: Query, { rows, headers }: Answer): { range: Range; starts: number[] } {
  const [[parameter, byValue] = ['', {}]] = Object.entries(query.endpoint.chart)
  const said = query.sql === null ? byValue[valueOf(query, parameter)] : undefined
  const made = Date.parse(headers.get('last-modified') ?? '') * 1000
  if (!said || Number.isNaN(made)) return { range: rangeOf(query), starts: [] }
  const bucket = said.bucket * 1000
  const from = (said.whole ? made - (made % bucket) : made) - said.last * 1000
  const starts = buckets(from, made, bucket)
  // A service whose clock is set to another time, as in a test, has rows of that time.
  const isOther = rows.some(row => (millisOf(Object.values(row)[0]) ?? 0) * 1000 < starts[0]!)
  return isOther ? { range: rangeOf(query), starts: [] } : { range: { from, to: made }, starts }
}

/** What the query's own bounds of time say, in microseconds since 1970. */
function rangeOf(query: Query): Range {
  const { start, end } = parametersOf(query.endpoint)
  const moment = (name = '') => momentOf(valueOf(query, name), now()) ?? null
  const from = moment(start)
  return { from, to: moment(end) ?? (from === null ? null : now()) }
}

/** Of a parameter, its default where the query gives none. */
function valueOf({ endpoint, values }: Query, name: string): string {
  const { default: usual = '' } = endpoint.parameters.find(parameter => parameter.name === name) ?? {}
  return values[name] || String(usual)
}

/** Parameters of a query with SQL of one's own that cut the tables before that SQL reads them, and name times as it may too. */
export function boundsOf({ endpoint, values, sql }: Query): Parameter[] {
  const { start, end } = parametersOf(endpoint)
  const isBound = ({ name }: Parameter) => (name === start || name === end) && Boolean(values[name])
  return sql === null ? [] : endpoint.parameters.filter(isBound)
}

/** What is said of an answer, and what stands behind it: shown on hover. */
export interface Fact {
  name: string
  value: string
  raw?: string | undefined
}

/** @param zone of the time as of which the answer is */
export function factsOf({ rows, redacted, headers }: Answer, zone: Zone): Fact[] {
  const made = headers.get('last-modified')
  const age = headers.get('age')
  const status = headers.get('cache-status') ?? ''
  const bytes = headers.get('x-bytes-read')
  const asOf = made && `${shown(Date.parse(made) * 1000, zone, 0)} ${zoneName(zone)}`
  return [
    { name: 'Rows', value: String(rows.length) },
    { name: 'From', value: originOf(status), raw: status },
    ...(made && asOf ? [{ name: 'As of', value: asOf, raw: made }] : []),
    ...(age === null || age === '0' ? [] : [{ name: 'Age', value: durationText(Number(age)) }]),
    { name: 'Personal data', value: redacted ? 'redacted' : 'as it is' },
    ...(bytes === null
      ? []
      : [{ name: 'Read', value: bytesText(Number(bytes)), raw: 'by the engine, for this run' }]),
  ]
}

/** How long it took, and each step of it. */
export function timingsOf({ headers, took }: Answer): Fact[] {
  const all = { name: 'In all', value: `${Math.round(took)} ms`, raw: 'from asking to the last byte' }
  return [all, ...stepsOf(headers.get('server-timing') ?? '')]
}

/** By what Cache-Status says; the first that fits. */
const origins: [pattern: RegExp, words: string][] = [
  [/hit; ttl=-/, 'cache, being refreshed'],
  [/hit/, 'cache'],
  [/fwd=stale; fwd-status/, 'an old copy, as the query failed'],
  [/collapsed/, 'a run shared with others'],
  [/bypass/, 'a run, not cached'],
  [/stored/, 'a run, now cached'],
]

function originOf(status: string): string {
  return origins.find(([pattern]) => pattern.test(status))?.[1] ?? 'a run'
}

const stepNames: Record<string, string> = {
  auth: 'Key',
  cache: 'Cache and run',
  engine: 'Engine',
  redact: 'Redaction',
  encode: 'Encoding',
  store: 'Storing',
}

/** `Server-Timing: auth;dur=0.4, cache;dur=20` */
function stepsOf(header: string): Fact[] {
  return [...header.matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name = '', dur]) => {
    const time = Number(dur)
    const value = `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`
    return { name: stepNames[name] ?? name, value }
  })
}

function durationText(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
