/** The endpoint `service.usage` as a view: a chart of the calls, and who made them, in a time that is chosen. */
import type { Row } from '../../shared/engines/engine.ts'
import { millisOf } from '../query/times.ts'
import { type Choices, el, menu, show } from './dom.ts'
import { buckets, momentOf } from './logs/range.ts'
import { failure } from './results.ts'
import { series } from './series.ts'
import { now, type Opening, runQuery, ServiceError } from './service.ts'
import { table } from './table.ts'

export const usageEndpoint = 'service.usage'

/** How far back, in words. */
const times: Choices = [
  ['-1h', 'the last hour'],
  ['-1d', 'the last day'],
  ['-7d', 'the last 7 days'],
  ['-30d', 'the last 30 days'],
]
/** What rows may be of, with the columns that name it. */
const subjects: Record<string, string[]> = {
  endpoint: ['endpoint'],
  version: ['endpoint', 'version'],
  key: ['key'],
}

/** @returns as `openEndpoint` */
export function usageView({ key, endpoint, link, remember }: Opening) {
  const redraw = () => void draw(true)
  const by = chooser(
    'By',
    redraw,
    Object.keys(subjects).map(name => [name, name]),
    link.values['by'] ?? 'endpoint',
  )
  const from = (link.values['iso_timestamp_start'] ?? '-1d').replace(/^now-/, '-') // as the logs write it
  const since = chooser('Time', redraw, times, from)
  const status = el('p', { class: 'status', role: 'status' })
  const place = el('div', { class: 'outcome' })
  let running = new AbortController()

  const values = () => ({ ...link.values, by: by.value, iso_timestamp_start: since.value })
  const draw = async (step: boolean) => {
    running.abort()
    const { signal } = (running = new AbortController())
    remember({ endpoint: endpoint.name, values: values(), sql: null, view: link.view }, step)
    status.textContent = 'Running …'
    const ask = (more: Record<string, string>) => {
      const query = { endpoint, values: { ...values(), ...more }, sql: null, redact: endpoint.redact }
      return runQuery(key, query, signal)
    }
    try {
      const to = momentOf(link.values['iso_timestamp_end'] ?? '', now()) ?? now()
      const asked = { from: momentOf(since.value, now()) ?? 0, to }
      const [bucket, micros] = bucketOf(asked)
      const [sums, course] = await Promise.all([ask({}), ask({ bucket })])
      const lines = series(sideBySide(course.rows, buckets(asked.from, to, micros)))
      const plot = lines && (await import('./chart.ts')).chart(lines, asked)
      if (signal.aborted) return
      const rows = sums.rows.map(row => shown(row, subjects[by.value] ?? []))
      status.textContent = rows.length === 0 ? 'No calls.' : `${totalOf(sums.rows)} Calls by ${bucket}:`
      show(place, plot, rows.length > 0 && table(rows, `Usage by ${by.value}`))
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ServiceError)) throw error
      status.textContent = ''
      show(place, failure(error, error.problem.errors ?? []))
    }
  }
  void draw(false)
  const element = el(
    'article',
    { class: 'usage' },
    el('h2', {}, 'Usage'),
    el('div', { class: 'run' }, el('label', {}, 'By ', by), el('label', {}, 'In ', since), status),
    place,
  )
  return { element, values, close: () => running.abort() }
}

function chooser(label: string, act: () => void, choices: Choices, chosen: string): HTMLSelectElement {
  const { element, set } = menu(label, act)
  set(choices.some(([value]) => value === chosen) ? choices : [...choices, [chosen, chosen]], chosen)
  return element
}

/** The width of the chart's buckets, also in microseconds. */
function bucketOf({ from, to }: { from: number; to: number }): [string, number] {
  const hours = (to - from) / 3.6e9
  return hours <= 2 ? ['minute', 6e7] : hours <= 24 * 8 ? ['hour', 3.6e9] : ['day', 8.64e10]
}

/** A row for each bucket, with the calls of each: none where there is no row. @param starts microseconds since 1970 */
function sideBySide(rows: Row[], starts: number[]): Row[] {
  const names = [...new Set(rows.map(nameOf))]
  const byTime = Map.groupBy(rows, ({ timestamp }) => (millisOf(timestamp) ?? 0) * 1000)
  return starts.map(time => {
    const calls = new Map(byTime.get(time)?.map(row => [nameOf(row), row['calls']]))
    return Object.fromEntries([['time', time], ...names.map(name => [name, calls.get(name) ?? 0])]) as Row
  })
}

/** Of a line in the chart; a call may have reached no endpoint, or had no good key. */
function nameOf({ endpoint, version, key }: Row): string {
  const parts = [endpoint, typeof version === 'string' ? version.slice(0, 8) : null, key]
  return parts.filter(part => typeof part === 'string').join(' ') || 'none'
}

/** A row of the table, with figures that can be read. */
function shown(row: Row, names: string[]): Row {
  const { calls, errors, p50_ms, p95_ms, bytes_read } = row as Row & Record<string, number | null>
  const rounded = (value: unknown, digits: number) =>
    typeof value === 'number' ? Number(value.toFixed(digits)) : null
  return {
    ...Object.fromEntries(names.map(name => [name, row[name] ?? null])),
    calls,
    errors,
    p50_ms,
    p95_ms,
    hit_ratio: rounded(row['hit_ratio'], 3),
    bytes_read,
    dollars: rounded(row['dollars'], 6),
  } as Row
}

function totalOf(rows: Row[]): string {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0)
  const counted = (name: string) =>
    `${sum(`${name}s`).toLocaleString('en')} ${name}${sum(`${name}s`) === 1 ? '' : 's'}`
  return `${counted('call')}, ${counted('error')}, $${sum('dollars').toFixed(2)}.`
}
