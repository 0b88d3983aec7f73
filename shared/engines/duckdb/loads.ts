/**
 * Which files hold the rows of a log table: every `*.parquet` in the table's folder, and those that its record of loads
 * names. The record is `loads.<number>.json`; the highest number counts. A new record comes into being whole and only if
 * no other has its number, so that a load is seen at once or not at all, and none is lost to another one.
 */
import { linkSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What one source brought. */
interface Batch {
  /** An absolute path, or a name that no path can have. */
  source: string
  /** Length of the content in bytes, unpacked, and the hash of it and of the options that decide how it is read. */
  bytes: number
  hash: string
  rows: number
  /** Paths in the table's folder. */
  files: string[]
}

export interface Loads {
  /** 0 = there is no record. */
  number: number
  batches: Batch[]
}

const recordName = /^loads\.(\d+)\.json$/

/** Absolute paths of the files that hold the rows at the moment, sorted. Throws what the file system throws. */
export function logFiles(folder: string): string[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.parquet'))
  const loaded = readLoads(folder).batches.flatMap(batch => batch.files)
  return [...files, ...loaded].sort().map(file => join(folder, file))
}

/** Throws what the file system throws, and SyntaxError for a damaged record. */
export function readLoads(folder: string): Loads {
  for (;;) {
    const number = Math.max(0, ...recordNumbers(folder))
    if (number === 0) return { number, batches: [] }
    try {
      return { number, batches: JSON.parse(readFileSync(recordAt(folder, number), 'utf8')) as Batch[] }
    } catch (error) {
      // It was removed since the folder was listed, so there is a later one.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/**
 * Makes a record of loads the table's own.
 * @param file holds the batches as JSON, on the same disk
 * @param after the number of the record that it was made from
 * @returns false where another process was faster, and nothing is changed
 */
export function commitLoads(folder: string, file: string, after: number): boolean {
  try {
    linkSync(file, recordAt(folder, after + 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
  // The number was free because it had been used and removed.
  if (Math.max(...recordNumbers(folder)) > after + 1) {
    rmSync(recordAt(folder, after + 1))
    return false
  }
  for (const number of recordNumbers(folder)) if (number < after) rmSync(recordAt(folder, number))
  return true
}

function recordNumbers(folder: string): number[] {
  return readdirSync(folder).flatMap(name => Number(recordName.exec(name)?.[1] ?? []))
}

function recordAt(folder: string, number: number): string {
  return join(folder, `loads.${number}.json`)
}
