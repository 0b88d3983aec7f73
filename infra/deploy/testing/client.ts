/** For tests: set-up in this process, by the deployment's own client, in a project on the stand-in of Google's control plane. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { changes, type Project } from '../../google/control/testing/project.ts'
import { runCommand } from '../../lqe/testing/command.ts'
import { deployCommand } from '../deploy.ts'
import { setUpDatabase, setUpFields } from '../firestore.ts'
import { Google } from '../google-api.ts'
import { setUpMonitoring } from '../monitoring.ts'
import { setUpAccounts, setUpApis, setUpTrigger } from '../project.ts'
import { setUpRoles } from '../rights.ts'
import { setUpJobs } from '../scheduler.ts'
import { type FunctionName, functionNames, namesIn, readSite, type Site } from '../settings.ts'
import { setUpTables } from '../tables.ts'

export interface Client {
  google: Google
  site: Site
  /** The lines that an operator reads. */
  said: string[]
}

/** A client of the owner or of another account: it is whoever this was called for last. @param flags as `--prefix=` is `prefix` */
export function connect(
  project: Project,
  flags: Record<string, string> = {},
  { as = 'owner@example.com', dryRun = false } = {},
): Client {
  Object.assign(process.env, project.environment(as), { DEPLOY_PAUSE_MS: '1' })
  const said: string[] = []
  const google = new Google({ project: project.id, dryRun, say: line => void said.push(line) })
  return { google, site: readSite(project.id, flags), said }
}

/** `lqe deploy` in this process, as the owner: what it prints, and its exit code. */
export async function lqeDeploy(
  project: Project,
  ...args: string[]
): Promise<{ status: number; output: string }> {
  connect(project)
  const { out, err, code } = await runCommand(deployCommand(), args)
  return { status: code, output: out + err }
}

/** Those of `deploy.ts` that need no bundle, by their titles. */
export const steps: Record<string, (google: Google, site: Site) => Promise<unknown>> = {
  APIs: setUpApis,
  accounts: setUpAccounts,
  rights: setUpRoles,
  database: setUpDatabase,
  tables: setUpTables,
  jobs: setUpJobs,
  monitoring: setUpMonitoring,
  'builds of pushes': setUpTrigger,
  'expiry and backups': setUpFields,
}

export async function setUp({ google, site }: Client, titles = Object.keys(steps)): Promise<void> {
  for (const title of titles) await steps[title]!(google, site)
}

/** Gives the project's folder one endpoint: the tests of those that ship would run in every deployment. */
export function oneEndpoint({ folder }: Project): void {
  mkdirSync(join(folder, 'queries'))
  for (const file of ['queries/service.usage.sql', 'queries/service.usage.yaml'])
    copyFileSync(file, join(folder, file))
}

/** Flags of an installation that has all there is, with its repository connected, as somebody has done in a browser. */
export function allFlags({ plane, id }: Project): Record<string, string> {
  const repository = 'an-owner/a-repository'
  plane.state.resources[`projects/${id}/locations/europe-west1/github/${repository}`] = {}
  return { repository, notify: 'night@example.com' }
}

/** New revisions of both, as `gcloud functions deploy` makes them. */
export async function deployBoth({ google, site }: Client): Promise<void> {
  for (const name of functionNames) await deployOne(google, site, name)
}

async function deployOne(google: Google, site: Site, name: FunctionName): Promise<void> {
  const { email, functionName } = namesIn(site)
  const at = `cloudfunctions/v2/projects/${site.project}/locations/${site.region}/functions`
  const { uploadUrl, storageSource } = await google.ask(`${at}:generateUploadUrl`, {})
  await fetch(uploadUrl as string, { method: 'PUT', body: 'PK package.json' })
  const builder = `projects/${site.project}/serviceAccounts/${email('build')}`
  const wanted = {
    buildConfig: { runtime: 'nodejs24', serviceAccount: builder, source: { storageSource } },
    serviceConfig: { serviceAccountEmail: email(name) },
  }
  const one = `${at}/${functionName(name)}`
  if (await google.get(one)) await google.change('again', 'PATCH', `${one}?updateMask=buildConfig`, wanted)
  else await google.change('first', 'POST', `${at}?functionId=${functionName(name)}`, wanted)
}

/**
 * Runs `act` until its change number `at` has its effect: from then on nothing that the client asks gets out.
 * @throws Error where `act` makes fewer changes
 */
export async function dieBehind(
  at: number,
  project: Project,
  { google }: Client,
  act: () => Promise<unknown>,
): Promise<void> {
  let made = 0
  project.plane.watch = call => {
    if (changes(call) && ++made === at) google.accessToken = () => Promise.reject(new Error('dead'))
  }
  const end = await act().catch((error: Error) => error)
  project.plane.watch = () => {}
  if (end instanceof Error && end.message !== 'dead') throw end
  if (made < at) throw new Error(`there were ${made} changes`)
  await sleep(20) // what it had already sent arrives
}
