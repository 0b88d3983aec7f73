/** Where gcloud is installed, with the emulators and the descriptions of the APIs that it brings. */
import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

let root: string | null | undefined

/** `null` = nowhere. */
export function sdkRoot(): string | null {
  root = root === undefined ? find() : root
  return root
}

function find(): string | null {
  const gcloud = printedBy('sh', '-c', 'command -v gcloud')
  if (!gcloud) return null
  const beside = join(realpathSync(gcloud), '../..')
  // A wrapper stands elsewhere. `gcloud info` takes most of a second, in each test file.
  return existsSync(join(beside, 'lib/googlecloudsdk'))
    ? beside
    : printedBy('gcloud', 'info', '--format=value(installation.sdk_root)')
}

/** `null` where it fails or is not there. */
export function printedBy(program: string, ...args: string[]): string | null {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}
