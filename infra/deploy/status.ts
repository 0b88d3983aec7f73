/** `lqe status`: which version serves this folder's endpoints, here or in a project, and what differs from the folder. It changes nothing. */
import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { type Config, loadConfig } from '../../shared/config.ts'
import { portFile } from '../../shared/data-folder.ts'
import type { Store } from '../../shared/stores/store.ts'
import { version } from '../../shared/version.ts'
import { planFor, titleOf } from '../lqe/apply/plan.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { usingServices, type WithStore } from '../lqe/command.ts'
import { queriesFolder } from '../lqe/folder.ts'
import { print } from '../lqe/print.ts'
import { countToProject, type Flags, type Run, runOf, steps, telling } from './deploy.ts'
import { serviceOf, serving, settingsOf } from './functions.ts'
import { assertSignedIn } from './preflight.ts'
import { fileOf, functionNames, namesIn, optionsOfSettings } from './settings.ts'

/** Its action throws QueriesError and StoreError. @param config of this machine */
export function statusCommand(withStore: WithStore, config: () => Config): Command {
  const command = new Command('status')
    .description('which version runs where, and what differs from this folder')
    .option('--project <id>', 'project of Google Cloud; by default this machine')
  for (const option of optionsOfSettings(/^(region|prefix)$/)) command.addOption(option)
  return command.action(async (flags: Partial<Flags>) => {
    const queries = queriesFolder()
    const own =
      queries === 'queries'
        ? 'the endpoints of queries/'
        : 'endpoints that ship, as there is no queries/ here'
    print(`This is lqe ${version}, with ${own}.`)
    const { project } = flags
    // What is done in a dry run is read, and what would be changed is said.
    const read = telling(() => inProject(runOf({ ...flags, project: project!, dryRun: true })), '')
    await (project ? read() : onMachine(withStore, config()))
  })
}

async function onMachine(withStore: WithStore, { port, dataDir, store }: Config): Promise<void> {
  const file = portFile(dataDir)
  const at = `http://localhost:${existsSync(file) ? readFileSync(file, 'utf8').trim() : port}`
  const running = await versionAt(at)
  print('', running ? `${running} serves at ${at}.` : `Nothing of lqe serves at ${at}: npx lqe start`)
  if (store === 'sqlite' && !existsSync(dataDir)) return print(`There is no ${dataDir} yet.`)
  await withStore(({ store }) => printEndpoints(store))
}

/** @param run a dry one */
export async function inProject(run: Run): Promise<void> {
  const { google, site, env } = run
  await assertSignedIn(google)
  await countToProject(run)
  print('', `${site.project}, ${site.region}:`)
  const services = await Promise.all(functionNames.map(name => serviceOf(google, site, name)))
  for (const [at, service] of services.entries()) {
    const name = namesIn(site).functionName(functionNames[at]!)
    if (!service) return print(`  ${name} is not there: npx lqe deploy --project=${site.project}`)
    const revisions = serving(service).map(({ revision, percent }) => `${revision} ${percent}%`)
    // Only Cloud Scheduler may ask warm.
    const running = functionNames[at] === 'query' ? `${(await versionAt(service.uri)) ?? 'no answer'}, ` : ''
    print(`  ${name}: ${running}${service.uri}, ${revisions.join(' ')}`)
  }
  await usingServices(loadConfig(env), ({ store }) => printEndpoints(store))
  print(
    '',
    `What npx lqe deploy --project=${site.project} would change, by ${fileOf(site.project, site.prefix)}:`,
  )
  for (const name of functionNames)
    for (const line of await settingsOf(google, site, name))
      if (line.includes(' (was ')) google.options.say(`${namesIn(site).functionName(name)}: ${line}`)
  for (const [title, act] of steps) if (setUp.test(title)) await act(google, site, run)
}

/** Of the steps of a deployment those that say nothing where nothing is to be done. */
const setUp = /^(APIs|accounts|rights|data|jobs|monitoring|builds of pushes|expiry and backups)$/

async function printEndpoints(store: Store): Promise<void> {
  const wanted = readQueries(queriesFolder()).map(({ endpoint }) => endpoint)
  print(
    '',
    'What npx lqe apply would do, where its checks and tests pass:',
    ...(await planFor(wanted, store)).map(step => `  ${titleOf(step)}`),
  )
}

/** @returns null where nothing, or something else, answers */
async function versionAt(url: string): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) })
    return ((await answer.json()) as { version?: string }).version ?? null
  } catch {
    return null
  }
}
