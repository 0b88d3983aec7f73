/** `lqe logs ...`: loads and samples logs, and clears those of this machine. */
import { statSync } from 'node:fs'
import cliProgress from 'cli-progress'
import { Command, Option } from 'commander'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import type { Services } from '../../../shared/services.ts'
import { CommandError, type WithServices, wholeNumber } from '../command.ts'
import { typedPath } from '../path.ts'
import { formats } from './formats.ts'
import { type Loaded, type LoadOptions, loadLogs } from './load.ts'
import type { Folders } from './parquet.ts'
import { clearLogs } from './publish.ts'
import type { Incident } from './sample.ts'
import { print, warn } from '../print.ts'

/** The command `logs`. Its actions throw CommandError. @param settings is called when a subcommand runs, and told if it adds rows or clears */
export function logsCommand(
  settings: (change?: 'add' | 'clear') => Folders,
  withServices: WithServices,
): Command {
  const about = 'logs: load files, make samples, clear tables'
  const command = new Command('logs').description(about)
  command
    .command('load')
    .description(
      'load log files into a table; loading a file again replaces its earlier rows, and adds none in BigQuery',
    )
    .argument('<table>', 'a log table, such as cloudflare.logs.prod')
    .argument('<file...>', 'log files, gzip or not; - is standard input', collectPath)
    .addOption(new Option('--format <format>', 'format of the lines').choices(formats).default('ndjson'))
    .option('--project <ref>', 'with --format combined: the project that the requests belong to')
    .option('--host <host>', 'with --format combined: the requested host, such as www.example.com')
    .option(
      '--time <field>',
      'the field with the time of an entry; by default timestamp, time, ts and the like',
    )
    .option('--shift-to-now', 'move the newest entry to the present, and all others by as much', false)
    .option('--dry-run', 'read and check the files, and load nothing', false)
    .action(async (table: string, files: string[], flags: LoadFlags) => {
      await loadAndReport({ ...settings('add'), ...flags, table, files })
    })
  command
    .command('sample')
    .description('make sample logs of the last eight days in all tables; they replace an earlier sample')
    .option('--rows <number>', 'how many requests (default: 6000)', wholeNumber(1, 999_999_999))
    .option('--seed <number>', 'the same seed makes the same logs (default: 1)', wholeNumber(1, 999_999_999))
    .option('--incident', 'with something to find: a caller that makes requests fail in the last hour', false)
    .action(async (flags: { rows?: number; seed?: number; incident: boolean }) => {
      // Its world takes a while to read, so other commands do without.
      const { defaults, sampleIncident, writeSample } = await import('./sample.ts')
      const now = new Date()
      const { rows, seed } = { ...defaults, ...flags }
      const counts = await stoppable(signal =>
        withProgress('requests', rows, bar => {
          const onProgress = (done: number) => bar.update(done)
          return writeSample({ ...settings('add'), ...flags, now, signal, out: warn, onProgress })
        }),
      )
      const made = [...counts].filter(([, count]) => count > 0)
      for (const [table, count] of made) print(`${table}: ${count} sample rows`)
      if (flags.incident && made.length > 0) print('', ...solution(sampleIncident(seed, now)).split('\n'))
    })
  command
    .command('clear')
    .description('remove all rows of a table')
    .argument('<table>', 'a log table, such as cloudflare.logs.prod')
    .action(async (table: string) => {
      const files = await clearLogs({ ...settings('clear'), table })
      print(`${table} is empty; removed files: ${files}`)
    })
  command
    .command('tables')
    .description('print every log table with its rows, and the times of the first and the last')
    .action(() => withServices(services => listTables(services, settings())))
  return command
}

function solution({ project, table, user, begin }: Incident): string {
  const since = new Date(begin / 1000).toISOString()
  return (
    `Something fails in project ${project.ref}. What there is to find: since ${since}, user ${user.id} sends ` +
    `GET /rest/v1/${table} by ${user.client.library}, which ends in timeouts of the database.`
  )
}

async function listTables({ engine }: Services, { tablesFolder }: Folders): Promise<void> {
  for (const table of readTableSchemas(tablesFolder).keys()) {
    const sql = `SELECT COUNT(*) AS count, CAST(MIN(timestamp) AS STRING) AS first, CAST(MAX(timestamp) AS STRING) AS last FROM \`${table}\``
    const { rows } = await engine.run({ sql, bindings: [] }, { maxRows: 1, timeoutMs: 60_000 })
    const { count, first, last } = rows[0] as { count: number; first: string | null; last: string | null }
    print(`${table}: ${count} rows${count > 0 ? ` from ${first} to ${last}` : ''}`)
  }
}

/** The counts that are always said, then those that are not zero. */
function printCounts(loaded: Loaded, dryRun = false): string {
  const { rows, badLines, unknownFields, withoutProject, first, last } = loaded
  const counts = { 'rows without a project': withoutProject, 'fields left out': unknownFields }
  const others = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? `${what}: ${count}` : []))
  const range = rows > 0 ? [`from ${first} to ${last}`] : []
  return [
    `rows ${dryRun ? 'to load' : 'loaded'}: ${rows}`,
    `bad lines: ${badLines}`,
    ...others,
    ...range,
  ].join('; ')
}

type LoadFlags = Pick<LoadOptions, 'format' | 'project' | 'host' | 'time' | 'shiftToNow' | 'dryRun'>

/** Loads files, and prints what came of it; without a row the exit code is 1. @returns the rows */
export async function loadAndReport(options: Omit<LoadOptions, 'out' | 'signal'>): Promise<number> {
  const loaded = await stoppable(signal => runLoad({ ...options, signal }))
  print(`${options.table}: ${printCounts(loaded, options.dryRun)}`)
  if (loaded.rows === 0) process.exitCode = 1
  return loaded.rows
}

async function runLoad(options: Omit<LoadOptions, 'out'>): Promise<Loaded> {
  const sizes = options.files.map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  // The length of standard input is unknown.
  const total = options.files.includes('-') ? 0 : sizes.reduce((sum, size) => sum + size, 0)
  return withProgress('bytes', total, bar => {
    const onBytes = (count: number) => bar.increment(count)
    const out = (line: string) => {
      bar.stop()
      warn(line)
    }
    return loadLogs({ ...options, onBytes, out })
  })
}

/** The bar is on standard error, and only on a terminal: it never gets into a pipe. */
export async function withProgress<T>(
  unit: string,
  total: number,
  act: (bar: cliProgress.SingleBar) => Promise<T>,
): Promise<T> {
  const format = ` {bar} {percentage}% of {total} ${unit}`
  const options = { format, clearOnComplete: true, noTTYOutput: false }
  const bar = new cliProgress.SingleBar(options, cliProgress.Presets.shades_classic)
  if (total > 0) bar.start(total, 0)
  try {
    return await act(bar)
  } finally {
    bar.stop()
  }
}

/** Ctrl-C and SIGTERM end the work in order: nothing is left behind. */
export async function stoppable<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort(new CommandError('Stopped. The tables are as they were.'))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, stop)
  try {
    return await act(controller.signal)
  } finally {
    for (const signal of signals) process.off(signal, stop)
    // The client keeps the connection of an upload that was cut off.
    if (controller.signal.aborted) setTimeout(() => process.exit(), 500).unref()
  }
}

function collectPath(path: string, before?: string[]): string[] {
  return [...(before ?? []), typedPath(path)]
}
