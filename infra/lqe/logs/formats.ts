/** The formats of log files: how a line of each becomes an entry, and which one a file has in place of the one named. */
import { edgeTable, isCombined, parseCombined } from './combined.ts'
import { type Json, parseJson } from './entries.ts'
import { LogsError } from './error.ts'

export const formats = ['ndjson', 'combined'] as const

export interface FormatOptions {
  table: string
  format?: (typeof formats)[number]
  /** For the combined format, which has neither: the entries' project and the host of their URLs. */
  project?: string
  host?: string
}

/**
 * Reads a line as JSON.
 * @throws LogsError for options that do not fit the format; the reader throws BadEntry
 */
export function lineParser({
  format = 'ndjson',
  table,
  project,
  host,
}: FormatOptions): (line: string) => Json {
  if (format === 'ndjson') {
    if (project === undefined && host === undefined) return parseJson
    throw new LogsError(
      '--project and --host are for --format combined; NDJSON names the project in each line',
    )
  }
  if (table !== edgeTable)
    throw new LogsError(`--format combined holds web requests: load it into ${edgeTable}, not ${table}`)
  if (!project)
    throw new LogsError('--format combined needs --project: the project that the requests belong to')
  if (!host || !/^[^\s/?#@]+$/.test(host))
    throw new LogsError('--format combined needs --host: the requested host, such as www.example.com')
  return line => parseCombined(line, { project, host })
}

/**
 * What to do with a file that has another format, by its first line that is not blank.
 * @returns `null` where the line may be of the format
 */
export function otherFormat(file: string, line: string, { format, table }: FormatOptions): string | null {
  const load = 'npm run -s lqe -- logs load'
  const name = file === '-' ? 'the input' : file
  if (format === 'combined')
    return /^\{.*\}$/s.test(line)
      ? `${name} holds JSON, not the combined format: leave out --format, --project and --host`
      : null
  const from = file === '-' ? '' : ` ${JSON.stringify(file)}`
  if (/^\[(\s*[{[\]]|$)/.test(line))
    return `${name} is one JSON array; give each entry a line: jq -c '.[]'${from} | ${load} ${table} -`
  if (line === '{')
    return `${name} has entries of several lines; give each one line: jq -c .${from} | ${load} ${table} -`
  if (isCombined(line))
    return `${name} is a web server's access log: ${load} ${edgeTable}${from || ' -'} --format combined --project <ref> --host <www.example.com>`
  return null
}
