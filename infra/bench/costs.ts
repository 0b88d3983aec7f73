/**
 * What a cycle of the warmer reads on BigQuery, and what that costs a day, on paper: from measured logical bytes of each row.
 * Prices are list prices (https://cloud.google.com/bigquery/pricing), without the free quota.
 */
import type { Measurement } from './measure.ts'

/** Logical bytes that a chart reads of each row. */
export interface BytesOfRow {
  /** Of the log table. */
  raw: number
  /** Of the roll-up. */
  rollup: number
}

interface Customer {
  name: string
  /** Requests at the edge in a day. */
  rows: number
  /** Projects with requests in every minute, each of which is on a screen. */
  projects: number
  /** Of the tables, and so of the view: by the hour where a table grows by more than 10 GB a day (`infra/deploy/setup.sh`). */
  partition: 'DAY' | 'HOUR'
}

/** Of 1 KB each, the tables grow by 5 GB, 100 GB and 1 TB a day. */
const smallest: Customer = { name: '5 GB a day, 50 projects', rows: 5e6, projects: 50, partition: 'DAY' }
const customers: Customer[] = [
  smallest,
  { name: '100 GB a day, 1,000 projects', rows: 1e8, projects: 1_000, partition: 'HOUR' },
  { name: '1 TB a day, 3,000 projects', rows: 1e9, projects: 3_000, partition: 'HOUR' },
]

const dollarsPerByte = 6.25 / 2 ** 40
/** Of each table that a statement reads, so many bytes are billed at least. */
const leastBilled = 10 * 2 ** 20
/** Calls of the warmer in a day, each with a statement for daily charts and one for those of an hour. */
const cycles = 288
const minutesOfDay = 1440
/** `refreshMinutes`: on average half of them are not yet in the view, and read from the table. */
const unrefreshed = 2.5

/** Days that are read for a window of seven days, which begins inside of a partition. */
const week = { DAY: 8, HOUR: 7 + 1 / 24 }
/** For a window of an hour: a table sorted by time is read in blocks, of which an hour takes about one more than it fills. */
const hourOfTable = { DAY: 2 / 24, HOUR: 2 / 24 }
/** A view is sorted by the origin. */
const hourOfView = { DAY: 1, HOUR: 2 / 24 }

/** Bytes of one cycle's readings, a number for each table that a statement reads. */
interface Cycle {
  raw: number[]
  views: number[]
  /** Of the log table, what is not yet in a view; once for each view in a statement. */
  unrefreshed: number[]
}

function cycleOf({ rows, projects, partition }: Customer, bytes: BytesOfRow): Cycle {
  const [table, view] = [rows * bytes.raw, rollupRows(rows, projects, minutesOfDay) * bytes.rollup]
  const behind = (unrefreshed / minutesOfDay) * table
  return {
    raw: [week[partition] * table, hourOfTable[partition] * table],
    views: [week[partition] * view, hourOfView[partition] * view],
    unrefreshed: [behind, behind],
  }
}

/** With a second roll-up by the hour, from which daily charts come but for the hours in which a window begins and ends. */
function cycleWithHours(customer: Customer, bytes: BytesOfRow): Cycle {
  const { rows, projects, partition } = customer
  const { raw, views, unrefreshed } = cycleOf(customer, bytes)
  const hours = week[partition] * rollupRows(rows, projects, 24) * bytes.rollup
  return {
    raw,
    views: [hours, 2 * views[1]!, views[1]!],
    unrefreshed: [unrefreshed[0]!, ...unrefreshed],
  }
}

function rollupRows(rows: number, projects: number, buckets: number): number {
  return Math.min(rows, projects * buckets)
}

/** Dollars a day for three sizes of customer. */
export function costs(bytes: BytesOfRow, logs: string): Measurement[] {
  return customers.map(customer => {
    const cycle = cycleOf(customer, bytes)
    const raw = cycles * billed(cycle.raw)
    const views = cycles * (billed(cycle.views) + billed(cycle.unrefreshed))
    const refreshing = customer.rows * bytes.raw * dollarsPerByte + cycles * billed([0])
    return {
      name: `dollars a day, ${customer.name}, by the bytes of ${logs}`,
      value: `$${(views + refreshing).toFixed(2)}`,
      target: '',
      met: null,
      note: `$${raw.toFixed(2)} over the log table; reading the view $${views.toFixed(2)}, refreshing it $${refreshing.toFixed(2)}; ${shareOf(cycle)}`,
    }
  })
}

const goal = 600
/** Were the first part of the host in place of the origin, and the four counters digits of one NUMERIC. */
const smallerRow = 8 + 22 + 2 + 16

/** The bytes of a cycle for the smallest customer, as they are and as other layouts would make them. */
export function layouts(bytes: BytesOfRow, logs: string): Measurement[] {
  const byHour: Customer = { ...smallest, partition: 'HOUR' }
  const small = { ...bytes, rollup: smallerRow }
  const cycle: Record<string, Cycle> = {
    'as it is, by the day': cycleOf(smallest, bytes),
    'tables by the hour': cycleOf(byHour, bytes),
    'smaller columns, by the day': cycleOf(smallest, small),
    'smaller columns, by the hour': cycleOf(byHour, small),
    'a second roll-up of hours, by the day': cycleWithHours(smallest, bytes),
    'a second roll-up of hours, by the hour': cycleWithHours(byHour, bytes),
  }
  return Object.entries(cycle).map(([layout, read]) => ({
    name: `bytes of a cycle, ${smallest.name}, by the bytes of ${logs}: ${layout}`,
    value: `1/${times(read)}`,
    target: `<= 1/${goal}`,
    met: times(read) >= goal,
    note: shareOf(read),
  }))
}

function times({ raw, views, unrefreshed }: Cycle, isFresh = false): number {
  return Math.round(sum(raw) / (sum(views) + (isFresh ? 0 : sum(unrefreshed))))
}

function shareOf(cycle: Cycle): string {
  const [fresh, behind] = [times(cycle, true), times(cycle)]
  return `a cycle reads 1/${fresh.toLocaleString('en')} of the bytes, 1/${behind.toLocaleString('en')} with rows that are not yet in the view`
}

function billed(tables: number[]): number {
  return sum(tables.map(bytes => Math.max(bytes, leastBilled))) * dollarsPerByte
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}
