/** What an answer says of an alert's condition: the service evaluates it so, and the page before there is an alert. */
import { type Condition, countOfRows } from '../endpoints/definition.ts'
import type { Row, Value } from '../engines/engine.ts'

/** `no data` = the rows have no number where the condition reads one; `failing` = there is no answer. */
export type Finding = 'calm' | 'firing' | 'no data' | 'failing'

export interface Evaluation {
  finding: Finding
  /** Of the row that is furthest to the side on which the condition holds; `null` = none, as of nothing divided by nothing. */
  value: number | null
  /** How many rows the answer has. */
  count: number
  /** The rows that set it off, furthest first; all rows where none does, or all together do. */
  rows: Row[]
}

/** @param before the rows of the window before, for a condition that compares with it */
export function evaluate(condition: Condition, rows: Row[], before: Row[] = []): Evaluation {
  const { above, below, beforeMs } = condition
  const holds = (value: number) => (above === undefined ? value < below! : value > above)
  const evaluation = (value: number | null, told: Row[]): Evaluation => ({
    finding: value === null ? 'no data' : holds(value) ? 'firing' : 'calm',
    value: Number.isNaN(value) ? null : value,
    count: rows.length,
    rows: told,
  })
  if (beforeMs !== undefined) return evaluation(total(condition, rows) / total(condition, before), rows)
  if (condition.value === countOfRows) return evaluation(rows.length, rows)
  const measured = rows
    .map(row => ({ row, value: valueIn(condition, row) }))
    .filter((one): one is { row: Row; value: number } => one.value !== null)
  if (measured.length === 0) return evaluation(null, rows)
  const side = above === undefined ? 1 : -1
  const sorted = measured
    .filter(({ value }) => !Number.isNaN(value))
    .toSorted((a, b) => (a.value === b.value ? 0 : side * (a.value - b.value)))
  const told = sorted.filter(({ value }) => holds(value)).map(({ row }) => row)
  return evaluation(sorted[0]?.value ?? Number.NaN, told.length > 0 ? told : rows)
}

function total({ value, of }: Condition, rows: Row[]): number {
  if (value === countOfRows) return rows.length
  const sum = (column: string) => rows.reduce((sum, row) => sum + (numberIn(row[column]) ?? 0), 0)
  return of === undefined ? sum(value) : sum(value) / sum(of)
}

function valueIn({ value, of }: Condition, row: Row): number | null {
  const over = numberIn(row[value])
  if (over === null || of === undefined) return over
  const under = numberIn(row[of])
  return under === null ? null : over / under
}

/** Large integers, decimals and numbers that are none come as text. */
function numberIn(value: Value | undefined): number | null {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
  const number = isNumber ? Number(value) : Number.NaN
  return Number.isNaN(number) ? null : number
}
