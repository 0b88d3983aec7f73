/** The rows of a page of logs: their keys and times, and the columns that show them. */
import type { Row } from '../../../shared/engines/engine.ts'
import { gist } from '../value.ts'
import { type Shape, nameOf, tableColumn } from './shape.ts'
import { type Entry, columnNames } from './sql.ts'
import type { State } from './state.ts'
import { type Range, shown } from './range.ts'
import type { Zone } from './zone.ts'

export interface Column {
  /** The name in a row. */
  name: string
  /** For sorting and for keeping its width. */
  path: string
  kind: 'time' | 'table' | 'severity' | 'message' | 'value'
  title: string
  /** Whether its values are times, whose zone the heading names. */
  isMoment?: boolean
  /** Whether the search is in it. */
  isSearched?: boolean
}

/** Names a row, as the state and the address have it: its time, of all tables its own one, and its id. */
export function keyOf(row: Row, shape: Shape): string {
  const { time, table, id } = entryOf(row, shape)
  return [time, ...(shape.parts ? [table] : []), id].join()
}

/** @returns microseconds since 1970, the table, and the id, which is empty where there is none */
export function entryOf(row: Row, shape: Shape): Entry {
  const table = shape.parts ? gist(row[tableColumn] ?? '') : shape.table
  return { time: timeOf(row, shape), table, id: shape.id ? gist(row[nameOf(shape.id)] ?? '') : '' }
}

/** @param key as `keyOf` makes it */
export function entryNamed(key: string, { table, parts }: Shape): Entry {
  const [time, own, id] = (parts ? /^(.*?),(.*?),(.*)$/s : /^(.*?),()(.*)$/s).exec(key)?.slice(1) ?? []
  return { time: Number(time), table: own || table, id: id ?? '' }
}

/** Microseconds since 1970. */
export function timeOf(row: Row, { time }: Shape): number {
  return Number(row[nameOf(time)])
}

/** The columns of the rows that `rowsSql` asks for, without the id. @param asked what they answer */
export function columnsOf(shape: Shape, asked: Pick<State, 'columns' | 'scope'> | null): Column[] {
  const { time, message, severity, parts } = shape
  const isSearched = asked?.scope === 'entry'
  const level = severity?.type === 'INT64' ? 'Status' : 'Level'
  return [
    { name: nameOf(time), path: time.path, kind: 'time', title: 'Time', isMoment: true },
    ...(parts ? [{ name: tableColumn, path: tableColumn, kind: 'table', title: 'Table' } as const] : []),
    ...(severity ? [{ name: 'severity', path: severity.path, kind: 'severity', title: level } as const] : []),
    { name: nameOf(message), path: message.path, kind: 'message', title: 'Message', isSearched: true },
    ...columnNames(shape, asked?.columns ?? []).map(
      ([{ path, type }, name]) =>
        ({ name, path, kind: 'value', title: name, isMoment: type === 'TIMESTAMP', isSearched }) as const,
    ),
  ]
}

export interface TimeFormat {
  /** Whether the day is not the same for all. */
  hasDay: boolean
  /** Of the fraction of a second. */
  digits: 0 | 3 | 6
}

/**
 * Without the day where the range is within one of the zone, and with the digits that tell each time from the next.
 * @param times of the rows, in microseconds @param now the end of a range that has none
 */
export function timeFormatOf(times: number[], { from, to }: Range, zone: Zone, now: number): TimeFormat {
  const dayOf = (micros: number) => shown(micros, zone).slice(0, 10)
  const hasDay = from === null || dayOf(from) !== dayOf(Math.min(to ?? now, now) - 1)
  const sorted = [...new Set(times)].toSorted((a, b) => a - b)
  const differ = (size: number) =>
    sorted.every((time, i) => i === 0 || Math.floor(time / size) !== Math.floor(sorted[i - 1]! / size))
  return { hasDay, digits: differ(1e6) ? 0 : differ(1e3) ? 3 : 6 }
}

/** `12:00:03.671` */
export function timeText(micros: number, zone: Zone, { hasDay, digits }: TimeFormat): string {
  const text = shown(micros, zone, digits)
  return hasDay ? text : text.slice('2026-11-14 '.length)
}

/** How many characters that are; no fewer than the heading needs. */
export function timeLength({ hasDay, digits }: TimeFormat): number {
  return Math.max('Time (UTC) ↓'.length, (hasDay ? 11 : 0) + 8 + (digits && digits + 1))
}
