/** `lqe table ...`: makes log tables of this machine. */
import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import { loadAndReport, stoppable } from '../logs/command.ts'
import { CommandError } from '../command.ts'
import type { Folders } from '../logs/parquet.ts'
import { typedPath } from '../path.ts'
import { guessTable, columnLines, makeTable, type NewTable, takeBack } from './add.ts'
import { print, warn } from '../print.ts'

interface AddFlags {
  name?: string
  time?: string
  yes: boolean
}

/** The command `table`. Its actions throw CommandError. @param settings is called when a subcommand runs */
export function tableCommand(settings: () => Folders): Command {
  const command = new Command('table').description('log tables of this machine: add')
  command
    .command('add')
    .description(
      'make a log table from a file of logs, and load the file: columns are guessed and shown before',
    )
    .argument('<file>', 'NDJSON, CSV or a web server’s access log, gzip or not', typedPath)
    .option('--name <name>', 'of the table; by default the file’s')
    .option(
      '--time <field>',
      'the field with the time of an entry; by default timestamp, time, ts and the like',
    )
    .option('--yes', 'make it without a question', false)
    .action((file: string, flags: AddFlags) => add(file, flags, settings()))
  return command
}

async function add(file: string, { yes, ...flags }: AddFlags, folders: Folders): Promise<void> {
  const table = await stoppable(signal => guessTable({ ...flags, ...folders, file, signal }))
  show(table)
  if (!yes && !(await agreed()))
    throw new CommandError('No table was made. With --yes it is made without a question.')
  const schemaFile = await makeTable(table, folders)
  print(`The table ${table.name} is in ${schemaFile}; a running service has it at once.`)
  const time = flags.time === undefined ? {} : { time: flags.time }
  const load = { ...folders, ...time, table: table.name, files: [file], format: table.format }
  let rows = 0
  try {
    rows = await loadAndReport(load)
  } finally {
    if (rows === 0) {
      takeBack(table.name, folders)
      warn(`The table ${table.name} is taken back, as it got no rows.`)
    }
  }
}

function show({ name, schema, time, leftOut }: NewTable): void {
  print(`${name}, with the time of the field ${time}:`)
  for (const line of columnLines(schema)) print(line)
  for (const field of leftOut) print(`left out: ${field}, as its name is no column’s, or another’s`)
}

/** Asks on a terminal; elsewhere there is no one to ask. */
async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question('Make it? (y/N) ')).trim())
  } finally {
    terminal.close()
  }
}
