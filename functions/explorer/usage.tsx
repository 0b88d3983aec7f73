/** The endpoint `service.usage` as a view: a chart of the calls, and who made them, in a time that is chosen. */
import { type Signal, signal } from '@preact/signals'
import { millisOf } from '../../shared/answers/times.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { Chart } from './chart.tsx'
import { Menu } from './controls.tsx'
import type { Choices } from './choices.ts'
import { Resource } from './resource.ts'
import { writeLink } from './address.ts'
import { buckets, momentOf, type Range } from './logs/range.ts'
import type { View } from './places.ts'
import { Failure } from './problem.tsx'
import { type Series, series } from './series.ts'
import { now, type Opening, runQuery } from './service.ts'
import { Table } from './table.tsx'

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

export function usageView(opening: Opening): View {
  const usage = new Usage(opening)
  usage.ask(false)
  return { body: <UsageOf usage={usage} />, values: () => usage.values(), close: () => usage.calls.stop() }
}

/** Calls, with the question that they answer. */
interface Calls {
  by: string
  range: Range
  bucket: string
  sums: Row[]
  lines: Series | null
}

/** What is asked, and what came back. */
class Usage {
  readonly by: Signal<string>
  readonly since: Signal<string>
  readonly calls = new Resource<Calls>()
  readonly #opening: Opening

  constructor(opening: Opening) {
    const { by = 'endpoint', iso_timestamp_start: from = '-1d' } = opening.link.values
    this.#opening = opening
    this.by = signal(by)
    this.since = signal(from.replace(/^now-/, '-')) // as the logs write it
  }

  values(): Record<string, string> {
    const { values } = this.#opening.link
    return { ...values, by: this.by.value, iso_timestamp_start: this.since.value }
  }

  /** @param step whether it is a step that Back goes back by */
  ask(step: boolean): void {
    const { endpoint, link, remember } = this.#opening
    const asked = { endpoint: endpoint.name, values: this.values(), sql: null, view: link.view }
    remember(asked, step)
    this.calls.read(writeLink(asked), signal => this.#read(signal))
  }

  async #read(signal: AbortSignal): Promise<Calls> {
    const { key, endpoint } = this.#opening
    const values = this.values()
    const to = momentOf(values['iso_timestamp_end'] ?? '', now()) ?? now()
    const range = { from: momentOf(this.since.value, now()) ?? 0, to }
    const [bucket, micros] = bucketOf(range)
    const ask = (more: Record<string, string>) => {
      const query = { endpoint, values: { ...values, ...more }, sql: null, redact: endpoint.redact }
      return runQuery(key, query, signal)
    }
    const [sums, course] = await Promise.all([ask({}), ask({ bucket })])
    signal.throwIfAborted()
    const lines = series(sideBySide(course.rows, buckets(range.from, to, micros)))
    return { by: values['by']!, range, bucket, sums: sums.rows, lines }
  }
}

function UsageOf({ usage }: { usage: Usage }) {
  const { by, since, calls } = usage
  const { data = null, problem = null } = calls.answer.value ?? {}
  const isBy = Object.keys(subjects).map(name => [name, name] as const)
  return (
    <article class="usage">
      <h2>Usage</h2>
      <div class="run">
        <Chooser name="By" label="By" choices={isBy} of={by} usage={usage} />
        <Chooser name="In" label="Time" choices={times} of={since} usage={usage} />
        <p class="status" role="status">
          {calls.isRunning.value ? 'Running …' : data && statusOf(data)}
        </p>
      </div>
      <div class="outcome" inert={calls.isRunning.value}>
        {problem && problem !== 'stopped' && (
          <Failure error={problem} others={problem.problem.errors ?? []} />
        )}
        {data && <Found key={data} {...data} />}
      </div>
    </article>
  )
}

function Found({ by, range, sums, lines }: Calls) {
  const rows = sums.map(row => shown(row, subjects[by] ?? []))
  return (
    <>
      {lines && <Chart series={lines} range={range} />}
      {rows.length > 0 && <Table rows={rows} label={`Usage by ${by}`} />}
    </>
  )
}

function statusOf({ sums, bucket }: Calls): string {
  return sums.length === 0 ? 'No calls.' : `${totalOf(sums)} Calls by ${bucket}:`
}

interface ChooserProps {
  name: string
  label: string
  choices: Choices
  of: Signal<string>
  usage: Usage
}

/** A choice of a link is among them, too. */
function Chooser({ name, label, choices, of, usage }: ChooserProps) {
  const isListed = choices.some(([value]) => value === of.value)
  const act = (value: string) => {
    of.value = value
    usage.ask(true)
  }
  const all = isListed ? choices : [...choices, [of.value, of.value] as const]
  return (
    <label>
      {name} <Menu label={label} choices={all} chosen={of.value} act={act} />
    </label>
  )
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

const figures = ['calls', 'errors', 'p50_ms', 'p95_ms', 'hit_ratio', 'bytes_read', 'dollars']
/** Of figures that have more of them than can be read. */
const digits: Record<string, number> = { hit_ratio: 3, dollars: 6 }

/** A row of the table. */
function shown(row: Row, names: string[]): Row {
  const read = (name: string) => {
    const value = row[name] ?? null
    return typeof value === 'number' && digits[name] ? Number(value.toFixed(digits[name])) : value
  }
  return Object.fromEntries([...names, ...figures].map(name => [name, read(name)]))
}

function totalOf(rows: Row[]): string {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0)
  const counted = (name: string) =>
    `${sum(`${name}s`).toLocaleString('en')} ${name}${sum(`${name}s`) === 1 ? '' : 's'}`
  return `${counted('call')}, ${counted('error')}, $${sum('dollars').toFixed(2)}.`
}
