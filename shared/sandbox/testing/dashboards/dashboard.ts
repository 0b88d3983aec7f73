import type { Row } from '../../../engines/engine.ts'
import type { Logs } from './logs.ts'

/** A dashboard's title, its query, and the rows expected, computed from the flat logs. */
export type Dashboard = [shows: string, sql: string, rows: (logs: Logs) => Row[]]

type Key = string | number | boolean | null

/** Rows by a key of several parts, in the order in which the keys come up. */
export function groups<Entry, Keys extends Key[]>(
  entries: readonly Entry[],
  keys: (entry: Entry) => [...Keys],
): { keys: Keys; entries: Entry[] }[] {
  return [...Map.groupBy(entries, entry => JSON.stringify(keys(entry)))].map(([text, members]) => ({
    keys: JSON.parse(text) as Keys,
    entries: members,
  }))
}

/** By several keys, ascending, nulls first, as ORDER BY has it. A number descends by its minus. */
export function sorted<Entry>(entries: readonly Entry[], keys: (entry: Entry) => Key[]): Entry[] {
  return entries.toSorted((one, other) => {
    const theirs = keys(other)
    for (const [index, mine] of keys(one).entries()) {
      const order = compare(mine, theirs[index]!)
      if (order !== 0) return order
    }
    return 0
  })
}

function compare(one: Key, other: Key): number {
  if (one === other) return 0
  if (one === null || (other !== null && one < other)) return -1
  return 1
}

export const newestFirst = <Entry extends { time: number }>(entries: readonly Entry[]) =>
  sorted(entries, ({ time }) => [-time])

export const floor = (time: number, unit: number) => time - (time % unit)
export const round = (value: number, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits
export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
export const average = (values: readonly number[]) => (values.length > 0 ? sum(values) / values.length : null)
export const known = <Item>(items: readonly (Item | null)[]) => items.filter(item => item !== null)
export const distinct = <Item>(items: readonly Item[]) => [...new Set(items)]
/** `2026-03-14T09:00:00` of microseconds since 1970. */
export const isoSecond = (time: number) => new Date(time / 1000).toISOString().slice(0, 19)
