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
  /** With which programs call the stand-in as that account. */
  environment(as: string): Record<string, string | undefined>
  /** Runs a program as the owner or as another account. @param cwd by default where this process is */
  run(program: string, args: string[], as?: string, cwd?: string): Promise<Done>
  close(): Promise<void>
}

interface Done {
  status: number | null
  output: string
}

/**
 * @param state that of a project `my-project` which has nothing yet, if it is left out
 * @param backends settings of the programs, of the local BigQuery and Firestore
 */
export async function openProject({
  id = 'my-project',
  state = newProject(id),
  processes,
  backends = {},
}: {
  id?: string
  state?: State
  processes?: Processes
  backends?: Record<string, string>
} = {}): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'control-'))
  const plane = await startControlPlane(state, processes)
  const environment = (as: string) => {
    const tokenFile = join(folder, `token-${as}`)
    writeFileSync(tokenFile, as)
    return {
      ...clientEnvironment(plane.address, { configFolder: join(folder, 'gcloud'), tokenFile }),
      DEPLOY_PAUSE_MS: '50',
    }
  }
  return {
    id,
    plane,
    folder,
    environment,
    run: (program, args, as = 'owner@example.com', cwd) => {
      const env = {
        ...environment(as),
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: getCompileCacheDir(),
        HOME: folder,
        ...backends,
      }
      return finished(spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] }))
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
  return (
    / (POST|PUT|PATCH|DELETE) \S+ 200$/.test(call) &&
    !/:(getIamPolicy|testIamPermissions|getEffectiveOrgPolicy|generateIdToken) /.test(call)
  )
}

/** What a script may have changed: all but the operations, whose names differ from run to run. */
export function lasting({ projects, policies, resources }: State): Omit<State, 'operations' | 'refused'> {
  return structuredClone({ projects, policies, resources })
}
