/**
 * Roll-ups on this machine: for each log file a part, a small Parquet file with the roll-up of its rows alone, in a folder
 * beside the log files. A query adds the parts of the log files of this moment up. A part is made with its log file, by the
 * load, or when it is first needed; its name says which log file it is of, so that the part of a file that was replaced or
 * removed is never read again. Beside the folder a file, which loads find, tells the roll-up's query.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { placeOf, SqlError } from '../../sql/error.ts'
import type { Column } from '../../sql/types.ts'
import { writeWhole } from '../../data-folder.ts'
import { Deadline } from '../deadline.ts'
import { EngineError, type Rollup, type Rollups } from '../engine.ts'
import { rollupShape } from '../rollup-rules.ts'
import { requestsTable } from '../schema.ts'
import { filesOfLoads, logFiles } from './loads.ts'
import { rewrite } from './rewrite/rewrite.ts'
import { quoteName, quoteText } from './syntax.ts'
import { tableFolder } from './tables.ts'
import { registerUdfs } from './udfs/register.ts'

/** The relation that a statement reads a roll-up by. */
export function relationOf(name: string): string {
  return quoteName(`rows of ${name}`)
}

/** The parts that a statement reads: all of one moment. */
export interface Parts {
  /** Common tables of DuckDB, of which one has each roll-up's rows. */
  sql: string
  files: string[]
}

interface Plan {
  /** Of the roll-up. */
  name: string
  /** Its query. */
  sql: string
  table: string
  columns: Column[]
  /** Folder of the log files. */
  logs: string
  /** Folder of the parts, a name of its own for each query. */
  parts: string
  /** DuckDB SQL that makes a part out of the relation `log_rows`. */
  makeSql: string
  /** DuckDB SQL that adds the rows of the relation `part_rows` up. */
  sumSql: string
  logColumns: Column[]
}

/** The parts of a roll-up, and the log files that have no part yet. */
interface Found {
  plan: Plan
  files: string[]
  missing: LogFile[]
}

type Connected = (
  deadline: Deadline,
  act: (connection: DuckDBConnection) => Promise<unknown>,
) => Promise<unknown>

/** Milliseconds for the parts of all log files there are. */
const createMs = 3_600_000

interface LogFile {
  path: string
  /** Names this file and no other: one that takes its place has another. */
  key: string
}

/** What takes a Rollup throws SqlError for a query that no roll-up can hold. */
export class RollupParts implements Rollups {
  private readonly logsFolder: string
  private readonly tables: ReadonlyMap<string, Column[]>
  private readonly plans = new Map<string, Plan>()
  /** What this process has read and found whole: files by path, as they were then. */
  private readonly intact = new Map<string, string>()
  private making: Promise<void> = Promise.resolve()
  private readonly connected: Connected | null

  /**
   * @param logsFolder an absolute path
   * @param tables columns by logical table name
   * @param connected lends the connection on which `create` makes parts; without it, all are made when they are needed
   */
  constructor(logsFolder: string, tables: ReadonlyMap<string, Column[]>, connected: Connected | null = null) {
    this.logsFolder = logsFolder
    this.tables = tables
    this.connected = connected
  }

  async has(rollup: Rollup): Promise<boolean> {
    return existsSync(descriptionOf(this.planOf(rollup)))
  }

  /** Parts that cannot be made, as those of a damaged log file, are tried again when they are needed, which tells why. */
  async create(rollup: Rollup): Promise<void> {
    await describe(this.planOf(rollup))
    const deadline = new Deadline({ timeoutMs: createMs })
    await this.connected?.(deadline, connection => this.read([rollup], connection, deadline)).catch(() => {})
  }

  async remove(rollup: Rollup): Promise<void> {
    const plan = this.planOf(rollup)
    rmSync(descriptionOf(plan), { force: true })
    rmSync(plan.parts, { recursive: true, force: true })
  }

  /**
   * Makes the parts of log files that no record of loads names yet, for each roll-up of their table. One that fails is made
   * when it is needed.
   * @param connection of a database without the UDFs yet
   */
  async prepare(table: string, files: string[], connection: DuckDBConnection): Promise<void> {
    const folder = tableFolder(this.logsFolder, table)
    for (const name of readdirSync(folder).filter(name => isDescription.test(name)))
      try {
        const plan = this.planOf(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Rollup)
        // Another version of the program made another plan of it.
        if (descriptionOf(plan) !== join(folder, name)) continue
        if (plan.makeSql.includes('gsql_')) await registerUdfs(connection).catch(() => {})
        for (const path of files) await makePart(plan, { path, key: keyOf(plan.logs, path)! }, connection)
      } catch {}
  }

  folderOf(rollup: Rollup): string {
    return this.planOf(rollup).parts
  }

  /** @throws SqlError for a query that no roll-up can hold */
  columnsOf(rollup: Rollup): Column[] {
    return this.planOf(rollup).columns
  }

  tableOf(rollup: Rollup): string {
    return this.planOf(rollup).table
  }

  /** Common tables by which a statement over the roll-ups can be planned; they read the log tables. */
  describing(rollups: Rollup[]): string {
    const tables = rollups.map(rollup => {
      const { sql, columns } = rewrite(rollup.sql, this.tables, new Map())
      return `${relationOf(rollup.name)} (${namesOf(columns)}) AS (${sql})`
    })
    return `WITH ${tables.join(', ')}`
  }

  /**
   * The parts of all log files. Those that are missing or damaged are made, on this connection.
   * @throws EngineError `no_rollup` where that fails; the deadline's
   */
  async read(rollups: Rollup[], connection: DuckDBConnection, deadline: Deadline): Promise<Parts> {
    const plans = rollups.map(rollup => this.planOf(rollup))
    try {
      for (;;) {
        deadline.check()
        const found = this.find(plans)
        if (found.every(({ missing }) => missing.length === 0)) return partsOf(found)
        await this.oneByOne(deadline, () => this.make(plans, connection, deadline))
      }
    } catch (cause) {
      deadline.check()
      throw new EngineError('no_rollup', 'The roll-up cannot be made', { cause })
    }
  }

  /** Whether a statement that failed may succeed with other parts: those it read are gone or damaged by now. */
  haveChanged({ files }: Parts): boolean {
    for (const file of files) this.intact.delete(file)
    return !files.every(file => this.isIntact(file))
  }

  private planOf({ name, sql }: Rollup): Plan {
    const key = JSON.stringify([name, sql])
    const plan = this.plans.get(key) ?? this.plan(name, sql)
    this.plans.set(key, plan)
    return plan
  }

  private plan(name: string, sql: string): Plan {
    const { table, columns: shapes } = rollupShape(sql)
    // BigQuery makes none of a view, which it is there.
    if (table === requestsTable) throw new SqlError(`a roll-up cannot be of ${table}`, placeOf(sql, 0))
    const make = rewrite(sql, this.tables, new Map(), new Map([[table, '"log_rows"']]))
    const items = shapes.map(({ name, adds }) =>
      adds ? `${adds}(\`${name}\`) AS \`${name}\`` : `\`${name}\``,
    )
    const sum = rewrite(
      `SELECT ${items.join(', ')} FROM parts GROUP BY ALL`,
      new Map([['parts', make.columns]]),
      new Map(),
      new Map([['parts', '"part_rows"']]),
    )
    const logs = tableFolder(this.logsFolder, table)
    const id = createHash('sha256').update(make.sql).digest('hex').slice(0, 16)
    const logColumns = this.tables.get(table)!
    const parts = join(logs, `rollup-${id}`)
    const queries = { sql, makeSql: make.sql, sumSql: sum.sql }
    return { name, table, columns: make.columns, logs, parts, ...queries, logColumns }
  }

  /** The parts of each log file, by one look at the log files for all plans; obsolete parts are removed. */
  private find(plans: Plan[]): Found[] {
    // Parts before log files: a part that is found is of a log file that is there, or was.
    const listed = plans.map(plan => ({ plan, byKey: partsIn(plan.parts) }))
    const folders = new Set(plans.map(plan => plan.logs))
    const logs = new Map([...folders].map(folder => [folder, logsIn(folder)]))
    return listed.map(({ plan, byKey }) => {
      const files: string[] = []
      const missing: LogFile[] = []
      for (const log of logs.get(plan.logs)!) {
        const part = byKey.get(log.key)
        byKey.delete(log.key)
        if (part !== undefined && this.isIntact(part)) files.push(part)
        else missing.push(log)
      }
      // Files of a load that goes on, or that were replaced and may still be read.
      if (byKey.size > 0)
        for (const path of filesOfLoads(plan.logs)) byKey.delete(keyOf(plan.logs, path) ?? '')
      for (const obsolete of byKey.values()) this.discard(obsolete)
      return { plan, files, missing }
    })
  }

  private discard(part: string): void {
    this.intact.delete(part)
    rmSync(part, { force: true })
  }

  /** A part's name has the hash of its bytes, which are read once in each process. */
  private isIntact(part: string): boolean {
    const state = stateOf(part)
    if (state !== null && this.intact.get(part) === state) return true
    if (state === null) return false
    if (!part.endsWith(`.${hashOf(part)}.parquet`)) {
      this.discard(part)
      return false
    }
    this.intact.set(part, state)
    return true
  }

  /** One run of this process makes parts at a time, and the next one finds them; other processes may make the same. */
  private async oneByOne(deadline: Deadline, act: () => Promise<void>): Promise<void> {
    const before = this.making
    const { promise, resolve: end } = Promise.withResolvers<void>()
    this.making = promise
    try {
      await deadline.race(() => before)
      await act()
    } finally {
      end()
    }
  }

  private async make(plans: Plan[], connection: DuckDBConnection, deadline: Deadline): Promise<void> {
    for (const plan of plans) await describe(plan)
    for (const { plan, missing } of this.find(plans))
      for (const log of missing) {
        deadline.check()
        await makePart(plan, log, connection)
      }
  }
}

const isDescription = /^rollup-.*\.json$/

function descriptionOf({ parts }: Plan): string {
  return `${parts}.json`
}

async function describe(plan: Plan): Promise<void> {
  const { name, sql, parts } = plan
  if (existsSync(descriptionOf(plan))) return
  mkdirSync(parts, { recursive: true })
  await writeWhole(descriptionOf(plan), file => writeFileSync(file, JSON.stringify({ name, sql })))
}

/** The parts in a folder, by the keys of their log files; what a killed process left there is removed. */
function partsIn(folder: string): Map<string, string> {
  mkdirSync(folder, { recursive: true })
  const all = readdirSync(folder)
  removeAbandoned(all.filter(name => name.endsWith('.tmp')).map(name => join(folder, name)))
  const names = all.filter(name => name.endsWith('.parquet'))
  return new Map(names.toSorted().map(name => [name.split('.')[0]!, join(folder, name)]))
}

/** A killed process leaves a part behind that is not whole. None takes an hour. */
function removeAbandoned(unfinished: string[]): void {
  for (const path of unfinished) {
    const made = statSync(path, { throwIfNoEntry: false })
    if (made && made.mtimeMs < Date.now() - 3_600_000) rmSync(path, { force: true })
  }
}

/** A part appears whole: it is written beside and renamed. Nothing appears where the log file has gone meanwhile. */
async function makePart(plan: Plan, { path, key }: LogFile, connection: DuckDBConnection): Promise<void> {
  const { logs, parts, columns, logColumns, makeSql } = plan
  const beside = join(parts, `${key}.${randomUUID()}.tmp`)
  const rows = `SELECT ${namesOf(logColumns)} FROM read_parquet(${quoteText(path)})`
  try {
    await connection.run(
      `COPY (WITH "log_rows" AS (${rows}) SELECT * FROM (${makeSql}) AS "part" (${namesOf(columns)}) ORDER BY ALL)
       TO ${quoteText(beside)} (FORMAT parquet, COMPRESSION zstd)`,
    )
    if (keyOf(logs, path) === key) renameSync(beside, join(parts, `${key}.${hashOf(beside)}.parquet`))
  } catch (error) {
    if (keyOf(logs, path) === key) throw error
  } finally {
    rmSync(beside, { force: true })
  }
}

function partsOf(found: Found[]): Parts {
  const tables = found.map(({ plan: { name, columns, sumSql }, files }) => {
    const rows = `"part_rows" AS (SELECT * FROM read_parquet([${files.map(quoteText).join(', ')}]))`
    return `${relationOf(name)} (${namesOf(columns)}) AS (WITH ${rows} ${sumSql})`
  })
  return { files: found.flatMap(({ files }) => files), sql: `WITH ${tables.join(', ')}` }
}

/** @throws Error where there are none, as a query of the log table does */
function logsIn(folder: string): LogFile[] {
  const paths = logFiles(folder)
  if (paths.length === 0) throw new Error('there are no log files')
  return paths.flatMap(path => {
    const key = keyOf(folder, path)
    return key === null ? [] : { path, key }
  })
}

/** By the path in its table's folder, which may have several paths itself, or move. `null` = there is no such file. */
function keyOf(folder: string, path: string): string | null {
  const state = stateOf(path)
  return (
    state &&
    createHash('sha256')
      .update(`${relative(folder, path)} ${state}`)
      .digest('hex')
      .slice(0, 24)
  )
}

/** Identifies a file, also after it was replaced under its name; `null` = there is no such file. */
function stateOf(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats ? [stats.ino, stats.size, stats.mtimeNs].join(' ') : null
}

/** `null` = there is no such file. */
function hashOf(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 24)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function namesOf(columns: Column[]): string {
  return columns.map(({ name }) => quoteName(name)).join(', ')
}
