/**
 * `npm run rehearse`: set-up, build, deployment, smoke test, a call by the scheduler, a query, a second
 * deployment, a rollback and a removal, with the real scripts, gcloud and bq, on a machine without an account. Google's
 * control plane, BigQuery and Cloud Run are stand-ins, Firestore is Google's emulator. Prints each step.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../shared/config.ts'
import { fileOf } from '../../deploy/settings.ts'
import { log, type Log } from '../../../shared/log.ts'
import { makeSampleLogs } from '../../local/samples.ts'
import { startBackends, startBundle } from '../backends.ts'
import { runBuild } from './cloudbuild.ts'
import { identityToken } from './projects.ts'
import { get, type State } from './plane.ts'
import type { Revision, Service } from './run.ts'
import type { Processes } from './serving.ts'
import { openProject, type Project } from './testing/project.ts'

export const region = 'europe-west1'

export interface Rehearsal {
  project: Project
  /** Of the local BigQuery and Firestore. */
  env: Record<string, string>
  /** All steps of cloudbuild.yaml but those that `leaveOut` gives a reason for. */
  build(options?: {
    substitutions?: Record<string, string>
    leaveOut?: Record<string, string>
  }): Promise<string[]>
  /** `npm run deploy -- ...` as the owner, who must succeed. */
  deploy(...args: string[]): Promise<string>
  /** A call as Cloud Scheduler makes it for the job. */
  callJob(name: string): Promise<Response>
  stop(): Promise<void>
}

/** Makes sample logs where there are none, and starts all stand-ins. @param out gets what scripts and builds print */
export async function openRehearsal(out: (line: string) => void, note: Log = log): Promise<Rehearsal> {
  const local = loadConfig({ ...process.env })
  await makeSampleLogs(local)
  const backends = await startBackends(local, undefined)
  const { processes, stop } = startProcesses(backends.env, note)
  const id = backends.env['GOOGLE_CLOUD_PROJECT']!
  const project = await openProject({ id, processes, backends: backends.env })
  return {
    project,
    env: backends.env,
    build: async ({ substitutions = {}, leaveOut = {} } = {}) => {
      const lines: string[] = []
      const { GOOGLE_CLOUD_PROJECT: _, BIGQUERY_DATASET: __, ...env } = backends.env
      await runBuild('cloudbuild.yaml', {
        plane: project.plane,
        project: project.id,
        folder: project.folder,
        substitutions,
        env: { ...env, SMOKE_PAUSE_MS: '50' },
        leaveOut: id => leaveOut[id] ?? null,
        out: line => {
          lines.push(line)
          out(line)
        },
      })
      return lines
    },
    deploy: async (...args) => {
      const all = ['infra/deploy/deploy.ts', ...args, `--project=${project.id}`]
      out(`== npm run deploy -- ${all.slice(1).join(' ')}`)
      const { status, output } = await project.run(process.execPath, all)
      for (const line of output.trim().split('\n')) out(`   ${line}`)
      if (status !== 0) throw new Error(`${all.join(' ')} ended with ${String(status)}`)
      return output
    },
    callJob: name => callJob(project, name),
    stop: async () => {
      await stop()
      rmSync(fileOf(project.id), { force: true })
      await project.close()
      await backends.stop()
    },
  }
}

/** A process for each revision that is asked for, from the source that was uploaded for it. */
function startProcesses(
  env: Record<string, string>,
  note: Log,
): { processes: Processes; stop(): Promise<void> } {
  const started = new Map<string, ReturnType<typeof startRevision>>()
  return {
    processes: async (revision, state) => {
      const { name } = revision
      if (!started.has(name)) started.set(name, startRevision(revision, state, env, note))
      return (await started.get(name)!).url
    },
    stop: async () => {
      for (const running of started.values()) await (await running).stop()
    },
  }
}

async function startRevision(
  { name, annotations, containers }: Revision,
  state: State,
  backends: Record<string, string>,
  note: Log,
) {
  const folder = mkdtempSync(join(tmpdir(), 'revision-'))
  const source = get(state, annotations['cloudfunctions.googleapis.com/source']!)
  writeFileSync(join(folder, 'source.zip'), Buffer.from(source['zip'] as string, 'base64'))
  execFileSync('unzip', ['-q', 'source.zip'], { cwd: folder })
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'))
  const own = Object.fromEntries(containers[0]!.env.map(({ name, value }) => [name, value]))
  const target = /services\/[a-z0-9-]*warm\//.test(name) ? 'warm' : 'query'
  // The settings refuse an emulator where K_SERVICE says that this is Cloud Run, and without K_SERVICE warm would look for
  // Google's signature: its own check of the caller is left to `functions/warm/handler.test.ts`.
  const { WARM_AUDIENCE: _, WARM_SERVICE_ACCOUNT: __, ...deployed } = own
  const { BIGQUERY_DATASET: ___, ...addresses } = backends
  const bundle = await startBundle(target, { ...deployed, ...addresses }, note, { folder })
  return {
    url: bundle.url,
    stop: async () => {
      await bundle.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** "HTTP target": the job's address with a token of its account; the function's address is where its service is. */
async function callJob({ plane, id }: Project, name: string): Promise<Response> {
  const { httpTarget } = get(plane.state, `projects/${id}/locations/${region}/jobs/${name}`) as {
    httpTarget: { uri: string; oidcToken: { serviceAccountEmail: string; audience: string } }
  }
  const { serviceAccountEmail, audience } = httpTarget.oidcToken
  const { uri } = get(plane.state, `projects/${id}/locations/${region}/services/warm`) as Service
  const to = httpTarget.uri.replace(`https://${region}-${id}.cloudfunctions.net/warm`, `${uri}/`)
  const headers = { Authorization: `Bearer ${identityToken(serviceAccountEmail, audience)}` }
  return fetch(to, { method: 'POST', headers })
}

async function main(): Promise<void> {
  mkdirSync('.data', { recursive: true })
  const out = (line: string) => console.log(line)
  const rehearsal = await openRehearsal(out, () => {})
  const { project, deploy, build, callJob } = rehearsal
  const leaveOut = {
    install: 'node_modules are there',
  }
  try {
    await deploy()
    const job = Object.keys(project.plane.state.resources)
      .find(name => name.includes('/jobs/'))!
      .split('/')
      .at(-1)!
    out(`== a call of ${job} by the scheduler`)
    const called = await callJob(job)
    out(`   ${called.status} ${await called.text()}`)
    await build({ leaveOut: { ...leaveOut, build: 'nothing has changed' } })
    await deploy('rollback')
    await deploy('remove')
  } finally {
    await rehearsal.stop()
  }
}

if (import.meta.main) {
  await main()
  process.exit()
}
