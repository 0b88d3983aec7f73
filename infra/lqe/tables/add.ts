/** Making a log table from a file of logs: its schema is guessed, shown, and written where table files are. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { asUsual, writeWhole } from '../../../shared/data-folder.ts'
import { prepareTableFolder, readTableSchemas, tableFolder } from '../../../shared/engines/duckdb/tables.ts'
import { columnsOf, type FieldSchema } from '../../../shared/engines/schema.ts'
import { isBuilt, packageFolder } from '../../../shared/package-folder.ts'
import { accessColumns, isCombined, parseAccess } from '../logs/access-log.ts'
import { guessedRow, isNamedCsv, readCsv } from '../logs/csv.ts'
import { BadEntry, parseJson, timeColumn } from '../logs/entries.ts'
import { CommandError } from '../command.ts'
import { type FormatOptions, isOfAccessLogs, otherFormat } from '../logs/formats.ts'
import { readLines } from '../logs/lines.ts'
import { checkFile } from '../logs/load.ts'
import { type Folders, withStage } from '../logs/parquet.ts'
import { Guess } from './guess.ts'

/** A table that is to be made. */
export interface NewTable {
  name: string
  format: NonNullable<FormatOptions['format']>
  schema: FieldSchema[]
  /** The field that becomes `timestamp`. */
  time: string
  /** Fields that can have no column, by name. */
  leftOut: string[]
}

interface GuessOptions extends Pick<Folders, 'tablesFolder'> {
  file: string
  /** By default the file's, without its ending. */
  name?: string
  /** The field with the time of an entry; by default the first of the usual names. */
  time?: string
  signal?: AbortSignal
}

/** The schema is guessed from so many lines; later ones that do not fit it are reported when they are loaded. */
const mostLines = 100_000

/**
 * Guesses a table from a file of NDJSON, of CSV with a line of names, or of a web server's access log.
 * @throws CommandError naming the option, or the file and its line
 */
export async function guessTable({ file, tablesFolder, signal, ...given }: GuessOptions): Promise<NewTable> {
  if (file === '-') throw new CommandError('table add reads its file twice: name a file, not -')
  checkFile(file)
  const name = given.name ?? nameOf(file)
  checkName(name)
  const { guess, format } = await look(file, name, signal)
  checkFree(name, tablesFolder, { file, format, time: given.time })
  if (format === 'combined')
    return { name, format, schema: [...commonColumns, ...accessColumns], time: timeColumn, leftOut: [] }
  const time = given.time ?? guess.timeField
  if (time === undefined || !guess.timeFields.includes(time)) throw noTime(file, given.time, guess.timeFields)
  const leftOut: string[] = []
  const columns = guess.columns(time, field => leftOut.push(field))
  return { name, format, schema: [...commonColumns, ...columns], time, leftOut }
}

/** Every log table begins with them. */
const commonColumns: FieldSchema[] = [
  { name: 'id', type: 'STRING', mode: 'REQUIRED' },
  { name: timeColumn, type: 'TIMESTAMP', mode: 'REQUIRED' },
]

/** `logs/app.ndjson.gz` and `app.log.1` are app. */
function nameOf(file: string): string {
  return basename(file).replace(/(?:\.(?:gz|log|ndjson|jsonl?|[ct]sv|txt|\d+))+$/i, '')
}

function checkName(name: string): void {
  if (!/^[A-Za-z][A-Za-z0-9._-]{0,99}$/.test(name))
    throw new CommandError(
      `${JSON.stringify(name)} is no name of a table: --name takes letters, digits, dots, - and _, a letter first`,
    )
  if (/\.rollup$/i.test(name)) throw new CommandError(`${name} is a name of roll-ups: choose another --name`)
}

interface LoadWords extends Pick<NewTable, 'format'> {
  file: string
  time: string | undefined
}

/** @throws CommandError for a table that is there, with the command that loads the file into it, where it can */
function checkFree(name: string, tablesFolder: string, { file, format, time }: LoadWords): void {
  const tables = readTableSchemas(tablesFolder)
  const taken = sameTable(name, tables.keys())
  if (taken === undefined) return
  const flags = [
    format === 'ndjson' ? '' : ` --format ${format}`,
    time === undefined ? '' : ` --time ${time}`,
  ]
  const command = `npx lqe logs load ${taken} ${JSON.stringify(file)}${flags.join('')}`
  const fits = format !== 'combined' || isOfAccessLogs(tables.get(taken)!)
  const remedy = fits ? `load the file into it with ${command}, or choose` : 'choose'
  throw new CommandError(`There is a table ${taken}: ${remedy} another --name`)
}

/** The one of these tables that has the name in BigQuery, where `_` stands for other characters. */
export function sameTable(name: string, tables: Iterable<string>): string | undefined {
  const plain = (table: string) => table.replaceAll(/[^A-Za-z0-9]/g, '_').toLowerCase()
  return [...tables].find(other => plain(other) === plain(name))
}

const parsers = { ndjson: parseJson, combined: parseAccess, csv: guessedRow }

/** @throws CommandError for a file without any entry, with the reason of the first bad line */
async function look(file: string, table: string, signal?: AbortSignal) {
  let format: NewTable['format'] | undefined = isNamedCsv(file) ? 'csv' : undefined
  const guess = new Guess(format === 'csv')
  const readFile = format === 'csv' ? readCsv : readLines
  let bad: string | undefined
  let entries = 0
  for await (const { number, text } of readFile({ file, signal, onText: () => {} })) {
    if (number > mostLines) break
    const line = text?.trim() ?? ''
    if (line === '') continue
    format ??= isCombined(line) ? 'combined' : 'ndjson'
    const onward = `> ${table}-lines.ndjson; npx lqe table add ${table}-lines.ndjson --name ${table}`
    const isFirst = entries === 0 && bad === undefined && format === 'ndjson'
    const hint = isFirst ? otherFormat(file, line, { table, columns: [] }, onward) : null
    if (hint !== null) throw new CommandError(`${hint}. No table was made.`)
    try {
      const entry = parsers[format](line)
      if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
        throw new BadEntry('an entry must be a JSON object')
      guess.add(entry)
      entries += 1
    } catch (error) {
      if (!(error instanceof BadEntry)) throw error
      bad ??= `${file}:${number}: ${error.message}`
    }
  }
  if (entries > 0) return { guess, format: format! }
  const reason = bad ?? `${file} is empty`
  throw new CommandError(
    `${reason}. No table was made: it takes NDJSON, a JSON object on each line, CSV with a line of names in a file called .csv, or an access log`,
  )
}

function noTime(file: string, asked: string | undefined, found: string[]): CommandError {
  const choices =
    found.length > 0 ? `of its fields ${found.join(', ')} hold times` : 'none of its fields holds times'
  const what =
    asked === undefined
      ? `${file} has no time under a usual name, such as timestamp, time or ts`
      : `--time ${asked}: no field of that name holds the time of each entry in ${file}`
  const remedy =
    found.length > 0 ? ': choose one with --time <field>' : '; a log table needs one in each entry'
  return new CommandError(`${what}; ${choices}${remedy}`)
}

/** The columns, a line each, nested ones indented. */
export function columnLines(schema: FieldSchema[], indent = '  '): string[] {
  const width = Math.max(...schema.map(({ name }) => name.length))
  return schema.flatMap(({ name, type, mode, fields }) => [
    `${indent}${name.padEnd(width)}  ${mode === 'REPEATED' ? `${type} REPEATED` : type}`,
    ...columnLines(fields ?? [], `${indent}  `),
  ])
}

/**
 * Makes the table, first its folder and then its schema file, by which a running service finds it.
 * @returns the schema's file
 * @throws CommandError where the folder of schemas cannot be written
 */
export async function makeTable(
  { name, schema }: NewTable,
  { logsFolder, tablesFolder }: Folders,
): Promise<string> {
  const columns = columnsOf(schema, ({ type }) => new TypeError(type))
  await withStage(logsFolder, ({ connection }) =>
    prepareTableFolder(connection, tableFolder(logsFolder, name), columns),
  )
  const isShipped = isBuilt && tablesFolder.startsWith(packageFolder)
  if (isShipped)
    throw new CommandError('This folder has no tables/ for a table of your own: lqe init makes one.')
  const file = schemaFile(tablesFolder, name)
  const text = `${JSON.stringify(schema, null, 2)}\n`
  try {
    await writeWhole(file, beside => asUsual(() => writeFileSync(beside, text)))
  } catch (error) {
    throw new CommandError(
      `TABLES_DIR: ${tablesFolder} cannot be written (${(error as NodeJS.ErrnoException).code})`,
    )
  }
  return file
}

function schemaFile(tablesFolder: string, name: string): string {
  return join(tablesFolder, `${name}.json`)
}

/** Takes a table back that was made and has no rows: its schema, and its folder where that holds nothing of before. */
export function takeBack(name: string, { logsFolder, tablesFolder }: Folders): void {
  rmSync(schemaFile(tablesFolder, name))
  const folder = tableFolder(logsFolder, name)
  if (readdirSync(folder).length === 1) rmSync(folder, { recursive: true })
}
