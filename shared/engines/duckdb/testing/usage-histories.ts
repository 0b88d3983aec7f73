/**
 * Random histories of the edge log, and the usage chart over them: by the query that answers its call, in a batch, and by the
 * endpoint's own query at the same time, to the microsecond. Files come late, out of order, are replaced and removed; rows are
 * at the edges of windows and in the future; URLs are hostile.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { parse as parseYaml } from 'yaml'
import { type BigQueryServerOptions, startBigQueryServer } from '../../../../infra/google/bigquery/server.ts'
import type { Endpoint } from '../../../endpoints/definition.ts'
import { endpointFrom } from '../../../endpoints/definition-file.ts'
import { readParameters } from '../../../endpoints/parameters.ts'
import { ownQuery, queryFor, readsRollups, statementOf } from '../../../endpoints/saved-query.ts'
import { openBigQuery } from '../../bigquery/engine.ts'
import { batchFor, type ParameterSet, splitRows } from '../../../warm/batch.ts'
import type { Column, SqlType } from '../../../sql/types.ts'
import type { QueryEngine } from '../../engine.ts'
import { openDuckDb } from '../engine.ts'
import { quoteText } from '../syntax.ts'

const table = 'cloudflare.logs.prod'
const string: SqlType = { kind: 'STRING' }
const request = [
  { name: 'path', type: string },
  { name: 'url', type: string },
]
/** Those of the edge log that a chart reads. */
const columns: Column[] = [
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'metadata', type: listOf([{ name: 'request', type: listOf(request) }]) },
]
const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000
const start = Date.parse('2026-03-10T00:00:00Z')
const limits = { maxRows: 100_000, timeoutMs: 60_000 }

function listOf(fields: Column[]): SqlType {
  return { kind: 'ARRAY', element: { kind: 'STRUCT', fields } }
}

/** Counts of what the histories had. */
export interface Tally {
  histories: number
  charts: number
  rows: number
  cells: number
  /** Charts with rows, so that not only emptiness is compared. */
  filled: number
  /** Charts from the roll-ups. */
  summed: number
}

/** Plays histories, one after the other, over one engine: DuckDB, or BigQuery's client with the local server. */
export class UsageHistories {
  readonly tally: Tally = { histories: 0, charts: 0, rows: 0, cells: 0, filled: 0, summed: 0 }
  private readonly folder = mkdtempSync(join(tmpdir(), 'usage-'))
  private readonly endpoint = usageEndpoint()
  private engine: QueryEngine | null = null
  private readonly open: () => Promise<QueryEngine>
  private readonly writer: Promise<DuckDBConnection>
  /** Milliseconds, and microseconds behind them. */
  private now = start
  private micros = 0

  constructor(engine: 'duckdb' | 'bigquery') {
    const logsFolder = join(this.folder, 'logs')
    mkdirSync(join(logsFolder, table), { recursive: true })
    const tables = new Map([[table, columns]])
    const options = { logsFolder, tables, now: () => this.nowText() }
    this.open = async () =>
      engine === 'duckdb' ? openDuckDb(options) : openLocalBigQuery(options, this.endpoint)
    this.writer = DuckDBInstance.create().then(async instance => {
      const connection = await instance.connect()
      await connection.run(`SET TimeZone = 'UTC'`)
      return connection
    })
  }

  private nowText(): string {
    return new Date(this.now).toISOString().replace('Z', `${String(this.micros).padStart(3, '0')}Z`)
  }

  async close(): Promise<void> {
    await this.engine?.close()
    ;(await this.writer).closeSync()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** @throws Error with the seed, the time and the parameters where a cell differs */
  async play(seed: number): Promise<void> {
    const random = new Random(seed)
    const words = new Words(random)
    const files = new Set<string>()
    // DuckDB keeps the metadata of every file that it has read.
    if (this.tally.histories++ % 500 === 0) {
      await this.engine?.close()
      this.engine = await this.open()
    }
    const minute = random.of([0, 0, 1, 30, 58, 59, random.below(60)])
    const ms = random.of([0, 1, minuteMs - 1, random.below(minuteMs)])
    this.now = start + random.of([0, 12, 23]) * hourMs + minute * minuteMs + ms
    this.micros = random.of([0, 1, 999, random.below(1000)])
    for (let step = 1 + random.below(3); step > 0; step--) {
      if (files.size > 0 && random.below(4) === 0) this.remove(random.of([...files]), files)
      const name = files.size > 0 && random.below(3) === 0 ? random.of([...files]) : `f${random.below(1e9)}`
      await this.write(name, random, words)
      files.add(name)
      if (random.below(3) === 0) this.now += random.below(2 * minuteMs)
      await this.compare(seed, random, words)
    }
    for (const name of files) this.remove(name, files)
  }

  private pathOf(name: string): string {
    return join(this.folder, 'logs', table, `${name}.parquet`)
  }

  private remove(name: string, files: Set<string>): void {
    rmSync(this.pathOf(name))
    files.delete(name)
  }

  private async write(name: string, random: Random, words: Words): Promise<void> {
    const rows = Array.from({ length: 1 + random.below(25) }, () => this.row(random, words))
    this.tally.rows += rows.length
    const file = this.pathOf(name)
    const connection = await this.writer
    await connection.run(
      `COPY (SELECT time AS timestamp, [{'request': [{'path': path, 'url': url}]}] AS metadata
        FROM (VALUES ${rows.join(', ')}) AS rows (time, url, path))
       TO ${quoteText(`${file}.tmp`)} (FORMAT parquet)`,
    )
    renameSync(`${file}.tmp`, file)
  }

  private row(random: Random, words: Words): string {
    const path = random.of(['/rest/v1', '/storage/v1/rest', '/auth', '/realtime', '/', '/RESTful', null])
    const text = (value: string | null) => (value === null ? 'NULL::VARCHAR' : quoteText(value))
    const time = `make_timestamptz(${this.time(random)}::BIGINT)`
    return `(${time}, ${text(random.below(25) === 0 ? null : words.url())}, ${text(path)})`
  }

  /** Microseconds: anywhere in nine days, at the borders of minutes, hours and the windows, and in the future. */
  private time(random: Random): string {
    const minute = Math.floor(this.now / minuteMs) * minuteMs
    const border = minute - random.of([0, 1, 2, 15, 30, 59, 60, 61, 180, 7 * 1440, 7 * 1440 - 1]) * minuteMs
    const hour = Math.floor(this.now / hourMs) * hourMs - random.of([0, 1, 24, 72, 166, 167, 168]) * hourMs
    const anywhere = () => this.now - random.below(random.of([hourMs, 2 * hourMs, dayMs, 9 * dayMs]))
    const ms = random.of([() => border, () => hour, anywhere, anywhere])()
    const edge =
      this.now - random.of([0, hourMs / 4, hourMs / 2, hourMs, 3 * hourMs, dayMs, 3 * dayMs, 7 * dayMs])
    const near = edge + random.of([0, -2_000, 2_000, 30_000, minuteMs, 2 * hourMs])
    const atEdge = edge * 1000 + this.micros + random.of([0, -1, 1])
    return String(
      random.of([
        ms * 1000 + random.of([0, 0, -1, 1, random.below(1000)]),
        near * 1000 + random.below(1000),
        atEdge,
        atEdge,
      ]),
    )
  }

  private async compare(seed: number, random: Random, words: Words): Promise<void> {
    const own = ownQuery(this.endpoint)
    const engine = this.engine!
    const intervals = ['hourly', 'minutely', '15min', '30min', '3hr', 'daily', '1day', '3day', '7day', '1hr']
    const sets = [words.pattern(), words.pattern()].map(project => this.set(random.of(intervals), project))
    const expected = await Promise.all(
      sets.map(async set => (await engine.run(statementOf(own, set), limits)).rows),
    )
    const batched = await this.batch([...sets, this.set(random.of(intervals), words.pattern())])
    for (const [i, set] of sets.entries()) {
      const query = queryFor(this.endpoint, set)
      if (readsRollups(query)) this.tally.summed++
      const { rows } = await engine.run(statementOf(query, set), limits)
      const texts = [expected[i], rows, batched.get(set)].map(found => JSON.stringify(found))
      this.tally.charts++
      this.tally.cells += rows.length * 5
      if (rows.length > 0) this.tally.filled++
      if (texts[1] !== texts[0] || texts[2] !== texts[0])
        throw new Error(
          `seed ${seed} at ${this.nowText()}: ${JSON.stringify(set.map(({ value }) => value))}\n` +
            `own query: ${texts[0]}\nanswer: ${texts[1]}\nbatch: ${texts[2]}`,
        )
    }
  }

  private set(interval: string, project: string): ParameterSet {
    const query = `interval=${interval}&project=${encodeURIComponent(project)}`
    return readParameters(this.endpoint, query, {}).bindings
  }

  private async batch(sets: ParameterSet[]) {
    const rows = new Map<ParameterSet, unknown>()
    const byQuery = Map.groupBy(sets, set => queryFor(this.endpoint, set).sql)
    for (const group of byQuery.values()) {
      const batch = await batchFor(this.engine!, this.endpoint, queryFor(this.endpoint, group[0]!))
      const results = splitRows(this.endpoint, group.length, await this.engine!.run(batch(group), limits))
      for (const [i, set] of group.entries()) rows.set(set, results[i]!.rows)
    }
    return rows
  }
}

async function openLocalBigQuery(
  options: Pick<BigQueryServerOptions, 'logsFolder' | 'tables' | 'now'>,
  { rollups }: Endpoint,
): Promise<QueryEngine> {
  const dataset = 'local-project.logs'
  const server = await startBigQueryServer({ ...options, dataset, partition: 'HOUR' })
  const engine = openBigQuery({
    project: 'local-project',
    dataset,
    tables: new Map(),
    endpoint: server.url,
    location: null,
    maxBytesBilled: null,
  })
  for (const rollup of rollups) await engine.rollups.create(rollup)
  const close = engine.close.bind(engine)
  return Object.assign(engine, { close: () => close().then(() => server.close()) })
}

function usageEndpoint(): Endpoint {
  const read = (file: string) => readFileSync(join('queries', file), 'utf8')
  const name = 'usage.api-counts'
  return endpointFrom(name, parseYaml(read(`${name}.yaml`)), read(`${name}.sql`), read)
}

/** Mulberry32: a small generator, equal for equal seeds. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed
  }

  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}

/** URLs, and patterns that may match them, from a few references of a history. */
class Words {
  private readonly random: Random
  private readonly refs: string[]

  constructor(random: Random) {
    this.random = random
    this.refs = Array.from({ length: 2 }, () => this.letters(20))
  }

  private letters(count: number): string {
    return Array.from({ length: count }, () => this.random.of('aabcz'.split(''))).join('')
  }

  /** A reference, or something near one: longer, shorter, in capitals, cut in two. */
  private near(): string {
    const { random } = this
    const ref = random.of(this.refs)
    const cut = 1 + random.below(19)
    return random.of([
      () => ref,
      () => ref,
      () => ref,
      () => ref + this.letters(1 + random.below(5)),
      () => this.letters(1 + random.below(25)) + ref,
      () => ref + random.of(this.refs),
      () => ref.toUpperCase(),
      () => ref.slice(0, 19),
      () =>
        ref.slice(0, cut) +
        random.of(['/', '.', '?', '#', ' ', '\n', '%20', 'é', 'ſ', '\u212a', '-', '_', '\0x'.slice(1)]) +
        ref.slice(cut),
      () => ref.replaceAll(/./g, letter => `%${letter.codePointAt(0)!.toString(16)}`),
      () => `${ref}-1`,
      () => '',
    ])()
  }

  url(): string {
    const { random } = this
    if (random.below(2) === 0) return `https://${random.of(this.refs)}.example.co/${this.near()}`
    const scheme = random.of([
      'https://',
      'https://',
      'https://',
      'http://',
      'HTTPS://',
      'https:/',
      '//',
      '',
      'wss://',
      ' https://',
      '\nhttps://',
      'xhttps://',
      'https://https://',
    ])
    const user = random.of(['', '', '', '', 'a@', `${this.near()}:b@`])
    const host =
      this.near() +
      random.of(['.', '.', '.', '', '..', '\n.', ':8080', '\\.', '%2e', '．']) +
      random.of(['example.co', 'co', this.near(), ''])
    const rest =
      random.of(['/', '/rest/v1/', '', '?', '#', '/a?b=', ':', '\n', '//']) +
      random.of([this.near(), this.near(), '', '🙂', 'a b'])
    const more = random.of([
      '',
      '',
      `/${this.near()}`,
      `?x=${this.near()}&y=${this.near()}`,
      `#${this.near()}`,
      `\r\n${this.near()}`,
    ])
    return scheme + user + host + rest + more
  }

  /**
   * Mostly one that `when` lets through, a bare reference of any 20 letters or the beginning of a URL; and any other, for
   * which the log table is searched.
   */
  pattern(): string {
    const { random } = this
    const ref = random.of(this.refs)
    const bare = random.of([
      ref,
      ref,
      (this.letters(3) + ref).slice(0, 20),
      this.letters(20),
      `${ref.slice(1)}a`,
    ])
    return random.of([
      bare,
      bare,
      `^https://${ref}\\.`,
      `^https://${ref}\\.`,
      `^https://${ref}-1\\.`,
      `^https://${ref.slice(0, 5)}\\.`,
      '^https://https\\.',
      random.of([
        '/rest/v1',
        '/v1/' + ref,
        `${ref}|${random.of(this.refs)}`,
        `^https://(${ref}|x)`,
        '.',
        'a*b',
      ]),
    ])
  }
}
