/**
 * Where a build's steps run: a root with the packages of the step's image and no others, made by debootstrap once and kept. What
 * a laptop has by chance (git, a compiler, another Node) is not there.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { sdkRoot } from '../sdk-root.ts'

/** Of Google's image for gcloud, `slim` (github.com/GoogleCloudPlatform/cloud-sdk-docker), without what it serves people with. */
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
export interface Image {
  folders: string[]
  path: string[]
}

/** By the name of the image. @param node folder of the Node that the repository installs */
export function imagesOf(node: string): Record<string, Image> {
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())
  const sdk = sdkRoot() ?? ''
  return {
    'node:24': { folders: [node, dirname(dirname(npm))], path: [join(node, 'bin')] },
    'gcr.io/google.com/cloudsdktool/google-cloud-cli:slim': { folders: [sdk], path: [join(sdk, 'bin')] },
  }
}

/** The command that runs another one inside. @param folders that it reads and writes; one that is not there is left out */
export function enter(
  root: string,
  image: Image,
  folders: string[],
  cwd: string,
  command: string[],
): string[] {
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
