/** For tests: a project on a stand-in of Google's control plane, and scripts run in it by its owner with the real gcloud. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { clientEnvironment, type ControlPlane, newProject, startControlPlane } from '../server.ts'
import type { State } from '../plane.ts'
import type { Processes } from '../serving.ts'

export interface Project {
  id: string
  plane: ControlPlane
  /** For settings and tokens; it is removed with the project. */
  folder: string
  /** Runs a program as the owner or as another account. */
  run(program: string, args: string[], as?: string): Promise<Done>
  /** The same as the owner, killed with all that it started as the stand-in has done what `behind` says yes to. */
  runAndKill(program: string, args: string[], behind: (call: string) => boolean): Promise<Done>
  close(): Promise<void>
}

interface Done {
  /** `null` after a kill. */
  status: number | null
  output: string
}

/**
 * @param state that of a project `my-project` which has nothing yet, if it is left out
 * @param cwd of the programs
 * @param backends settings of the programs, of the local BigQuery and Firestore
 */
export async function openProject({
  id = 'my-project',
  state = newProject(id),
  processes,
  cwd,
  backends = {},
}: {
  id?: string
  state?: State
  processes?: Processes
  cwd?: string
  backends?: Record<string, string>
} = {}): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'control-'))
  const plane = await startControlPlane(state, processes)
  const start = (program: string, args: string[], as: string): ChildProcess => {
    const tokenFile = join(folder, `token-${as}`)
    writeFileSync(tokenFile, as)
    const env = {
      ...clientEnvironment(plane.address, { configFolder: join(folder, 'gcloud'), tokenFile }),
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: getCompileCacheDir(),
      HOME: folder,
      DEPLOY_PAUSE_MS: '50',
      ...backends,
    }
    // A group of its own, so that a kill reaches gcloud too.
    return spawn(program, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  return {
    id,
    plane,
    folder,
    run: (program, args, as = 'owner@example.com') => finished(start(program, args, as)),
    runAndKill: (program, args, behind) => {
      const child = start(program, args, 'owner@example.com')
      plane.watch = call => {
        if (behind(call) && child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
      }
      return finished(child).finally(() => (plane.watch = () => {}))
    },
    close: async () => {
      await plane.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function finished(child: ChildProcess): Promise<Done> {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const status = await new Promise<number | null>(resolve => child.on('close', resolve))
  return { status, output }
}

/** Whether a call of the stand-in changed something. */
export function changes(call: string): boolean {
  return / (POST|PUT|PATCH|DELETE) \S+ 200$/.test(call) && !/:getIamPolicy /.test(call)
}

/** What a script may have changed: all but the operations, whose names differ from run to run. */
export function lasting({ projects, policies, resources }: State): Omit<State, 'operations' | 'refused'> {
  return structuredClone({ projects, policies, resources })
}
