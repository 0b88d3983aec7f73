/** Reads a log page by page, as callers do, while rows are loaded. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { runQuery } from '../../run/run-query.ts'
import { endpointFrom } from '../../endpoints/definition-file.ts'
import { readParameters } from '../../endpoints/parameters.ts'
import { openDuckDb } from '../../engines/duckdb/engine.ts'
import type { QueryEngine, Row } from '../../engines/engine.ts'
import { Random } from '../../sandbox/testing/random.ts'
import type { Column } from '../../sql/types.ts'
import { openSqlite } from '../../stores/sqlite/store.ts'
import { type Cursors, openCursors } from '../cursor.ts'
import { pageFor, readCursor } from '../page.ts'

export const pagedTable: Record<string, Column[]> = {
  logs: [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  ],
}

/** @param rows of a page */
function pagedEndpoint(rows: number) {
  const time = { type: 'string', format: 'iso-timestamp' } as const
  const definition = {
    id: '00000000-0000-4000-8000-000000000002',
    description: 'd',
    parameters: { properties: { from: time, until: time } },
    newestFirst: { start: 'from', end: 'until', steps: ['P1D', 'P30D'] },
    page: { by: ['timestamp', 'id'], order: 'descending' },
    maxRows: 10_000,
  }
  const sql = `SELECT id, timestamp FROM logs
    WHERE timestamp > COALESCE(@from, TIMESTAMP '0001-01-01 00:00:00+00')
      AND timestamp <= COALESCE(@until, TIMESTAMP '9999-12-31 23:59:59.999999+00')
    ORDER BY timestamp DESC LIMIT ${rows}`
  return endpointFrom('paged.rows', definition, sql)
}

interface Reader {
  engine: QueryEngine
  cursors: Cursors
  pageSize: number
  /** `null` = from the first page. */
  from?: { cursor: string } | { follow: string } | null
}

/** One page after the other, each by what the one before said; forward until no row comes. */
export async function* pages({ engine, cursors, pageSize, from = null }: Reader) {
  const endpoint = pagedEndpoint(pageSize)
  const forward = from !== null && 'follow' in from
  for (let query = from ? new URLSearchParams(from).toString() : ''; ;) {
    const cursor = await readCursor(cursors, endpoint, query)
    const now = new Date()
    const parameters = readParameters(endpoint, query, {}, now)
    const page = pageFor(cursors, endpoint, parameters, { cursor, now, sql: null })!
    const ran = await runQuery(engine, { ...endpoint, maxRows: page.rows }, page.statement)
    const { result, marks } = await page.finish(ran)
    yield { rows: result.rows, marks }
    if (forward ? result.rows.length === 0 : marks.next === null) return
    query = forward ? `follow=${marks.newest}` : `cursor=${marks.next}`
  }
}

/** Cursors under a key in memory. */
export function cursorsInMemory(): Cursors {
  return openCursors(openSqlite({ file: ':memory:', log: () => {} }))
}

interface Amounts {
  seed: number
  rows: number
  pageSize: number
  /** A file of new rows comes after so many pages. */
  loadEvery: number
  rowsOfLoad: number
}

/**
 * Reads a log of `rows` rows, up to thousands of them at one moment, to its end, while rows come that are newer, older and
 * of the same moments.
 * @returns counts
 * @throws Error for a row that was there from the start and is missing, or that came twice
 */
export async function pageWhileLoading({ seed, rows, pageSize, loadEvery, rowsOfLoad }: Amounts) {
  const folder = mkdtempSync(join(tmpdir(), 'paging-'))
  const log = join(folder, 'logs')
  mkdirSync(log)
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  const random = new Random(seed)
  const span = Math.max(10, Math.floor(rows / 2000))
  let files = 0
  /** Half of the rows share a few moments, and the others have times of their own. */
  const load = async (prefix: string, count: number, offset: number) => {
    const moment = `CASE WHEN hash(i, ${seed}) % 2 = 0 THEN hash(i, ${seed + 1}) % ${span} * 1000000 ELSE hash(i, ${seed + 2}) % (${span} * 1000000) END`
    const time = `TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_microseconds(CAST(${moment} AS BIGINT)) + to_seconds(${offset})`
    const id = `'${prefix}' || hash(i, ${seed + 3}) || '-' || i`
    const file = join(log, `${String(++files).padStart(5, '0')}.parquet`)
    await connection.run(
      `COPY (SELECT ${id} AS id, ${time} AS timestamp FROM range(${count}) AS r(i)) TO '${file}.tmp' (FORMAT parquet)`,
    )
    renameSync(`${file}.tmp`, file)
  }
  const engine = openDuckDb({ logsFolder: folder, tables: new Map(Object.entries(pagedTable)) })
  try {
    await connection.run("SET TimeZone = 'UTC'")
    for (let part = 0; part < 10; part++) await load(`first-${part}-`, rows / 10, 0)
    const seen = new Set<string>()
    const counts = { pages: 0, rows: 0, ofTheStart: 0, loaded: 0, endedInAMoment: 0 }
    let last: Row | undefined
    for await (const page of pages({ engine, cursors: cursorsInMemory(), pageSize })) {
      if (page.rows[0]?.['timestamp'] === last?.['timestamp']) counts.endedInAMoment++
      for (const row of page.rows) {
        const id = row['id'] as string
        if (seen.has(id)) throw new Error(`${id} came twice, on page ${counts.pages} (seed ${seed})`)
        seen.add(id)
        if (id.startsWith('first-')) counts.ofTheStart++
      }
      last = page.rows.at(-1)
      counts.rows += page.rows.length
      if (++counts.pages % loadEvery > 0) continue
      await load(`later-${counts.pages}-`, rowsOfLoad, random.pick([-span, 0, 0, span]))
      counts.loaded += rowsOfLoad
    }
    if (counts.ofTheStart !== rows)
      throw new Error(`${rows - counts.ofTheStart} rows were lost (seed ${seed})`)
    return counts
  } finally {
    await engine.close()
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
}
