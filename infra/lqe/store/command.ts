/** `lqe store`: definitions, keys and views as a file, and back, also into a store of the other kind. */
import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import type { Store } from '../../../shared/stores/store.ts'
import { writeWhole } from '../../../shared/data-folder.ts'
import { accountHere, audit } from '../account.ts'
import { CommandError, type WithStore } from '../command.ts'
import { readText, typedPath } from '../path.ts'
import { print, printData } from '../print.ts'
import { contentsIn, readContents, textOf } from './contents.ts'
import { carryOutImport, planImport } from './import.ts'

/** Its actions throw CommandError. @param author who imports, for the list of versions; `null` = the account and machine */
export function storeCommand(withStore: WithStore, author: () => string | null): Command {
  const command = new Command('store').description('definitions, keys and views: to a file, and from one')
  command
    .command('export')
    .description(
      'write every definition that is kept, every view, and every key as a hash; no answers and no secret',
    )
    .argument('<file>', 'where to, for its owner alone; - for standard output', typedPath)
    .action((file: string) => withStore(({ store }) => exportTo(store, file)))
  command
    .command('import')
    .description(
      'add what a file of lqe store export has, and put its definitions in force; nothing is removed',
    )
    .argument('<file>', 'the file; - for standard input', typedPath)
    .option('--dry-run', 'only print what would change', false)
    .action((file: string, { dryRun }: { dryRun: boolean }) =>
      withStore(({ store }) => importFrom(store, file, dryRun, author() ?? accountHere())),
    )
  return command
}

async function exportTo(store: Store, file: string): Promise<void> {
  const contents = await readContents(store)
  if (file === '-') return printData(textOf(contents))
  const text = `${textOf(contents)}\n`
  // Who has the hash of a key cannot make the key, but it is nobody's to read.
  await writeWhole(file, beside => writeFileSync(beside, text, { mode: 0o600, flag: 'wx' }))
  const { definitions, keys, views } = contents
  const endpoints = definitions.filter(({ inForce }) => inForce).length
  print(
    `Wrote ${file}: endpoints ${endpoints}, versions ${definitions.length}, keys ${keys.length}, views ${views.length}.`,
  )
}

async function importFrom(store: Store, file: string, dryRun: boolean, by: string | null): Promise<void> {
  const name = file === '-' ? 'Standard input' : file
  const read = readText(file, 'pipe it in, cat FILE | lqe store import -')
  if ('fault' in read) throw new CommandError(`${name} ${read.fault}`)
  const plan = await planImport(store, contentsIn(read.text, name))
  print(...plan.lines.flatMap(line => line.split('\n')))
  if (dryRun) return print(`${plan.writes.length} to write; nothing was done (--dry-run).`)
  await carryOutImport(store, plan, by)
  if (plan.newKeys.length > 0) audit('keys imported', { keys: plan.newKeys })
  print(`${plan.writes.length} written.`)
  const rollups = plan.steps.filter(({ after }) => after!.rollups.length > 0).map(({ name }) => name)
  if (rollups.length > 0)
    print(`Roll-ups that are missing (${rollups.join(', ')}) are made by the next apply.`)
}
