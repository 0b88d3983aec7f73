import { appendFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteName, quoteText } from '../../../shared/engines/duckdb/text.ts'
import { duckType } from '../../../shared/engines/duckdb/types.ts'
import type { Column } from '../../../shared/sql/types.ts'
import type { LogEntry } from './entries.ts'

/** A file is sorted within, so few rows in many files would make every query open them all. */
const rowsPerFile = 50_000
const bytesPerFile = 256_000_000
/** Small enough for a query of an hour to skip most of a file, large enough to compress well. */
const rowsPerGroup = 16_384
/** Text gathered before it goes to the disk. */
const bufferedCharacters = 1_000_000

/**
 * Turns the entries of one table into Parquet files, sorted by timestamp, in a folder of their own. They wait there
 * as newline-delimited JSON, which DuckDB reads many times faster than JSON handed over as a value.
 */
export class ParquetWriter {
  readonly table: string
  readonly files: string[] = []
  rows = 0
  readonly #connection: DuckDBConnection
  readonly #columns: Column[]
  readonly #folder: string
  #lines: string[] = []
  #buffered = 0
  #longest = 0
  #pending = { rows: 0, bytes: 0 }

  /** @param folder exists, is empty, and is nobody else's */
  constructor(connection: DuckDBConnection, table: string, columns: Column[], folder: string) {
    this.#connection = connection
    this.#columns = columns
    this.#folder = folder
    this.table = table
  }

  async write(entry: LogEntry): Promise<void> {
    const line = JSON.stringify(entry)
    this.#lines.push(line)
    this.#buffered += line.length
    this.#longest = Math.max(this.#longest, line.length)
    this.rows += 1
    this.#pending.rows += 1
    if (this.#buffered >= bufferedCharacters) this.#spill()
    if (this.#pending.rows >= rowsPerFile || this.#pending.bytes >= bytesPerFile) await this.#convert()
  }

  /** Turns what is left into the last file. */
  async finish(): Promise<void> {
    if (this.#pending.rows > 0) await this.#convert()
  }

  get #json(): string {
    return join(this.#folder, 'rows.json')
  }

  #spill(): void {
    const text = `${this.#lines.join('\n')}\n`
    appendFileSync(this.#json, text)
    this.#pending.bytes += text.length
    this.#lines = []
    this.#buffered = 0
  }

  async #convert(): Promise<void> {
    this.#spill()
    const file = join(this.#folder, `${String(this.files.length + 1).padStart(4, '0')}.parquet`)
    const types = this.#columns.map(({ name, type }) => `${quoteName(name)}: ${quoteText(duckType(type))}`)
    await copyTo(
      this.#connection,
      // A character is at most three bytes of UTF-8 for each unit that `length` counts.
      `SELECT * FROM read_json(${quoteText(this.#json)}, format = 'newline_delimited',
        maximum_object_size = ${Math.max(1_048_576, this.#longest * 3 + 1)}, columns = {${types.join(', ')}})
        ORDER BY timestamp`,
      file,
    )
    rmSync(this.#json)
    this.files.push(file)
    this.#pending = { rows: 0, bytes: 0 }
  }
}

/** Adds this many microseconds to every timestamp of a Parquet file of entries. */
export async function shiftFile(connection: DuckDBConnection, file: string, micros: bigint): Promise<void> {
  const shifted = `${file}.shifted`
  const timestamp = `make_timestamptz(epoch_us(timestamp) + (${micros})) AS timestamp`
  await copyTo(
    connection,
    `SELECT * REPLACE (${timestamp}) FROM read_parquet(${quoteText(file)}) ORDER BY timestamp`,
    shifted,
  )
  renameSync(shifted, file)
}

async function copyTo(connection: DuckDBConnection, query: string, file: string): Promise<void> {
  await connection.run(
    `COPY (${query}) TO ${quoteText(file)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowsPerGroup})`,
  )
}
