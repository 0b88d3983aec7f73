/** What loads brought to a log table: adding sources in one step, merging small files in the same step, removing all. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { commitLoads, type LoadedSource, loadPrefix } from '../../../shared/engines/duckdb/loads.ts'
import { readLoads, sourceColumn } from '../../../shared/engines/duckdb/loads.ts'
import { RollupParts } from '../../../shared/engines/duckdb/rollups.ts'
import { quoteName, quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { prepareTableFolder, tableFolder } from '../../../shared/engines/duckdb/tables.ts'
import { formats } from '../../../shared/stores/format.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { CommandError } from '../command.ts'
import { charactersPerFile, copySorted, type Folders, type ParquetWriter } from './parquet.ts'
import { removeIfOld, rowsPerFile, type Stage, tableColumns, withStage } from './parquet.ts'

/** Every query opens each file, so a file of so few rows is merged with others by the next load, however few rows that brings. */
const fewRows = 2_048
/** A larger file is merged when so many times fewer rows have come: a row is written again some 30 times, not with each load. */
const growth = 32
const mergedFile = 'merged.parquet'
/** So much longer than any query, which may still be reading files that are gone (`timeoutSeconds` in definition.schema.json). */
const readersMs = 600_000
/** So many loads of standard input are remembered, the last ones: it has no name, and a record of each minute would grow for ever. */
const mostUnnamed = 2_000

/** A source on the stage. */
export interface NewSource extends Omit<LoadedSource, 'rows' | 'files' | 'key'> {
  writer: ParquetWriter
}

/** What earlier loads brought to a table. */
export function sourcesOf(logsFolder: string, table: string): LoadedSource[] {
  const folder = tableFolder(logsFolder, table)
  return existsSync(folder) ? recordIn(folder).sources : []
}

/** @throws CommandError for a record that is none; loads write whole ones */
function recordIn(folder: string): ReturnType<typeof readLoads> {
  try {
    return readLoads(folder)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new CommandError(
      `The record of loads in ${folder} is damaged. Remove loads.*.json there, and load again.`,
    )
  }
}

/** A table whose record is to change, and the stage of the change. */
interface Target {
  stage: Stage
  name: string
  folder: string
  columns: Column[]
}

/**
 * Adds sources to a table in one step, in place of earlier ones: their files go into its folder, where no query looks for
 * them, and then a record of loads that names them takes the place of the one before. The files are on the disk by then,
 * and the parts of the table's roll-ups are made.
 * @param isReplaced whether an earlier source goes
 * @returns the sources that are gone
 */
export async function publish(
  stage: Stage,
  { table, columns }: Pick<ParquetWriter, 'table' | 'columns'>,
  added: NewSource[],
  isReplaced: (earlier: LoadedSource) => boolean,
): Promise<LoadedSource[]> {
  const folder = tableFolder(resolve(stage.logsFolder), table)
  mkdirSync(folder, { recursive: true })
  const sources = added
    .filter(({ writer }) => writer.rows > 0)
    .map(({ writer, ...source }) => ({ ...source, rows: writer.rows, files: writer.moveTo(folder) }))
  return replaceRecord({ stage, name: table, folder, columns }, earlier => [
    ...earlier.filter(source => !isReplaced(source)),
    ...sources,
  ])
}

/** @returns the sources that the new record does not have */
async function replaceRecord(
  table: Target,
  change: (sources: LoadedSource[]) => LoadedSource[],
): Promise<LoadedSource[]> {
  const { stage, folder } = table
  for (let mayMerge = true; ; mayMerge = false) {
    const before = recordIn(folder)
    const wanted = change(before.sources)
    const replaced = before.sources.filter(source => !wanted.includes(source))
    // Once another load was faster, or a small file cannot be read, this one only does what it must: a later one merges.
    const pieces = toMerge(wanted, replaced).filter(({ shrinks }) => shrinks || mayMerge)
    const sources = await merged(table, wanted, pieces, replaced).catch((cause: Error) => {
      if (mayMerge || readLoads(folder).number !== before.number) return null
      throw unreadable(folder, cause)
    })
    if (sources === null) continue
    await prepareParts(table, before.sources, sources)
    const [had, brought, has] = [foldersOf(before.sources), foldersOf(wanted), foldersOf(sources)]
    const { gone, expired } = goneFolders(before.gone, without(had, has))
    const record = join(stage.folder, `${randomUUID()}.json`)
    writeFileSync(record, JSON.stringify({ format: formats.loads, sources, gone }), { flush: true })
    const isDone = commitLoads(folder, record, before.number)
    // Of a record that another load's was faster than, the merged file; no query knows of it.
    const unused = isDone ? [...expired, ...without(without(brought, had), has)] : without(has, brought)
    for (const name of unused)
      if (name.startsWith(loadPrefix)) rmSync(join(folder, name), { recursive: true, force: true })
    if (!isDone) continue
    removeUnnamed(folder)
    return replaced
  }
}

function unreadable(folder: string, cause: Error): CommandError {
  const [reason] = cause.message.split('\n')
  return new CommandError(
    `Earlier rows of the table cannot be read, in ${folder}: ${reason}. Nothing was loaded.`,
  )
}

/** A file with the sources whose rows it holds. */
interface Piece {
  file: string
  sources: LoadedSource[]
  rows: number
  bytes: number
  /** Whether it holds rows of a source that is gone, too. */
  shrinks: boolean
}

/** The files whose rows are to be written to one file together: small ones, and those that shrink. Files of people are not among them. */
function toMerge(sources: LoadedSource[], replaced: LoadedSource[]): Piece[] {
  const shrinking = new Set(replaced.flatMap(({ files }) => files))
  const alone = sources.filter(({ files }) => files.length === 1)
  const pieces = [...Map.groupBy(alone, ({ files }) => files[0]!)].map(([file, sources]) => {
    const sum = (of: 'rows' | 'bytes') => sources.reduce((total, source) => total + source[of], 0)
    return { file, sources, rows: sum('rows'), bytes: sum('bytes'), shrinks: shrinking.has(file) }
  })
  const chosen = pieces.filter(({ shrinks }) => shrinks)
  let [rows, bytes] = [0, 0]
  for (const piece of [
    ...chosen,
    ...pieces.filter(({ shrinks }) => !shrinks).sort((a, b) => a.rows - b.rows),
  ]) {
    const isSmall = piece.rows <= Math.max(fewRows, growth * rows)
    const fits = rows + piece.rows <= rowsPerFile && bytes + piece.bytes <= charactersPerFile
    if (!piece.shrinks && !(isSmall && fits)) break
    if (!piece.shrinks) chosen.push(piece)
    rows += piece.rows
    bytes += piece.bytes
  }
  return chosen.length > 1 || chosen[0]?.shrinks ? chosen : []
}

/** Puts the rows of some files into one, in the folder of the table. @returns the sources as they are then */
async function merged(
  { stage, folder, columns }: Target,
  sources: LoadedSource[],
  pieces: Piece[],
  replaced: LoadedSource[],
): Promise<LoadedSource[]> {
  if (pieces.length === 0) return sources
  const name = `${loadPrefix}${randomUUID()}`
  const made = join(stage.folder, name)
  mkdirSync(made)
  await copySorted(stage, rowsOf(folder, columns, pieces, replaced), join(made, mergedFile))
  renameSync(made, join(folder, name))
  const moved = new Set(pieces.flatMap(piece => piece.sources))
  const unnamed = sources.filter(({ source }) => source === '-').slice(0, -mostUnnamed)
  const isForgotten = (source: LoadedSource) => source.source === '' || unnamed.includes(source)
  const forgotten = new Set([...moved].filter(isForgotten))
  const files = [join(name, mergedFile)]
  const rows = [...forgotten].reduce((sum, source) => sum + source.rows, 0)
  const together = { source: '', options: '', bytes: 0, hash: '', rows, files }
  return [
    ...(forgotten.size > 0 ? [together] : []),
    ...sources
      .filter(source => !forgotten.has(source))
      .map(source => (moved.has(source) ? { ...source, files, key: keyOf(source) } : source)),
  ]
}

/** Names a source in merged files: its folder when it was loaded, which names it in no other table either. */
function keyOf({ key, files }: LoadedSource): string {
  return key ?? dirname(files[0]!)
}

/** SQL of the rows of pieces that are not of a replaced source, with the keys of their sources. */
function rowsOf(folder: string, columns: Column[], pieces: Piece[], replaced: LoadedSource[]): string {
  const [named, plain] = [true, false].map(isNamed => {
    const files = pieces.filter(({ file }) => (basename(file) === mergedFile) === isNamed)
    return files.map(({ file }) => quoteText(join(folder, file))).join(', ')
  })
  const names = columns.map(({ name }) => quoteName(name)).join(', ')
  const key = quoteName(sourceColumn)
  const keys = ["''", ...replaced.map(source => quoteText(keyOf(source)))].join(', ')
  const ofPlain = `SELECT ${names}, regexp_extract("$file", '([^/]+)/[^/]*$', 1) AS ${key}
    FROM read_parquet([${plain}], filename = '$file')`
  const ofNamed = `SELECT ${names}, ${key} FROM read_parquet([${named}]) WHERE ${key} NOT IN (${keys})`
  return [...(plain === '' ? [] : [ofPlain]), ...(named === '' ? [] : [ofNamed])].join(' UNION ALL ')
}

/** So that the first query over a roll-up after a load finds them. */
async function prepareParts(table: Target, before: LoadedSource[], after: LoadedSource[]): Promise<void> {
  const { stage, name, folder, columns } = table
  const files = without(filesOf(after), filesOf(before)).map(file => join(folder, file))
  const parts = new RollupParts(dirname(folder), new Map([[name, columns]]))
  await parts.prepare(name, files, stage.connection)
}

function filesOf(sources: LoadedSource[]): Set<string> {
  return new Set(sources.flatMap(({ files }) => files))
}

function foldersOf(sources: LoadedSource[]): Set<string> {
  return new Set([...filesOf(sources)].map(file => dirname(file)))
}

function without(names: Iterable<string>, others: Set<string>): string[] {
  return [...names].filter(name => !others.has(name))
}

/** @returns the folders that queries may still be reading, and those that none can */
function goneFolders(before: Record<string, number>, left: string[]) {
  const now = Date.now()
  const all = [...Object.entries(before), ...left.map((name): [string, number] => [name, now])]
  const [young, old] = [true, false].map(is => all.filter(([, since]) => since > now - readersMs === is))
  return { gone: Object.fromEntries(young!), expired: old!.map(([name]) => name) }
}

/** A killed load leaves files that no record names. */
function removeUnnamed(folder: string): void {
  const { sources, gone } = recordIn(folder)
  const named = new Set([...foldersOf(sources), ...Object.keys(gone)])
  for (const name of readdirSync(folder))
    if (name.startsWith(loadPrefix) && !named.has(name)) removeIfOld(join(folder, name))
}

/**
 * Removes a table's rows. The table stays, with an empty file, because a running service expects one. Files of loads leave the
 * disk as those that a load replaces; files of people at once, as a table has every file that is in its folder.
 * @returns how many Parquet files the table has no more
 * @throws CommandError for an unknown table
 */
export async function clearLogs({
  logsFolder,
  tablesFolder,
  table: name,
}: Folders & { table: string }): Promise<number> {
  const columns = tableColumns(tablesFolder, name)
  const folder = tableFolder(resolve(logsFolder), name)
  return withStage(logsFolder, async stage => {
    const made = mkdtempSync(join(stage.folder, 'empty-'))
    await prepareTableFolder(stage.connection, made, columns)
    const [empty] = readdirSync(made) as [string]
    mkdirSync(folder, { recursive: true })
    renameSync(join(made, empty), join(folder, empty))
    const loaded = await replaceRecord({ stage, name, folder, columns }, () => [])
    const full = readdirSync(folder).filter(file => file.endsWith('.parquet') && file !== empty)
    for (const file of full) rmSync(join(folder, file), { recursive: true })
    return full.length + filesOf(loaded).size
  })
}
