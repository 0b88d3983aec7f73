import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, readdirSync } from 'node:fs'
import { renameSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { prepareTableFolder, tableFolder } from '../../../shared/engines/duckdb/tables.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { ParquetWriter, shiftFile } from './parquet.ts'

/** A dot keeps it apart from the tables' folders; beside them, because a rename cannot cross file systems. */
const prefix = '.stage-'
const day = 86_400_000

/** Rows from one source, under the name that its files get in the table's folder. */
export interface Batch {
  name: string
  writer: ParquetWriter
}

/**
 * Where rows wait as whole Parquet files until all of them move into their tables. Whatever ends the work before
 * that leaves every table as it was.
 */
export class Stage {
  readonly #connection: DuckDBConnection
  readonly #logsFolder: string
  readonly #folder: string

  constructor(connection: DuckDBConnection, logsFolder: string, folder: string) {
    this.#connection = connection
    this.#logsFolder = logsFolder
    this.#folder = folder
  }

  writer(table: string, columns: Column[]): ParquetWriter {
    return new ParquetWriter(this.#connection, table, columns, mkdtempSync(join(this.#folder, 'rows-')))
  }

  /** Adds this many microseconds to the time of every row of a finished writer. */
  async shift(writer: ParquetWriter, micros: bigint): Promise<void> {
    for (const file of writer.files) await shiftFile(this.#connection, file, micros)
  }

  /**
   * Takes every row out of a table. An empty file stays, because a running service expects one.
   * @returns how many files there were
   */
  async clear(table: string, columns: Column[]): Promise<number> {
    const [folder, made] = [tableFolder(this.#logsFolder, table), mkdtempSync(join(this.#folder, 'empty-'))]
    await prepareTableFolder(this.#connection, made, columns)
    mkdirSync(folder, { recursive: true })
    const earlier = readdirSync(folder).filter(file => file.endsWith('.parquet'))
    const [empty] = readdirSync(made) as [string]
    renameSync(join(made, empty), join(folder, empty))
    const full = earlier.filter(file => file !== empty)
    for (const file of full) rmSync(join(folder, file))
    return full.length
  }

  /**
   * Moves the files of finished writers into their tables. What is there under a batch's name is replaced.
   * Everything slow is done before the first rename.
   */
  publish(batches: Batch[]): void {
    for (const file of batches.flatMap(({ writer }) => writer.files)) flush(file)
    for (const { writer, name } of batches) {
      const folder = tableFolder(this.#logsFolder, writer.table)
      mkdirSync(folder, { recursive: true })
      const earlier = readdirSync(folder).filter(file => file.startsWith(`${name}-`))
      const files = writer.files.map(file => `${name}-${basename(file)}`)
      for (const [at, file] of files.entries()) renameSync(writer.files[at]!, join(folder, file))
      for (const file of earlier) if (!files.includes(file)) rmSync(join(folder, file))
    }
  }
}

/** Opens a stage, and removes it at the end, whatever comes. */
export async function withStage<T>(logsFolder: string, act: (stage: Stage) => Promise<T>): Promise<T> {
  mkdirSync(logsFolder, { recursive: true })
  removeAbandoned(logsFolder)
  const folder = mkdtempSync(join(logsFolder, prefix))
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', { temp_directory: join(folder, 'spill') })
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    return await act(new Stage(connection, logsFolder, folder))
  } finally {
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A killed process leaves its stage behind; one of a day ago is nobody's any more. */
function removeAbandoned(logsFolder: string): void {
  for (const name of readdirSync(logsFolder).filter(name => name.startsWith(prefix))) {
    const folder = join(logsFolder, name)
    const made = statSync(folder, { throwIfNoEntry: false })
    if (made && made.mtimeMs < Date.now() - day) rmSync(folder, { recursive: true, force: true })
  }
}

/** Waits until a file is on the disk. */
function flush(file: string): void {
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
