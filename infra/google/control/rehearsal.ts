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
import { log, type Log } from '../../../shared/log.ts'
import { makeSampleLogs } from '../../local/samples.ts'
import { startBackends, startBundle } from '../backends.ts'
import { runBuild } from './cloudbuild.ts'
import { identityToken } from './projects.ts'
import { get, type State } from './plane.ts'
import type { Service } from './run.ts'
import type { Processes, Revision } from './serving.ts'
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
  /** Runs one of the scripts of infra/deploy as the owner, who must succeed. */
  script(name: string, ...args: string[]): Promise<string>
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
  const project = await openProject({ id: backends.env['GOOGLE_CLOUD_PROJECT']!, processes })
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
    script: async (name, ...args) => {
      out(`== ${name} ${args.join(' ')}`)
      const { status, output } = await project.run(`infra/deploy/${name}`, args)
      for (const line of output.trim().split('\n')) out(`   ${line}`)
      if (status !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${String(status)}`)
      return output
    },
    callJob: name => callJob(project, name),
    stop: async () => {
      await stop()
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
      const { name } = revision.metadata
      if (!started.has(name)) started.set(name, startRevision(revision, state, env, note))
      return (await started.get(name)!).url
    },
    stop: async () => {
      for (const running of started.values()) await (await running).stop()
    },
  }
}

async function startRevision(
  { metadata, spec }: Revision,
  state: State,
  backends: Record<string, string>,
  note: Log,
) {
  const folder = mkdtempSync(join(tmpdir(), 'revision-'))
  const source = get(state, metadata.annotations['cloudfunctions.googleapis.com/source']!)
  writeFileSync(join(folder, 'source.zip'), Buffer.from(source['zip'] as string, 'base64'))
  execFileSync('unzip', ['-q', 'source.zip'], { cwd: folder })
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'))
  const own = Object.fromEntries(spec.containers[0]!.env.map(({ name, value }) => [name, value]))
  const target = metadata.name.startsWith('warm') ? 'warm' : 'query'
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
  const { url } = (get(plane.state, `projects/${id}/locations/${region}/services/warm`) as Service).status
  const to = httpTarget.uri.replace(`https://${region}-${id}.cloudfunctions.net/warm`, `${url}/`)
  const headers = { Authorization: `Bearer ${identityToken(serviceAccountEmail, audience)}` }
  return fetch(to, { method: 'POST', headers })
}

async function main(): Promise<void> {
  mkdirSync('.data', { recursive: true })
  const out = (line: string) => console.log(line)
  const rehearsal = await openRehearsal(out, () => {})
  const { project, script, build, callJob } = rehearsal
  const where = [`--project=${project.id}`, `--region=${region}`]
  const leaveOut = {
    install: 'node_modules are there',
  }
  try {
    await script('setup.sh', ...where)
    await build({ leaveOut })
    const job = Object.keys(project.plane.state.resources)
      .find(name => name.includes('/jobs/'))!
      .split('/')
      .at(-1)!
    out(`== a call of ${job} by the scheduler`)
    const called = await callJob(job)
    out(`   ${called.status} ${await called.text()}`)
    await build({ leaveOut: { ...leaveOut, build: 'nothing has changed' } })
    await script('release.sh', 'rollback', ...where)
    await script('remove.sh', ...where)
  } finally {
    await rehearsal.stop()
  }
}

if (import.meta.main) {
  await main()
  process.exit()
}
