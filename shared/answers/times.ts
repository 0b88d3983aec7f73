/** Values of an answer that are times, for the page, for spreadsheets and for models. */
import type { Row, Value } from '../engines/engine.ts'

const micros = { from: Date.UTC(2000) * 1000, to: Date.UTC(2100) * 1000 }

/** TIMESTAMP comes as microseconds since 1970; of the years 2000 to 2100 these are larger than any count of log entries. */
function isMicros(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= micros.from && value < micros.to
}

/** DATE, DATETIME and times in JSON come as text. */
function isTimeText(value: Value | undefined): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z?)?$/.test(value)
}

/** Milliseconds since 1970 UTC, or `null` where the value is no time. */
export function millisOf(value: Value | undefined): number | null {
  if (isMicros(value)) return value / 1000
  if (!isTimeText(value)) return null
  const millis = Date.parse(/T.*[^Z]$/.test(value) ? `${value}Z` : value)
  return Number.isNaN(millis) ? null : millis
}

/** `2026-11-14 12:00:03.671250`, without a fraction where that is zero; `null` where the value is no time of day. */
export function timeText(value: Value): string | null {
  if (typeof value === 'string' && value.length === 10) return null
  const millis = millisOf(value)
  if (millis === null) return null
  const rest = isMicros(value) ? value % 1000 : 0
  const text = new Date(Math.floor(millis)).toISOString().replace('T', ' ').slice(0, -1)
  return rest > 0 ? `${text}${String(rest).padStart(3, '0')}` : text.replace(/\.000$/, '')
}

/** `2026-11-14T12:00:03.671250Z`, with so many digits of the fraction. */
export function iso(micros: number | bigint, digits = 6): string {
  const all = typeof micros === 'bigint' ? micros : BigInt(Math.floor(micros))
  const fraction = ((all % million) + million) % million
  const text = new Date(Number((all - fraction) / 1000n)).toISOString().slice(0, 19)
  return `${text}${digits === 0 ? '' : `.${String(fraction).padStart(6, '0').slice(0, digits)}`}Z`
}

const million = 1_000_000n

/** As `iso`, with no more digits of the fraction than needed: none, three or six. */
export function brief(micros: number | bigint): string {
  return iso(micros).replace(/(\.000000|000)Z$/, 'Z')
}

/** Those outside the years 1684 to 2255 come as digits, which no number holds exactly. */
const isInteger = /^-?\d{1,18}$/

/**
 * The row with its TIMESTAMPs as ISO 8601 in UTC, which a model need not count.
 * @param paths as `times` of a summary
 */
export function withTimesAsText(row: Row, paths: readonly string[]): Row {
  const textIn = (value: Value, path: string): Value => {
    if (Array.isArray(value)) return value.map(each => textIn(each, path))
    if (typeof value === 'object' && value !== null) return inFields(value, `${path}\0`)
    return isInteger.test(String(value)) && paths.includes(path) ? brief(BigInt(value as string)) : value
  }
  const inFields = (fields: Row, path: string): Row =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textIn(value, `${path}${name}`)]))
  return paths.length === 0 ? row : inFields(row, '')
}

/** Whether all values of a column that are there are times of day, and moments, which DATETIME in any zone is not. */
export function isTimeColumn(rows: Row[], name: string): { isMoment: boolean } | null {
  const values = rows.flatMap(row => row[name] ?? [])
  if (values.length === 0 || values.some(value => timeText(value) === null)) return null
  return { isMoment: values.every(value => typeof value !== 'string' || value.endsWith('Z')) }
}

/** `name (UTC)` for a column of moments, which are shown in that zone. */
export function headingOf(rows: Row[], name: string, zone = 'UTC'): string {
  return isTimeColumn(rows, name)?.isMoment ? `${name} (${zone})` : name
}
