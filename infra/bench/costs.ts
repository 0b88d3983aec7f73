/**
 * What keeping charts warm costs a day on BigQuery, on paper, from measured bytes for each row. Prices are list prices
 * (https://cloud.google.com/bigquery/pricing), without the free quota.
 */
import type { Measurement } from './measure.ts'

interface Customer {
  name: string
  /** Requests at the edge in a day. */
  rows: number
  /** Projects with requests in every minute, each of which is on a screen. */
  projects: number
}

/** Of 1 KB each, the tables grow by 5 GB, 100 GB and 1 TB a day. */
const customers: Customer[] = [
  { name: '5 GB a day, 50 projects', rows: 5e6, projects: 50 },
  { name: '100 GB a day, 1,000 projects', rows: 1e8, projects: 1_000 },
  { name: '1 TB a day, 3,000 projects', rows: 1e9, projects: 3_000 },
]

const dollarsPerByte = 6.25 / 2 ** 40
/** Of each table that a statement reads, so many bytes are billed at least. */
const leastBilled = 10 * 2 ** 20
/** Calls of the warmer in a day, each with a statement for daily charts and one for those of an hour. */
const cycles = 288
/** A window of seven days reaches into eight. */
const days = 8
/** A table sorted by time is read in blocks, of which an hour takes about one more than it fills. */
const hours = 2
const minutesOfDay = 1440
/** `refreshMinutes`: on average half of them are not yet in the view, and read from the table. */
const unrefreshed = 2.5

/** @param perRow bytes that a chart reads of each row of the log table, and of each row of the roll-up */
export function costs(perRow: { raw: number; rollup: number }, logs: string): Measurement[] {
  return customers.map(({ name, rows, projects }) => {
    const daily = days * rows * perRow.raw
    const hourly = (hours / 24) * rows * perRow.raw
    const view = Math.min(rows, projects * minutesOfDay) * perRow.rollup
    const fresh = (unrefreshed / minutesOfDay) * rows * perRow.raw
    const raw = cycles * (billed(daily) + billed(hourly))
    const views = cycles * (billed(days * view) + billed(view) + 2 * billed(fresh))
    const refreshing = rows * perRow.raw * dollarsPerByte + cycles * billed(0)
    const [before, after] = [daily + hourly, (days + 1) * view]
    const times = (bytes: number) => Math.round(before / bytes).toLocaleString('en')
    return {
      name: `dollars a day, ${name}, by the bytes of ${logs}`,
      value: `$${(views + refreshing).toFixed(2)}`,
      target: '',
      met: null,
      note:
        `$${raw.toFixed(2)} over the log table; reading the view $${views.toFixed(2)}, refreshing it $${refreshing.toFixed(2)}; ` +
        `a cycle reads 1/${times(after)} of the bytes, 1/${times(after + 2 * fresh)} with rows that are not yet in the view`,
    }
  })
}

function billed(bytes: number): number {
  return Math.max(bytes, leastBilled) * dollarsPerByte
}
