/**
 * What a cycle of the warmer reads on BigQuery, and what that costs a day, on paper: from measured logical bytes of each row.
 * Prices are list prices (https://cloud.google.com/bigquery/pricing), without the free quota.
 */
import type { Measurement } from './measure.ts'

/** Logical bytes that a chart reads of each row. */
export interface BytesOfRow {
  /** Of the log table. */
  raw: number
  /** Of the roll-ups by the moment and by the hour. */
  moments: number
  hours: number
}

interface Customer {
  name: string
  /** Requests at the edge in a day. */
  rows: number
  /** Projects with requests in every hour, each of which is on a screen. */
  projects: number
}

/** Of 1 KB each, the tables grow by 5 GB, 100 GB and 1 TB a day. */
const smallest: Customer = { name: '5 GB a day, 50 projects', rows: 5e6, projects: 50 }
const customers: Customer[] = [
  smallest,
  { name: '100 GB a day, 1,000 projects', rows: 1e8, projects: 1_000 },
  { name: '1 TB a day, 3,000 projects', rows: 1e9, projects: 3_000 },
]

const dollarsPerByte = 6.25 / 2 ** 40
/** Of each table that a statement reads, so many bytes are billed at least. */
const leastBilled = 10 * 2 ** 20
/** Calls of the warmer in a day, each with a statement for daily charts and one for those of an hour. */
const cycles = 288
const minutesOfDay = 1440
const hoursOfDay = 24
/** `refreshMinutes`: on average half of them are not yet in a view, and read from the table. */
const unrefreshed = 2.5

/** Of the tables, and so of the views: by the hour (`infra/deploy/setup.sh`), or by the day as those of before. */
type Partition = 'HOUR' | 'DAY'

/** Days that are read for a window of seven days, which begins inside of a partition. */
const week = { DAY: 8, HOUR: 7 + 1 / 24 }
/** For a window of an hour: a table sorted by time is read in blocks, of which an hour takes about one more than it fills. */
const hourOfTable = { DAY: 2 / 24, HOUR: 2 / 24 }
/** A view is sorted by the origin. */
const hourOfView = { DAY: 1, HOUR: 2 / 24 }
/** The partition in which a window of seven days begins. */
const borderOfWeek = { DAY: 1, HOUR: 1 / 24 }

/** Bytes of one cycle's readings, a number for each table that a statement reads. */
interface Cycle {
  raw: number[]
  views: number[]
  /** Of the log table, what is not yet in the views of a statement: once for each of them. */
  unrefreshed: number[]
}

function cycleOf({ rows, projects }: Customer, bytes: BytesOfRow, partition: Partition): Cycle {
  const table = rows * bytes.raw
  const moments = rows * bytes.moments
  const hours = Math.min(rows, projects * hoursOfDay) * bytes.hours
  const behind = (unrefreshed / minutesOfDay) * table
  return {
    raw: [week[partition] * table, hourOfTable[partition] * table],
    views: [week[partition] * hours, borderOfWeek[partition] * moments, hourOfView[partition] * moments],
    unrefreshed: [2 * behind, behind],
  }
}

/** Dollars a day for three sizes of customer. */
export function costs(bytes: BytesOfRow, logs: string): Measurement[] {
  return customers.map(customer => {
    const cycle = cycleOf(customer, bytes, 'HOUR')
    const raw = cycles * dollarsOf(cycle.raw)
    const views = cycles * dollarsOf([...cycle.views, ...cycle.unrefreshed])
    const refreshing = 2 * (customer.rows * bytes.raw * dollarsPerByte + cycles * dollarsOf([0]))
    return {
      name: `dollars a day, ${customer.name}, by the bytes of ${logs}`,
      value: `$${(views + refreshing).toFixed(2)}`,
      target: '',
      met: null,
      note: `$${raw.toFixed(2)} over the log table; reading the views $${views.toFixed(2)}, refreshing them $${refreshing.toFixed(2)}; ${shareOf(cycle)}`,
    }
  })
}

/** The bytes of a cycle for the smallest customer, as they are and as other partitions would make them. */
export function layouts(bytes: BytesOfRow, logs: string): Measurement[] {
  const cycle: Record<string, Cycle> = {
    'as it is, tables by the hour': cycleOf(smallest, bytes, 'HOUR'),
    'tables by the day': cycleOf(smallest, bytes, 'DAY'),
  }
  return Object.entries(cycle).map(([layout, read]) => ({
    name: `bytes of a cycle, ${smallest.name}, by the bytes of ${logs}: ${layout}`,
    value: `1/${ratio(sum(read.raw), readingsOf(read))}`,
    target: '',
    met: null,
    note: shareOf(read),
  }))
}

/** With rows that are not yet in a view. */
function readingsOf({ views, unrefreshed }: Cycle): number[] {
  return [...views, ...unrefreshed]
}

function ratio(raw: number, readings: number[]): string {
  return Math.round(raw / sum(readings)).toLocaleString('en')
}

function shareOf(cycle: Cycle): string {
  const { raw, views } = cycle
  const fresh = `1/${ratio(sum(raw), views)} where the views have every row`
  const behind = `1/${ratio(sum(raw), readingsOf(cycle))} with rows that are not yet in them`
  const least = `1/${ratio(sum(billed(raw)), billed(readingsOf(cycle)))} of the bytes billed`
  return `a cycle reads ${behind}, ${fresh}, ${least}`
}

function billed(tables: number[]): number[] {
  return tables.map(bytes => Math.max(bytes, leastBilled))
}

function dollarsOf(tables: number[]): number {
  return sum(billed(tables)) * dollarsPerByte
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}
