/**
 * Which files hold the rows of a log table: every `*.parquet` in the table's folder, and those that its record of loads
 * names. The record is `loads.<number>.json`; the highest number counts. A new record comes into being whole and only if
 * no other has its number, so that a load is seen at once or not at all, and none is lost to another one.
 */
import { linkSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isReadable } from '../../stores/format.ts'
import { EngineError } from '../engine.ts'

/** What one source brought. */
export interface LoadedSource {
  /** An absolute path, `-` for standard input, `sample`. */
  source: string
  /** The options that decided how it was read. */
  options: string
  /** Of the content, unpacked: its length, and the SHA-256 of the options and it. */
  bytes: number
  hash: string
  rows: number
  /** Paths in the table's folder. A file of several sources is a merged one. */
  files: string[]
  /** What the column `sourceColumn` of a merged file has in the source's rows. */
  key?: string
}

interface Loads {
  sources: LoadedSource[]
  /** Folders of files that no source has any more, and since when, in ms since 1970: queries may still be reading them. */
  gone: Record<string, number>
}

/** Of the folder of a load's files, in its table's. */
export const loadPrefix = 'load-'

/** Of merged files alone; no column of BigQuery can be called so. */
export const sourceColumn = '$source'

const recordName = /^loads\.(\d+)\.json$/

/** Absolute paths of the files that hold the rows at the moment, sorted. Throws what the file system throws. */
export function logFiles(folder: string): string[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.parquet'))
  const loaded = new Set(readLoads(folder).sources.flatMap(source => source.files))
  return [...files, ...loaded].sort().map(file => join(folder, file))
}

/** Absolute paths of the files that loads have put there, also those that no record names yet, or no longer. */
export function filesOfLoads(folder: string): string[] {
  return readdirSync(folder).flatMap(name => {
    if (!name.startsWith(loadPrefix)) return []
    try {
      return readdirSync(join(folder, name)).map(file => join(folder, name, file))
    } catch {
      return [] // removed meanwhile
    }
  })
}

/**
 * The table's record; one of number 0, without sources, where there is none.
 * Throws what the file system throws, SyntaxError for a damaged record, and EngineError for one of a later version.
 */
export function readLoads(folder: string): Loads & { number: number } {
  for (;;) {
    const number = Math.max(0, ...recordNumbers(folder))
    if (number === 0) return { number, sources: [], gone: {} }
    try {
      const record = JSON.parse(readFileSync(recordAt(folder, number), 'utf8')) as Partial<Loads> & {
        format?: number
      }
      if (!isReadable('loads', record.format)) throw new EngineError('misconfigured', newer(folder, number))
      return { number, sources: [], gone: {}, ...record }
    } catch (error) {
      // It was removed since the folder was listed, so there is a later one.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/**
 * Makes a record of loads the table's own.
 * @param file holds it as JSON, on the same disk
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
  for (const number of recordNumbers(folder))
    if (number < after) rmSync(recordAt(folder, number), { force: true })
  return true
}

function recordNumbers(folder: string): number[] {
  return readdirSync(folder)
    .flatMap(name => recordName.exec(name)?.[1] ?? [])
    .map(Number)
}

function newer(folder: string, number: number): string {
  return `${basename(folder)}/loads.${number}.json was written by a later version of this program`
}

function recordAt(folder: string, number: number): string {
  return join(folder, `loads.${number}.json`)
}
