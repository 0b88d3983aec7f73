/**
 * `npm run rehearse`: all that an operator does, from the files that gcloud would upload, as the accounts that would do it: a first
 * deployment, rows through endpoints, the scheduler's call, a push, another region, a restore, a rollback and a removal. Google's
 * control plane, BigQuery and Cloud Run are stand-ins, Firestore is Google's emulator behind a gate that asks for rights, and
 * gcloud deploys the functions. Prints each part with its time.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Firestore } from '@google-cloud/firestore'
import { loadConfig } from '../../../shared/config.ts'
import { type Log } from '../../../shared/log.ts'
import { startBackends } from '../backends.ts'
import { makeBareRoot } from './cloudbuild.ts'
import { columnsOfTable } from './bigquery.ts'
import { runBuild } from './cloudbuild.ts'
import { type Behind, openGates } from './gates.ts'
import { get, list, type State } from './plane.ts'
import { identityToken, isPermitted } from './access.ts'
import type { Revision, Service } from './functions.ts'
import { newProject } from './server.ts'
import { type Processes, startRevision } from './serving.ts'
import { openProject, type Project } from './testing/project.ts'

const region = 'europe-west1'

interface Options {
  /** Gets what is printed. */
  out: (line: string) => void
  /** Gets the services' lines. */
  note?: Log
  /** Of the repository: by default a copy of what gcloud would upload, with packages installed as a step of the build does. */
  folder?: string
  /** That is run for `lqe`, from the folder. */
  program?: string
  /** Takes something of what was set up away, after each change: a mutant. */
  mutate?: (state: State) => void
}

/** The files that `gcloud builds submit` takes along, in a folder of their own. */
function copyUploadSet(): string {
  const folder = mkdtempSync(join(tmpdir(), 'upload-'))
  const find = 'files=$(gcloud meta list-files-for-upload .)'
  execFileSync('sh', ['-c', `${find} && echo "$files" | tar -c -T - | tar -x -C "$0"`, folder])
  return folder
}

export type Rehearsal = Awaited<ReturnType<typeof openRehearsal>>

const source = 'infra/lqe.ts'

export async function openRehearsal({ out, note = () => {}, folder, program = source, mutate }: Options) {
  // Its tables are empty, as Google's are.
  const dataDir = mkdtempSync(join(tmpdir(), 'rehearsal-'))
  let google: State | null = null
  const backends = await startBackends(loadConfig({ ...process.env, DATA_DIR: dataDir }), {
    permits: (...asked) => google !== null && isPermitted(google, ...asked),
    made: real => google && columnsOfTable(google, real),
  })
  const { GOOGLE_CLOUD_PROJECT: id, BIGQUERY_DATASET: _, ...env } = backends.env
  const state = newProject(id!)
  google = state
  const behind: Behind = { env, bigQuery: backends.bigQuery, state, project: id! }
  const cwd = folder ?? copyUploadSet()
  const bare = folder ? { missing: 'the folder is not the upload set' } : makeBareRoot()
  if (!folder && 'missing' in bare) out(`steps of the build run without a bare root: ${bare.missing}`)
  if (!folder) execFileSync('npm', ['ci', '--prefer-offline'], { cwd, stdio: 'ignore' })
  const { processes, stop } = startProcesses(behind, note)
  const ofOwner = await openGates('owner@example.com', behind)
  const ofBuild = await openGates(`lqe-build@${id}.iam.gserviceaccount.com`, behind)
  const project = await openProject({ id: id!, state, processes })
  if (mutate) project.plane.watch = () => mutate(state)
  /** As the owner. Throws Error where it fails. */
  const run = async (...args: string[]) => {
    out(`== ${args.join(' ')}`)
    const own = { ...ofOwner.env, GOOGLE_CLOUD_PROJECT: id!, BIGQUERY_DATASET: 'logs' }
    const { status, output } = await project.run(process.execPath, args, 'owner@example.com', cwd, own)
    for (const line of output.trim().split('\n')) out(`   ${line}`)
    if (status !== 0)
      throw new Error(`${args.join(' ')} ended with ${String(status)}:\n${output.slice(-1500)}`)
    return output
  }
  let key = ''
  return {
    project,
    /** Settings with which the owner's programs reach the stand-ins. */
    reach: ofOwner.env,
    /** cloudbuild.yaml, as the build's account. Throws Error where it fails. */
    build: () =>
      runBuild(project, {
        cwd,
        ...('root' in bare ? { bareRoot: bare.root } : {}),
        done: folder ? ['install'] : [],
        env: { ...ofBuild.env, ...registry() },
        out,
      }),
    /** `lqe deploy ...` */
    deploy: async (...args: string[]) => {
      const output = await run(program, 'deploy', ...args, `--project=${id}`)
      key ||= /lqe_\w{20,}/.exec(output)?.[0] ?? ''
      return output
    },
    lqe: (...args: string[]) => run(program, ...args),
    /** A call, by default with the key of the first deployment. */
    ask: (path: string, own = key) => {
      const { uri } = get(state, `projects/${id}/locations/${region}/services/query`) as Service
      return fetch(`${uri}${path}`, { headers: { 'X-API-KEY': own } })
    },
    /** Past the gates. */
    documents: (databaseId = '(default)') => {
      process.env['FIRESTORE_EMULATOR_HOST'] = env['FIRESTORE_EMULATOR_HOST']
      return new Firestore({ projectId: id!, databaseId })
    },
    stop: async () => {
      await stop()
      ofOwner.close()
      ofBuild.close()
      await project.close()
      await backends.stop()
      rmSync(dataDir, { recursive: true })
      rmSync(folder ? join(folder, `infra/deploy/projects/${id}.yaml`) : cwd, {
        recursive: true,
        force: true,
      })
    },
  }
}

/** How this machine reaches npm's registry. */
export function registry(): Record<string, string> {
  const { HOME = '', NODE_EXTRA_CA_CERTS } = process.env
  return {
    npm_config_userconfig: join(HOME, '.npmrc'),
    npm_config_cache: join(HOME, '.npm'),
    npm_config_prefer_offline: 'true',
    ...(NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS } : {}),
  }
}

/** A process for each revision that is asked for, as the account of its service. */
function startProcesses(behind: Behind, note: Log): { processes: Processes; stop(): Promise<void> } {
  const started = new Map<string, ReturnType<typeof startRevision>>()
  const start = async (revision: Revision) => {
    const gates = await openGates(revision.serviceAccount, behind)
    const { FIRESTORE_EMULATOR_HOST, BIGQUERY_EMULATOR_HOST, GCE_METADATA_HOST } = gates.env
    const env = {
      K_SERVICE: revision.name.split('/').at(-3)!,
      GCE_METADATA_HOST,
      METADATA_SERVER_DETECTION: 'assume-present',
      NODE_OPTIONS: `--import=${new URL('on-cloud-run.ts', import.meta.url).href}`,
      REHEARSAL_BACKENDS: JSON.stringify({ FIRESTORE_EMULATOR_HOST, BIGQUERY_EMULATOR_HOST }),
    }
    const { url, stop } = await startRevision(revision, behind.state, env, note).catch((error: unknown) => {
      gates.close()
      throw error
    })
    return { url, stop: () => stop().then(gates.close) }
  }
  return {
    processes: async revision => {
      const { name } = revision
      if (!started.has(name)) started.set(name, start(revision))
      return (await started.get(name)!).url
    },
    stop: async () => {
      for (const running of started.values()) await (await running.catch(() => null))?.stop()
    },
  }
}

/** "HTTP target": the job's address with a token of its account; the function's address is where its service is. */
async function callJob({ plane: { state }, id }: Project, name: string): Promise<Response> {
  const { httpTarget } = get(state, name) as {
    httpTarget: { uri: string; oidcToken: Record<'serviceAccountEmail' | 'audience', string> }
  }
  const { serviceAccountEmail, audience } = httpTarget.oidcToken
  const { uri } = get(state, `projects/${id}/locations/${region}/services/warm`) as Service
  const to = httpTarget.uri.replace(`https://${region}-${id}.cloudfunctions.net/warm`, `${uri}/`)
  const headers = { Authorization: `Bearer ${identityToken(serviceAccountEmail, audience)}` }
  return fetch(to, { method: 'POST', headers })
}

// ---- the parts

export type Part = readonly [title: string, act: (rehearsal: Rehearsal) => Promise<void>]

/** Those that stand or fall with what set-up has made. */
export const partsOfSetUp: Part[] = [
  ['a first deployment', async ({ deploy }) => void (await deploy('--sample'))],
  ['endpoints read rows', readRows],
  ['the scheduler refreshes an answer', refresh],
  ['what is kept expires, and is backed up', keep],
  ['requests are routed', route],
  ['a push', push],
]

export const parts: Part[] = [
  ...partsOfSetUp,
  ['again it is nothing', again],
  ['a second installation', second],
  ['another region', ({ deploy }) => deploy('push', '--region=europe-west4').then(() => {})],
  ['a restore', restore],
  ['a rollback', async ({ deploy }) => void (await deploy('rollback'))],
  ['a removal', async ({ deploy }) => void (await deploy('remove'))],
]

/** It puts back what was changed by hand. */
async function push({ build, project: { plane, id } }: Rehearsal): Promise<void> {
  const jobs = () => list(plane.state, `projects/${id}/locations/${region}/jobs`)
  for (const job of jobs()) job['schedule'] = '0 0 1 1 *'
  await build()
  must(!jobs().some(job => job['schedule'] === '0 0 1 1 *'), 'a job keeps what was changed by hand')
}

/** Beside the first one, with tables, documents and functions of its own. */
async function second({ deploy, project: { plane, id } }: Rehearsal): Promise<void> {
  const names = () => Object.keys(plane.state.resources).filter(name => name.includes('staging'))
  const output = await deploy('--prefix=staging', '--sample')
  must(output.includes('The page:'), 'it does not end with its page')
  const datasets = `projects/${id}/datasets`
  must(plane.state.resources[`${datasets}/staging_logs`] !== undefined, `no dataset of it: ${names().join()}`)
  await deploy('remove', '--prefix=staging')
  must(!names().some(name => /services|functions|jobs/.test(name)), `left of it: ${names().join()}`)
}

function must(is: boolean, otherwise: string): void {
  if (!is) throw new Error(otherwise)
}

async function again({ deploy }: Rehearsal): Promise<void> {
  const output = await deploy('--dry-run')
  const changed = output.split('\n').filter(line => /: (made|changed|expiry)|rights on|enabled/.test(line))
  must(changed.length === 0, `a second deployment would change: ${changed.join('; ')}`)
}

/** By an endpoint's own query, by a caller's, and over a roll-up. */
async function readRows({ ask }: Rehearsal): Promise<void> {
  const daily = 'usage.api-counts?interval=daily&project=%5Ehttps%3A%2F%2Fbzpsqoiujwhenktxgdfr%5C.'
  for (const call of ['logs.all?project=bzpsqoiujwhenktxgdfr', daily]) {
    const response = await ask(`/api/endpoints/query/${call}`)
    const text = await response.text()
    must(response.status === 200, `${call} answered ${response.status}: ${text.slice(0, 300)}`)
    const { result } = JSON.parse(text) as { result: unknown[] }
    must(result.length > 0, `${call} has no rows`)
  }
}

/** One in use, and old. */
async function refresh({ ask, documents, project }: Rehearsal): Promise<void> {
  await ask('/api/endpoints/query/usage.api-counts?interval=hourly&project=bzpsqoiujwhenktxgdfr')
  const firestore = documents()
  const { docs } = await firestore.collection('answers').get()
  must(docs.length > 0, 'no answer was stored')
  for (const document of docs)
    await document.ref.update({ uses: 3, 'stored.madeAt': Date.now() - 600_000, usedAt: Date.now() })
  await firestore.terminate()
  const jobs = list(project.plane.state, `projects/${project.id}/locations/${region}/jobs`)
  must(jobs.length > 0, 'there is no job of the scheduler')
  for (const job of jobs) {
    const response = await callJob(project, String(job['name']))
    const text = await response.text()
    const is = response.status === 200 && /"refreshed":[1-9]/.test(text)
    must(is, `the scheduler's call: ${response.status} ${text}`)
  }
}

/** By what documents have, not by what set-up was told. */
async function keep({ documents, lqe, ask, project: { plane, id } }: Rehearsal): Promise<void> {
  // A budget, and an answer of several documents.
  const made = await lqe('key', 'create', '--name=budget', '--all', '--expires=1d', '--bytes-per-day=1GB')
  const hash = (n: number) => `TO_HEX(SHA512(CONCAT(CAST(n AS STRING), '${n}'))) AS x${n}`
  const columns = Array.from({ length: 24 }, (_, n) => hash(n))
  const large = `SELECT ${columns.join()} FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n`
  const project = 'bzpsqoiujwhenktxgdfr'
  const call = `usage.api-counts?interval=hourly&project=${project}&sql=${encodeURIComponent(large)}`
  const key = /lqe_\w{20,}/.exec(made)?.[0]
  for (const asked of [call, `logs.all?project=${project}`]) {
    const { status } = await ask(`/api/endpoints/query/${asked}`, key)
    must(status === 200, `${asked.split('?')[0]!} with a budget: ${status}`)
  }
  const firestore = documents()
  const collections = await firestore.listCollections()
  const kept = collections.map(collection => collection.id)
  for (const group of ['answerChunks', 'spending', 'warming'])
    must(kept.includes(group), `there is no document of ${group} that could expire`)
  const database = `projects/${id}/databases/(default)`
  for (const collection of collections) {
    const [document] = (await collection.limit(1).get()).docs
    const expires = document?.get('expireAt') !== undefined
    const field = plane.state.resources[`${database}/collectionGroups/${collection.id}/fields/expireAt`]
    must(!expires || field?.['ttlConfig'] !== undefined, `documents of ${collection.id} never expire`)
  }
  await firestore.terminate()
  const { pointInTimeRecoveryEnablement: recovery } = get(plane.state, database)
  must(recovery === 'POINT_IN_TIME_RECOVERY_ENABLED', 'there is no point-in-time recovery')
  must(list(plane.state, `${database}/backupSchedules`).length > 0, 'there is no backup schedule')
}

/** Cloud Logging writes as the sink's own account. */
async function route({ project: { plane, id } }: Rehearsal): Promise<void> {
  const sink = get(plane.state, `projects/${id}/sinks/lqe-requests`) as Record<string, string>
  const { destination = '', writerIdentity = '', filter = '' } = sink
  const dataset = destination.replace('bigquery.googleapis.com/', '')
  const writer = writerIdentity.replace('serviceAccount:', '')
  must(
    isPermitted(plane.state, writer, 'bigquery.tables.updateData', dataset),
    `${writerIdentity} of the sink lacks bigquery.tables.updateData on ${dataset}`,
  )
  must(/service_name="query"/.test(filter), `the sink routes other lines: ${filter}`)
}

/** Into another database, to which the service is then pointed: its keys and definitions are those of before. */
async function restore({ deploy, documents, project: { plane, id }, ask }: Rehearsal): Promise<void> {
  const database = `projects/${id}/databases/(default)`
  const backup = `projects/${id}/locations/eur3/backups/b1`
  plane.state.resources[backup] = { name: backup, database, snapshotTime: new Date().toISOString() }
  await deploy('restore', '--into=restored')
  const [from, to] = [documents(), documents('restored')]
  for (const collection of await from.listCollections())
    for (const { ref } of (await collection.get()).docs) await to.doc(ref.path).set((await ref.get()).data()!)
  await Promise.all([from.terminate(), to.terminate()])
  await deploy('--database=restored')
  await readRows({ ask } as Rehearsal)
}

/** @throws Error of the first part that fails, with what was refused on the way */
export async function rehearse(
  rehearsal: Rehearsal,
  all: Part[],
  out: (line: string) => void,
): Promise<void> {
  for (const [title, act] of all) {
    const start = Date.now()
    out(`==== ${title}`)
    const { state } = rehearsal.project.plane
    state.refused.length = 0
    try {
      await act(rehearsal)
    } catch (error) {
      const refused = [...new Set(state.refused)].join('; ')
      throw new Error(`${title}: ${(error as Error).message}\nRefused: ${refused}`, { cause: error })
    }
    out(`==== ${title}: ${((Date.now() - start) / 1000).toFixed(1)} s`)
  }
}

if (import.meta.main) {
  mkdirSync('.data', { recursive: true })
  const out = (line: string) => console.log(line)
  const rehearsal = await openRehearsal({ out })
  try {
    await rehearse(rehearsal, parts, out)
  } finally {
    await rehearsal.stop()
  }
  process.exit()
}
