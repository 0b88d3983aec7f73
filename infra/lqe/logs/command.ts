/** `lqe logs ...`: the logs of this machine, as folders of Parquet files. */
import { statSync } from 'node:fs'
import cliProgress from 'cli-progress'
import { Command, InvalidArgumentError, Option } from 'commander'
import { LogsError } from './error.ts'
import { type Format, formats, type Loaded, loadLogs } from './load.ts'
import { clearLogs } from './parquet.ts'
import { defaults, writeSample } from './sample.ts'

interface Folders {
  logsFolder: string
  tablesFolder: string
}

interface LoadFlags {
  format: Format
  project?: string
  host?: string
  shiftToNow: boolean
}

/** The command `logs`. Its actions throw LogsError. @param settings is called when a subcommand runs */
export function logsCommand(settings: () => Folders): Command {
  const command = new Command('logs').description(
    'logs on this machine: load files, make samples, clear tables',
  )
  command
    .command('load')
    .description('load log files into a table; loading a file again replaces what it brought before')
    .argument('<table>', 'a log table, such as cloudflare.logs.prod')
    .argument('<file...>', 'log files, gzip or not; - is standard input')
    .addOption(new Option('--format <format>', 'what the lines are').choices(formats).default('ndjson'))
    .option('--project <ref>', 'with --format combined: the project that the requests belong to')
    .option('--host <host>', 'with --format combined: the host that was asked, such as www.example.com')
    .option('--shift-to-now', 'move the newest entry to the present, and all others by as much', false)
    .action(async (table: string, files: string[], flags: LoadFlags) => {
      const loaded = await stoppable(signal => runLoad({ ...settings(), ...flags, table, files, signal }))
      console.log(summary(table, loaded))
      if (loaded.rows === 0) process.exitCode = 1
    })
  command
    .command('sample')
    .description('make sample logs of the last eight days in all tables; they replace an earlier sample')
    .option('--rows <number>', 'how many requests', wholeNumber, defaults.rows)
    .option('--seed <number>', 'the same seed makes the same logs', wholeNumber, defaults.seed)
    .action(async (flags: { rows: number; seed: number }) => {
      const counts = await stoppable(signal => runSample({ ...settings(), ...flags, signal }))
      for (const [table, rows] of counts) console.log(`${table}: ${rows} rows`)
    })
  command
    .command('clear')
    .description('remove all rows of a table')
    .argument('<table>', 'a log table, such as cloudflare.logs.prod')
    .action(async (table: string) => {
      const files = await clearLogs({ ...settings(), table })
      console.log(`${table} is empty; removed files: ${files}`)
    })
  return command
}

async function runLoad(
  options: Folders & LoadFlags & { table: string; files: string[]; signal: AbortSignal },
) {
  const bar = progress(' {bar} {percentage}% of {total} bytes')
  const sizes = options.files.map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  // The length of standard input is not known.
  const total = options.files.includes('-') ? 0 : sizes.reduce((sum, size) => sum + size, 0)
  if (total > 0) bar.start(total, 0)
  try {
    return await loadLogs({
      ...options,
      onBytes: count => bar.increment(count),
      out: line => {
        bar.stop()
        console.error(line)
      },
    })
  } finally {
    bar.stop()
  }
}

async function runSample(options: Folders & { rows: number; seed: number; signal: AbortSignal }) {
  const bar = progress(' {bar} {percentage}% of {total} requests')
  bar.start(options.rows, 0)
  try {
    return await writeSample({ ...options, now: new Date(), onProgress: done => bar.update(done) })
  } finally {
    bar.stop()
  }
}

/** On standard error, and only on a terminal: it never gets into a pipe. */
function progress(format: string): cliProgress.SingleBar {
  return new cliProgress.SingleBar(
    { format, clearOnComplete: true, noTTYOutput: false },
    cliProgress.Presets.shades_classic,
  )
}

/** Lets Ctrl-C and a plain kill end the work in order: nothing is left behind. */
async function stoppable<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort(new LogsError('Stopped. The tables are as they were.'))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, stop)
  try {
    return await act(controller.signal)
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}

function summary(table: string, { rows, badLines, first, last }: Loaded): string {
  const range = rows > 0 ? `; from ${first} to ${last}` : ''
  return `${table}: rows loaded: ${rows}; bad lines: ${badLines}${range}`
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text) || text === '0') throw new InvalidArgumentError('Write a whole number from 1.')
  return Number(text)
}
