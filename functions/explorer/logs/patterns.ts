/**
 * Patterns: messages grouped by their shape, exactly, over all rows of two periods in one scan. The engine groups by what masks
 * make of a message, and answers one message of each group, of which the shape is made here: so redaction sees whole messages.
 */
import type { Row } from '../../../shared/engines/engine.ts'
import { masks, shapeOfMessage } from '../../../shared/sandbox/message-patterns.ts'
import { type Periods, wholeOf } from './compare.ts'
import { type Asked, from } from './conditions.ts'
import { at, lines, severityOf, string, timestamp } from './values.ts'
import type { Range } from './range.ts'
import type { Shape } from './shape.ts'
import type { Severity } from './state.ts'

export interface Pattern {
  /** `null` = of rows without a message. */
  shape: string | null
  /** One of its messages. */
  example: string | null
  severity: Severity | null
  entries: number
  /** In the period before; `null` = not known. */
  before: number | null
  /** Microseconds since 1970, in the period. */
  first: number
  last: number
  /** Entries in equal parts of the period, in their order. */
  trend: number[]
}

export interface Patterns {
  /** The most first. */
  list: Pattern[]
  /** Of the whole period, listed or not: entries, patterns, and those that are new. */
  entries: number
  count: number
  fresh: number
  cost: string
}

interface Options {
  limit: number
  /** How many parts the trend has. */
  parts: number
  /** Whether those alone are asked for that the period before has not. */
  isNew: boolean
}

/** @param periods `null` = one period without a beginning, which is compared with none */
export function patternsSql(
  state: Asked,
  shape: Shape,
  range: Range,
  periods: Periods | null,
  { limit, parts, isNew }: Options,
): string {
  const { time, message, severity } = shape
  const inPeriod = (first: number, end: number) =>
    `COUNTIF(${at(time)} >= ${timestamp(first)} AND ${at(time)} < ${timestamp(end)})`
  const present = periods && `${at(time)} >= ${timestamp(periods.range.from)}`
  const counted = present ? `COUNTIF(${present})` : 'COUNT(*)'
  const earlier = periods ? `COUNTIF(${at(time)} < ${timestamp(periods.before.to)})` : 'NULL'
  const names = Array.from({ length: periods ? parts : 0 }, (_, i) => `part_${i}`)
  const isLater = `MIN(${present ? `IF(${present}, ${at(time)}, NULL)` : at(time)})`
  const columns = [
    `MIN(${at(message)}) AS example`,
    severity && `${severityOf(severity)} AS severity`,
    `${counted} AS entries`,
    `${earlier} AS earlier`,
    `${isLater} AS first`,
    `MAX(${at(time)}) AS last`,
    ...names.map((name, i) => `${inPeriod(...partOf(periods!, i, parts))} AS ${name}`),
  ]
  const given = ['example', severity && 'severity', 'entries', 'earlier', 'first', 'last', ...names]
  const sums = [
    'SUM(entries) OVER () AS all_entries',
    'COUNTIF(entries > 0) OVER () AS all_patterns',
    'COUNTIF(entries > 0 AND earlier = 0) OVER () AS new_patterns',
  ]
  return lines(
    `SELECT * FROM (SELECT ${[...given, ...sums].filter(Boolean).join(', ')} FROM (`,
    `SELECT ${columns.filter(Boolean).join(', ')}`,
    ...from(state, shape, periods ? wholeOf(periods) : range, {
      read: [time, message, severity],
      past: part => (periods ? withoutGap(periods, at(part.time)) : null),
    }),
    `GROUP BY ${[severity && '2', masked(at(message))].filter(Boolean).join(', ')}`,
    '))',
    `WHERE entries > 0${isNew ? ' AND earlier = 0' : ''}`,
    'ORDER BY entries DESC, example',
    `LIMIT ${limit}`,
  )
}

function partOf({ range: { from, to } }: Periods, index: number, parts: number): [number, number] {
  const bound = (i: number) => Math.floor(from + ((to - from) * i) / parts)
  return [bound(index), bound(index + 1)]
}

/** Rows of two periods that are apart. */
function withoutGap({ range: { from }, before: { to } }: Periods, time: string): string | null {
  return to < from ? `(${time} < ${timestamp(to)} OR ${time} >= ${timestamp(from)})` : null
}

function masked(text: string): string {
  return masks.reduce(
    (of, { pattern, by }) => `REGEXP_REPLACE(${of}, ${string(pattern)}, ${string(by)})`,
    text,
  )
}

/** @param rows of `patternsSql`, where none is left out the sums of all are those of none */
export function patternsIn(rows: Row[]): Omit<Patterns, 'cost'> {
  const [first] = rows
  const sum = (name: string) => Number(first?.[name] ?? 0)
  return {
    list: rows.map(patternIn),
    entries: sum('all_entries'),
    count: sum('all_patterns'),
    fresh: sum('new_patterns'),
  }
}

function patternIn({ example, severity, entries, earlier, first, last, ...rest }: Row): Pattern {
  const text = typeof example === 'string' ? example : null
  return {
    shape: text === null ? null : shapeOfMessage(text),
    example: text,
    severity: (severity as Severity | undefined) ?? null,
    entries: Number(entries),
    before: earlier === null || earlier === undefined ? null : Number(earlier),
    first: Number(first),
    last: Number(last),
    trend: Object.keys(rest).flatMap(name => (name.startsWith('part_') ? [Number(rest[name])] : [])),
  }
}
