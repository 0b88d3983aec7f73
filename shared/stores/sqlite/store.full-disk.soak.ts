/** A disk without space, for real: a small file system in memory, where this machine lets a process mount one. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'

function onSmallDisk(command: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
  const mounting = `mount -t tmpfs -o size=2m none "$0" && exec ${command} "$0"`
  try {
    return execFileSync('sh', ['-c', 'unshare -rm sh -c "$1" "$0"', folder, mounting], {
      encoding: 'utf8',
      timeout: 60_000,
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function mayMount(): boolean {
  try {
    onSmallDisk('ls')
    return true
  } catch {
    process.stderr.write('SKIPPED: a full disk: this machine lets no process mount one\n')
    return false
  }
}

describe('a full disk', () => {
  const possible = mayMount() ? test : test.skip
  possible(
    'costs no answer, and what was stored before is served; once emptied, answers are stored again',
    () => {
      const program = join(import.meta.dirname, 'testing/process.ts')
      const counts = JSON.parse(onSmallDisk(`"${process.execPath}" "${program}"`)) as unknown
      process.stdout.write(`${JSON.stringify(counts)}\n`)
      expect(counts).toMatchObject({ storedBefore: 5, servedFull: 100, hitsFull: 100, storedAfter: 10 })
      expect(counts).toHaveProperty('storedFull', 0)
    },
  )
})
