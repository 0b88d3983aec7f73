/**
 * Imported by a program on this machine, which then ends when the process that started it has gone, also where that one was
 * killed. npm starts a script by a shell that outlives npm, so the shell's own parent counts too.
 */
import { execFileSync } from 'node:child_process'

const parent = process.ppid
const npm = process.env['npm_lifecycle_event'] === undefined ? null : parentOf(parent)

setInterval(() => {
  if (process.ppid !== parent || (npm !== null && !runs(npm))) process.kill(process.pid, 'SIGTERM')
}, 1_000).unref()

/** `null` where the system has no `ps`. */
function parentOf(pid: number): number | null {
  try {
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { stdio: 'pipe' }))
  } catch {
    return null
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
