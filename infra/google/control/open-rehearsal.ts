/** What a rehearsal takes place in: stand-ins with a project that has nothing, and programs run in it by its owner and its build. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
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
import { isPermitted } from './access.ts'
import { State } from './plane.ts'
import type { Revision, Service } from './functions.ts'
import { type Processes, startRevision } from './serving.ts'
import { openProject, type Project } from './testing/project.ts'

export const region = 'europe-west1'

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

/** The files that `gcloud builds submit` takes along, with their packages in a folder of their own, and the root for its steps. */
function copyUploadSet(out: Options['out']): { cwd: string; bareRoot?: string } {
  const cwd = mkdtempSync(join(tmpdir(), 'upload-'))
  const find = 'files=$(gcloud meta list-files-for-upload .)'
  execFileSync('sh', ['-c', `${find} && echo "$files" | tar -c -T - | tar -x -C "$0"`, cwd])
  const bare = makeBareRoot()
  if ('missing' in bare) out(`steps of the build run without a bare root: ${bare.missing}`)
  execFileSync('npm', ['ci', '--prefer-offline'], { cwd, stdio: 'ignore' })
  return { cwd, ...('root' in bare ? { bareRoot: bare.root } : {}) }
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
  const state = new State(id!)
  google = state
  const behind: Behind = { env, bigQuery: backends.bigQuery, state, project: id! }
  const place = folder ? { cwd: folder } : copyUploadSet(out)
  const { cwd } = place
  const { processes, stop } = startProcesses(behind, note)
  const ofOwner = await openGates('owner@example.com', behind)
  const ofBuild = await openGates(`lqe-build@${id}.iam.gserviceaccount.com`, behind)
  const project = await openProject({ id: id!, state, processes })
  if (mutate) project.plane.watch = () => mutate(state)
  const own = { ...ofOwner.env, GOOGLE_CLOUD_PROJECT: id!, BIGQUERY_DATASET: 'logs' }
  const run = (...args: string[]) => runAsOwner(project, args, { cwd, env: own, out })
  let key = ''
  return {
    project,
    /** Settings with which the owner's programs reach the stand-ins. */
    reach: ofOwner.env,
    /** cloudbuild.yaml, as the build's account. Throws Error where it fails. */
    build: () => {
      const done = folder ? ['install'] : []
      return runBuild(project, { ...place, done, env: { ...ofBuild.env, ...registry() }, out })
    },
    /** `lqe deploy ...` */
    deploy: async (...args: string[]) => {
      const output = await run(program, 'deploy', ...args, `--project=${id}`)
      key ||= /lqe_\w{20,}/.exec(output)?.[0] ?? ''
      return output
    },
    lqe: (...args: string[]) => run(program, ...args),
    /** A call, by default with the key of the first deployment. */
    ask: (path: string, own = key) => {
      const { uri } = state.get(`projects/${id}/locations/${region}/services/query`) as Service
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

/** @throws Error where it fails */
async function runAsOwner(
  project: Project,
  args: string[],
  { cwd, env, out }: { cwd: string; env: Record<string, string>; out: Options['out'] },
): Promise<string> {
  out(`== ${args.join(' ')}`)
  const { status, output } = await project.run(process.execPath, args, 'owner@example.com', cwd, env)
  for (const line of output.trim().split('\n')) out(`   ${line}`)
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${String(status)}:\n${output.slice(-1500)}`)
  return output
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
