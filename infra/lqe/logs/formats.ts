/** The formats of log files: how a line of each becomes an entry, and which one a file has in place of the one named. */
import { accessColumns, edgeTable, isCombined, parseAccess, parseCombined } from './access-log.ts'
import { isNamedCsv, rowParser } from './csv.ts'
import { type Json, parseJson } from './entries.ts'
import { CommandError } from '../command.ts'
import type { Column } from '../../../shared/sql/types.ts'

export const formats = ['ndjson', 'combined', 'csv'] as const

export interface FormatOptions {
  table: string
  columns: Column[]
  format?: (typeof formats)[number]
  /** For the combined format in the edge table, as it has neither: the entries' project and the host of their URLs. */
  project?: string
  host?: string
}

/**
 * Reads a line as JSON; of CSV, a row as `readCsv` gives it.
 * @throws CommandError for options that do not fit the format; the reader throws BadEntry
 */
export function lineParser({
  format = 'ndjson',
  table,
  columns,
  project,
  host,
}: FormatOptions): (line: string) => Json {
  if (format !== 'combined') {
    if (project === undefined && host === undefined) return format === 'csv' ? rowParser(columns) : parseJson
    throw new CommandError(
      '--project and --host are for --format combined; NDJSON and CSV name the project in each line',
    )
  }
  if (isOfAccessLogs(columns)) {
    if (project === undefined && host === undefined) return parseAccess
    throw new CommandError(
      `--project and --host are for ${edgeTable}; ${table} has columns of the access log alone`,
    )
  }
  if (table !== edgeTable)
    throw new CommandError(
      `--format combined holds web requests: load it into ${edgeTable}, not ${table}, or make a table of it: npx lqe table add <file>`,
    )
  if (!project)
    throw new CommandError('--format combined needs --project: the project that the requests belong to')
  if (!host || !/^[^\s/?#@]+$/.test(host))
    throw new CommandError('--format combined needs --host: the requested host, such as www.example.com')
  return line => parseCombined(line, { project, host })
}

/** Whether a table was made from an access log: it has the columns of `parseAccess`. */
export function isOfAccessLogs(columns: Column[]): boolean {
  return accessColumns.every(wanted => columns.some(({ name }) => name === wanted.name))
}

const load = 'npx lqe logs load'

/**
 * What to do with a file that has another format, by its first line that is not blank.
 * @param onward where lines go that another program makes of it, in a shell
 * @returns `null` where the line may be of the format
 */
export function otherFormat(
  file: string,
  line: string,
  { format, table, columns }: FormatOptions,
  onward = `| ${load} ${table} -`,
): string | null {
  if (format === 'csv') return null
  const name = file === '-' ? 'the input' : file
  if (format === 'combined')
    return /^\{.*\}$/s.test(line)
      ? `${name} holds JSON, not the combined format: leave out --format, --project and --host`
      : null
  const from = file === '-' ? '' : ` ${JSON.stringify(file)}`
  if (/^\[(\s*[{[\]]|$)/.test(line))
    return `${name} is one JSON array; give each entry a line: jq -c '.[]'${from} ${onward}`
  if (isNamedCsv(file) && !line.startsWith('{')) return `${name} is CSV: ${load} ${table}${from} --format csv`
  if (line === '{')
    return `${name} has entries of several lines; give each one line: jq -c .${from} ${onward}`
  if (isCombined(line)) {
    const what = `${name} is a web server's access log`
    if (isOfAccessLogs(columns)) return `${what}: ${load} ${table}${from || ' -'} --format combined`
    const site = '--project <ref> --host <www.example.com>'
    return `${what}: ${load} ${edgeTable}${from || ' -'} --format combined ${site}; or make a table of it: npx lqe table add${from || ' <file>'}`
  }
  return null
}
