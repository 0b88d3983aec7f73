/** For tests: a project on a stand-in of Google's control plane, and programs run in it by its owner with the real gcloud. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { State } from '../plane.ts'
import { overrides, startControlPlane } from '../server.ts'
import type { Processes } from '../serving.ts'

export type Project = Awaited<ReturnType<typeof openProject>>

/** @param state that of a project `my-project` which has nothing yet, if it is left out */
export async function openProject({
  id = 'my-project',
  state = new State(id),
  processes,
}: { id?: string; state?: State; processes?: Processes } = {}) {
  /** For settings and tokens; it is removed with the project. */
  const folder = mkdtempSync(join(tmpdir(), 'control-'))
  const plane = await startControlPlane(state, processes)
  /** With which programs call the stand-in as that account. */
  const environment = (as: string): Record<string, string> => {
    const tokenFile = join(folder, `token-${as}`)
    writeFileSync(tokenFile, as)
    return {
      ...overrides(plane.address),
      CLOUDSDK_CONFIG: join(folder, 'gcloud'),
      CLOUDSDK_AUTH_ACCESS_TOKEN_FILE: tokenFile,
      CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
      CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: '1',
      DEPLOY_PAUSE_MS: '50',
    }
  }
  /** Runs a program as the owner or as another account. @param cwd by default where this process is */
  const run = async (
    program: string,
    args: string[],
    as = 'owner@example.com',
    cwd?: string,
    env?: Record<string, string>,
  ): Promise<{ status: number | null; output: string }> => {
    const own = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: getCompileCacheDir(), HOME: folder }
    const child = spawn(program, args, { env: { ...environment(as), ...own, ...env }, cwd })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stdin.end()
    const status = await new Promise<number | null>(resolve => child.on('close', resolve))
    return { status, output }
  }
  const close = async () => {
    await plane.stop()
    rmSync(folder, { recursive: true })
  }
  return { id, plane, folder, environment, run, close }
}

/** Whether a call of the stand-in changed something. */
export function changes(call: string): boolean {
  const asks = /:(getIamPolicy|testIamPermissions|getEffectiveOrgPolicy|generateIdToken) /
  return / (POST|PUT|PATCH|DELETE) \S+ 200$/.test(call) && !asks.test(call)
}

/** What a script may have changed: all but the operations, whose names differ from run to run. */
export function lasting({
  projects,
  policies,
  resources,
}: State): Pick<State, 'projects' | 'policies' | 'resources'> {
  return structuredClone({ projects, policies, resources })
}
