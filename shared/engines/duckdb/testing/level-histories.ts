/**
 * Random rows, and random queries over a roll-up of them: by its level by the hour, and of the log table itself. Rows and bounds
 * stand at the edges of hours and minutes, to the microsecond.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Column } from '../../../sql/types.ts'
import type { Binding, QueryEngine, Rollup } from '../../engine.ts'
import { type ByHour, byTheHour } from '../../rollup-levels.ts'
import { openDuckDb } from '../engine.ts'
import { quoteText } from '../syntax.ts'
import { Random } from './usage-histories.ts'

export const columns: Column[] = [
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'k', type: { kind: 'STRING' } },
  { name: 'v', type: { kind: 'INT64' } },
]
const second = 1_000_000n
const minute = 60n * second
const hour = 60n * minute
const start = BigInt(Date.parse('2026-03-01T00:00:00Z')) * 1000n
const limits = { maxRows: 100_000, timeoutMs: 60_000 }

/** Sums of a roll-up, each as the log table has it and as the roll-up's rows add up. */
const sums = {
  n: ['COUNT(*)', 'SUM(n)'],
  some: ['COUNT(t.v)', 'SUM(`some`)'], // a reserved word,
  many: ['COUNTIF(t.v > 3)', 'SUM(many)'],
  total: ['SUM(t.v)', 'SUM(total)'],
  least: ['MIN(t.v)', 'MIN(least)'],
  most: ['MAX(t.v)', 'MAX(most)'],
} as const

type LogRow = Readonly<{ timestamp: string; k: string; v: number | null }>

/** Rows that come, and queries then. */
interface Step {
  rows: LogRow[]
  asked: Asked[]
}

/** A query in two forms: of the log table, and over the roll-up. */
interface Asked {
  rollup: Rollup
  own: string
  from: string
  bindings: Binding[]
}

/** Changes what is made of a roll-up and a query, to see that it is noticed. */
export type Mutant = (made: ByHour) => ByHour

export class LevelHistories {
  readonly tally = { histories: 0, queries: 0, filled: 0 }
  private readonly folder = mkdtempSync(join(tmpdir(), 'levels-'))
  private readonly writer: Promise<DuckDBConnection>
  private engine: QueryEngine | null = null

  constructor() {
    mkdirSync(join(this.folder, 'logs'))
    this.writer = DuckDBInstance.create().then(instance => instance.connect())
  }

  async close(): Promise<void> {
    await this.engine?.close()
    ;(await this.writer).closeSync()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** @throws Error with the seed and the query where a cell differs */
  async play(seed: number, mutant: Mutant = made => made): Promise<void> {
    // DuckDB keeps the metadata of every file that it has read.
    if (this.tally.histories++ % 500 === 0) {
      await this.engine?.close()
      this.engine = openDuckDb({ logsFolder: this.folder, tables: new Map([['logs', columns]]) })
    }
    const files: string[] = []
    try {
      for (const { rows, asked } of historyOf(seed)) {
        files.push(join(this.folder, 'logs', `${this.tally.histories}-${files.length}.parquet`))
        await this.write(files.at(-1)!, rows)
        for (const query of asked) await this.compare(this.engine!, seed, query, mutant)
      }
    } finally {
      for (const file of files) rmSync(file)
    }
  }

  private async write(file: string, rows: LogRow[]): Promise<void> {
    const values = rows.map(
      ({ timestamp, k, v }) => `(${quoteText(timestamp)}::TIMESTAMPTZ, ${quoteText(k)}, ${v}::BIGINT)`,
    )
    await (
      await this.writer
    ).run(
      `COPY (SELECT * FROM (VALUES ${values.join(', ')}) AS rows (timestamp, k, v)) TO ${quoteText(file)} (FORMAT parquet)`,
    )
  }

  private async compare(
    engine: QueryEngine,
    seed: number,
    { own, from, bindings, rollup }: Asked,
    mutant: Mutant,
  ): Promise<void> {
    const made = mutant(byTheHour(rollup, from))
    const statement = { sql: made.sql, bindings, rollups: [rollup, made.rollup] }
    const [expected, found] = [
      await engine.run({ sql: own, bindings }, limits),
      await engine.run(statement, limits),
    ].map(({ rows }) => JSON.stringify(rows))
    this.tally.queries++
    if (expected !== '[]') this.tally.filled++
    if (found !== expected)
      throw new Error(`seed ${seed}: ${JSON.stringify(bindings)}\n${own}\n${expected}\n${made.sql}\n${found}`)
  }
}

export function historyOf(seed: number): Step[] {
  const random = new Random(seed)
  return Array.from({ length: 1 + random.below(2) }, () => ({
    rows: Array.from({ length: 1 + random.below(60) }, () => {
      const v = random.of([null, random.below(9) - 4])
      return { timestamp: textOf(timeOf(random)), k: random.of(['a', 'b']), v }
    }),
    asked: Array.from({ length: 5 }, () => askedBy(random)),
  }))
}

function rollupSql(isByMinute: boolean): string {
  const time = isByMinute ? 'TIMESTAMP_TRUNC(t.timestamp, MINUTE)' : 't.timestamp'
  const added = Object.entries(sums).map(([name, [sql]]) => `${sql} AS \`${name}\``)
  return `SELECT ${time} AS time, t.k AS key, ${added.join(', ')} FROM logs AS t GROUP BY time, key`
}

/** Microseconds: within three days, mostly at the edge of an hour or a minute. */
function timeOf(random: Random): bigint {
  const edge = random.of([hour, hour, minute])
  const at = start + BigInt(random.below(72)) * hour + BigInt(random.below(3)) * minute
  const near = BigInt(random.of([0, 0, -1, 1, random.below(3_000_000)]))
  return (at / edge) * edge + near
}

function textOf(time: bigint): string {
  const seconds = new Date(Number(time / 1000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(time % second).padStart(6, '0')}Z`
}

function askedBy(random: Random): Asked {
  // The roll-up has whole minutes, and bounds are such.
  const isByMinute = random.below(3) === 0
  const bindings: Binding[] = []
  const bound = (): string => {
    const time = isByMinute ? (timeOf(random) / minute) * minute : timeOf(random)
    const name = `p${bindings.length}`
    const value = random.below(20) === 0 ? null : textOf(time)
    bindings.push({ name, type: { kind: 'TIMESTAMP' }, value })
    return random.of([`@${name}`, `@${name}`, `TIMESTAMP_SUB(@${name}, INTERVAL 60 MINUTE)`])
  }
  // Whole minutes are cut by `>=` and `<` alone.
  const operators = isByMinute ? ['>=', '<'] : ['>=', '>', '<', '<=']
  const turned: Record<string, string> = { '>=': '<=', '>': '<', '<': '>', '<=': '>=' }
  const conditions = Array.from({ length: random.below(4) }, () => (time: string) => time).map(() => {
    if (!isByMinute && random.below(5) === 0) {
      const [low, high] = [bound(), bound()]
      return (time: string) => `${time} BETWEEN ${low} AND ${high}`
    }
    const [operator, value] = [random.of(operators), bound()]
    if (random.below(4) === 0) return (time: string) => `${value} ${turned[operator]} ${time}`
    return (time: string) => `${time} ${operator} ${value}`
  })
  const keys = random.of([[], [], ["$ = 'a'"], ["$ = 'a' OR $ = 'c'"]])
  const unit = random.of(['HOUR', 'HOUR', 'DAY', 'WEEK', 'MONTH'])
  const names = Object.keys(sums) as (keyof typeof sums)[]
  const taken = names.filter(() => random.below(2) === 0)
  const all = taken.length > 0 ? taken : names
  const query = (table: string, time: string, key: string, form: 0 | 1) => {
    const where = [
      ...conditions.map(condition => condition(time)),
      ...keys.map(one => `(${one.replaceAll('$', key)})`),
    ]
    const items = all.map(name => `${sums[name][form]} AS x_${name}`)
    return (
      `SELECT TIMESTAMP_TRUNC(${time}, ${unit}) AS bucket, ${items.join(', ')} FROM ${table} ` +
      `${where.length > 0 ? `WHERE ${where.join(' AND ')} ` : ''}GROUP BY bucket ORDER BY bucket`
    )
  }
  return {
    rollup: {
      name: 'a.rollup',
      sql: rollupSql(isByMinute),
      partition: 'time',
      cluster: [],
      refreshMinutes: 5,
    },
    own: query('logs AS t', 't.timestamp', 't.k', 0),
    from: query('`a.rollup` AS r', 'r.time', 'r.key', 1),
    bindings,
  }
}
