/** The endpoint `service.usage` as a view: a chart of the calls, and who made them, in a time that is chosen. */
import type { Row } from '../../shared/engines/engine.ts'
import { el, show } from './dom.ts'
import type { Asked } from './chart.ts'
import type { Link } from './link.ts'
import { momentOf } from './logs/range.ts'
import { failure } from './results.ts'
import { series } from './series.ts'
import { type Endpoint, now, runQuery, ServiceError } from './service.ts'
import { table } from './table.ts'

export const usageEndpoint = 'service.usage'

interface Opening {
  key: string
  endpoint: Endpoint
  link: Link
  remember(link: Link, step: boolean): void
}

/** How far back, in words. */
const times: Record<string, string> = {
  '-1h': 'the last hour',
  '-1d': 'the last day',
  '-7d': 'the last 7 days',
  '-30d': 'the last 30 days',
}
/** What rows may be of, with the columns that name it. */
const subjects: Record<string, string[]> = {
  endpoint: ['endpoint'],
  version: ['endpoint', 'version'],
  key: ['key'],
}

/** @returns as `openEndpoint` */
export function usageView({ key, endpoint, link, remember }: Opening) {
  const by = choice(
    'By',
    Object.fromEntries(Object.keys(subjects).map(name => [name, name])),
    link.values['by'] ?? 'endpoint',
  )
  const since = choice(
    'Time',
    times,
    (link.values['iso_timestamp_start'] ?? '-1d').replace(/^now-/, '-'), // as the logs write it
  )
  const status = el('p', { class: 'status', role: 'status' })
  const place = el('div', { class: 'outcome' })
  let running = new AbortController()

  const values = () => ({ ...link.values, by: by.value, iso_timestamp_start: since.value })
  const draw = async (step: boolean) => {
    running.abort()
    const own = (running = new AbortController())
    remember({ endpoint: endpoint.name, values: values(), sql: null, view: [] }, step)
    status.textContent = 'Running …'
    const ask = (more: Record<string, string>) =>
      runQuery(
        key,
        { endpoint, values: { ...values(), ...more }, sql: null, redact: endpoint.redact },
        own.signal,
      )
    try {
      const end = momentOf(link.values['iso_timestamp_end'] ?? '', now()) ?? now()
      const asked = { from: momentOf(since.value, now()) ?? 0, to: end }
      const bucket = bucketOf(asked)
      const [sums, course] = await Promise.all([ask({}), ask({ bucket })])
      const lines = series(sideBySide(course.rows))
      const plot = lines && (await import('./chart.ts')).chart(lines, asked)
      if (own.signal.aborted) return
      status.textContent = sums.rows.length === 0 ? 'No calls.' : totalOf(sums.rows)
      show(
        place,
        plot,
        sums.rows.length > 0 &&
          table(
            sums.rows.map(row => shown(row, subjects[by.value] ?? [])),
            `Usage by ${by.value}`,
          ),
      )
    } catch (error) {
      if (own.signal.aborted) return
      if (!(error instanceof ServiceError)) throw error
      status.textContent = ''
      show(place, failure(error, error.problem.errors ?? []))
    }
  }
  for (const select of [by, since]) select.addEventListener('change', () => void draw(true))
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

function choice(label: string, options: Record<string, string>, chosen: string): HTMLSelectElement {
  const all = chosen in options ? options : { ...options, [chosen]: chosen }
  return el(
    'select',
    { 'aria-label': label },
    ...Object.entries(all).map(([value, words]) =>
      el('option', { value, selected: value === chosen }, words),
    ),
  )
}

/** The width of the chart's buckets. */
function bucketOf({ from, to }: Asked): string {
  const hours = (to - from) / 3.6e9
  return hours <= 2 ? 'minute' : hours <= 24 * 8 ? 'hour' : 'day'
}

/** A row for each bucket, with the calls of each: none where there is no row. */
function sideBySide(rows: Row[]): Row[] {
  const names = [...new Set(rows.map(nameOf))]
  return [...Map.groupBy(rows, ({ timestamp }) => timestamp)].map(([time, of]) => {
    const calls = new Map(of.map(row => [nameOf(row), row['calls']]))
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
    dollars: rounded(row['dollars'], 4),
  } as Row
}

function totalOf(rows: Row[]): string {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0)
  return `${sum('calls').toLocaleString('en')} calls, ${sum('errors').toLocaleString('en')} errors, $${sum('dollars').toFixed(2)}.`
}
