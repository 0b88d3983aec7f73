/** The results of a run: facts about the answer and its rows as a chart or a table, or a failure. */
import { type Problem, tablesText } from '../../shared/errors.ts'
import { spreadsheet } from '../query/csv.ts'
import { millisOf } from '../query/times.ts'
import { copyButton } from './copy.ts'
import { button, download, el, newId, show } from './dom.ts'
import { buckets, momentOf, type Range, shown, type Zone, zoneName } from './logs/range.ts'
import { series } from './series.ts'
import {
  type Answer,
  asCurl,
  bytesText,
  now,
  parametersOf,
  type Query,
  type ServiceError,
} from './service.ts'
import { table } from './table.ts'
import { columnsOf } from './value.ts'

/**
 * With a chart before the table where the rows are a series (`series`).
 * @param unbound asks again without bounds of time
 * @param zone of the time as of which the answer is
 */
export async function results(
  query: Query,
  answer: Answer,
  unbound: () => void,
  zone: Zone,
): Promise<HTMLElement> {
  const { rows } = answer
  const { asked, starts } = axisOf(query, answer)
  const chartable = series(rows, starts)
  const views: View[] = [['Table', () => table(rows, `Rows of ${query.endpoint.name}`)]]
  if (chartable) views.unshift(['Chart', async () => (await import('./chart.ts')).chart(chartable, asked)])
  return el(
    'section',
    { class: 'results', 'aria-label': 'Results' },
    facts(query, answer, zone),
    boundsOf(query, unbound),
    rows.length === 0 ? noRows() : await tabs(views, actions(query, answer)),
  )
}

/** The axis of the chart: what the endpoint says of its buckets, as of the answer, else what the query asked for. */
function axisOf(query: Query, { rows, headers }: Answer): { asked: Range; starts: number[] } {
  const [[parameter, byValue] = ['', {}]] = Object.entries(query.endpoint.chart)
  const said = query.sql === null ? byValue[valueOf(query, parameter)] : undefined
  const made = Date.parse(headers.get('last-modified') ?? '') * 1000
  if (!said || Number.isNaN(made)) return { asked: rangeOf(query), starts: [] }
  const bucket = said.bucket * 1000
  const from = (said.whole ? made - (made % bucket) : made) - said.last * 1000
  const starts = buckets(from, made, bucket)
  // A service whose clock is set to another time, as in a test, has rows of that time.
  const isOther = rows.some(row => (millisOf(Object.values(row)[0]) ?? 0) * 1000 < starts[0]!)
  return isOther ? { asked: rangeOf(query), starts: [] } : { asked: { from, to: made }, starts }
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

type View = [name: string, make: () => HTMLElement | Promise<HTMLElement>]

/** Tabs as the ARIA practices have them: arrows move between them, Tab goes into the panel. */
async function tabs(views: View[], beside: HTMLElement): Promise<HTMLElement> {
  const id = newId()
  const panel = el('div', { role: 'tabpanel', id: `${id}-panel` })
  const made = new Map<number, HTMLElement>()
  const buttons = views.map(([name], i) => {
    const tab = { type: 'button', role: 'tab', id: `${id}-${i}`, 'aria-controls': panel.id }
    return el('button', { ...tab, onclick: () => void select(i) }, name)
  })
  async function select(i: number): Promise<void> {
    for (const [j, button] of buttons.entries()) {
      button.ariaSelected = String(i === j)
      button.tabIndex = i === j ? 0 : -1
    }
    panel.setAttribute('aria-labelledby', `${id}-${i}`)
    const view = made.get(i) ?? (await views[i]![1]())
    made.set(i, view)
    show(panel, view)
  }
  const list = el('div', { role: 'tablist', 'aria-label': 'View' }, ...buttons)
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (step === undefined) return
    const { length } = buttons
    const next = (buttons.findIndex(({ tabIndex }) => tabIndex === 0) + step + length) % length
    void select(next)
    buttons[next]!.focus()
  })
  await select(0)
  return el('div', {}, el('div', { class: 'bar' }, list, beside), panel)
}

function actions(query: Query, { rows }: Answer): HTMLElement {
  // From the rows on the screen, without a second run.
  const save = () => download(`${query.endpoint.name}.csv`, spreadsheet(rows, columnsOf(rows)), 'text/csv')
  const { href } = location // later it is that of another run
  return el(
    'div',
    { class: 'actions' },
    copyButton('Copy link', () => href),
    copyButton('Copy as curl', () => asCurl(query)),
    button('Download CSV', save),
  )
}

function noRows(): HTMLElement {
  const advice = 'Try a longer time, or look at how the parameters are written.'
  const text = el('p', {}, `The query ran and found nothing. ${advice}`)
  return el('div', { class: 'card empty' }, el('h3', {}, 'No rows'), text)
}

/** SQL of one's own may name other times than the form, which cuts the tables before that SQL reads them. */
function boundsOf({ endpoint, values, sql }: Query, unbound: () => void): HTMLElement | null {
  const { start, end } = parametersOf(endpoint)
  const bounds = endpoint.parameters.filter(({ name }) => (name === start || name === end) && values[name])
  if (sql === null || bounds.length === 0) return null
  const said = bounds.map(({ name }) => `${name} ${values[name]}`).join(' and ')
  const isFree = bounds.every(({ required, pinned }) => !required && pinned === undefined)
  return el(
    'p',
    { class: 'notice' },
    `Your SQL sees only the entries within ${said}, as the form says, whatever times it names itself. `,
    isFree && button('Run for all time', unbound),
  )
}

/** How an answer came about: from where, how old, how much, how long each step took. */
function facts(
  { endpoint }: Query,
  { rows, truncated, redacted, headers, took }: Answer,
  zone: Zone,
): HTMLElement {
  const age = headers.get('age')
  const made = headers.get('last-modified')
  const status = headers.get('cache-status') ?? ''
  const ignored = headers.get('x-ignored-parameters')
  const bytes = headers.get('x-bytes-read')
  return el(
    'div',
    { class: 'facts' },
    el(
      'dl',
      {},
      fact('Rows', String(rows.length)),
      fact('From', origin(status), status),
      made && fact('As of', `${shown(Date.parse(made) * 1000, zone, 0)} ${zoneName(zone)}`, made),
      age === null || age === '0' ? null : fact('Age', duration(Number(age))),
      fact('Personal data', redacted ? 'redacted' : 'as it is'),
      bytes !== null && fact('Read', bytesText(Number(bytes)), 'by the engine, for this run'),
      fact('In all', `${Math.round(took)} ms`, 'from asking to the last byte'),
      ...steps(headers.get('server-timing') ?? ''),
    ),
    truncated &&
      el('p', { class: 'notice' }, `There were more rows; the endpoint gives ${endpoint.maxRows} at most.`),
    ignored && el('p', { class: 'notice' }, `Ignored, as the endpoint does not declare it: ${ignored}.`),
  )
}

function fact(name: string, value: string, raw: string | null = null): HTMLElement {
  return el('div', { title: raw }, el('dt', {}, name), el('dd', {}, value))
}

/** Cache-Status in words; the header itself is shown on hover. */
function origin(status: string): string {
  if (/hit; ttl=-/.test(status)) return 'cache, being refreshed'
  if (status.includes('hit')) return 'cache'
  if (/fwd=stale; fwd-status/.test(status)) return 'an old copy, as the query failed'
  if (status.includes('collapsed')) return 'a run shared with others'
  if (status.includes('bypass')) return 'a run, not cached'
  return status.includes('stored') ? 'a run, now cached' : 'a run'
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
function steps(header: string): HTMLElement[] {
  return [...header.matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name, dur]) => {
    const time = Number(dur)
    return fact(stepNames[name!] ?? name!, `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`)
  })
}

function duration(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}

/** A problem in the service's own words, with advice. @param left problems that stand beside no field */
export function failure({ problem, retryAfter }: ServiceError, left: Problem[]): HTMLElement {
  const { title, detail, code, requestId } = problem
  const request = requestId ? [' · request ', el('code', {}, requestId)] : []
  return el(
    'section',
    { class: 'card failure', role: 'alert' },
    el('h3', {}, title),
    el('p', {}, detail),
    ...left.map(other => placed(other, detail)).map(text => text && el('p', {}, text)),
    retryAfter && el('p', {}, `It can be asked again in ${retryAfter} s.`),
    code && advice[code] && el('p', {}, advice[code]),
    code && el('p', { class: 'hint' }, el('code', {}, code), ...request),
  )
}

/** The place and detail that a problem adds to the text above it. */
function placed(problem: Problem, said: string): string {
  const { parameter, header, line, column, detail } = problem
  const place = line === undefined ? '' : `Line ${line}, column ${column}`
  const more = said.includes(detail) ? [place] : [place, parameter ?? header, detail]
  const text = more.filter(Boolean).join(': ')
  return [text && `${text}.`, tablesText(problem)].filter(Boolean).join(' ')
}

const advice: Partial<Record<string, string>> = {
  unauthenticated: 'The key may have expired or been revoked: press Change key and give another.',
  result_too_large: 'Ask for a shorter time, fewer columns, or a LIMIT.',
  bytes_limit_exceeded: 'Ask for a shorter time or fewer columns.',
  query_timeout: 'Ask for a shorter time, or try again.',
  engine_unavailable: 'This tends to pass by itself; try again in a moment.',
  store_unavailable: 'This tends to pass by itself; try again in a moment.',
  internal: 'The operator of the service finds the request in its log by the number below.',
}
