/**
 * The data folder is its owner's alone, as it holds logs, answers and a key in clear; and files that are seen whole or not
 * at all, whatever ends the process that writes them.
 */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** The service's own entries: DATA_DIR may be a folder that holds other things, too. */
const own = [
  'logs',
  'explorer',
  'local-key',
  'token-key',
  'store.sqlite',
  'store.sqlite-wal',
  'store.sqlite-shm',
]

let usersMask: number | undefined

/**
 * Makes the folder, and takes it and what is in it from other users. From then on what this process makes is its user's
 * alone, DuckDB's and SQLite's files too.
 */
export function openDataFolder(folder: string): void {
  usersMask ??= process.umask(0o077)
  mkdirSync(folder, { recursive: true })
  makePrivate(folder)
  for (const name of own) makeAllPrivate(join(folder, name))
}

/** Writes files that are not data, such as those of queries/, with the user's default permissions. */
export function asUsual<T>(write: () => T): T {
  if (usersMask === undefined) return write()
  process.umask(usersMask)
  try {
    return write()
  } finally {
    process.umask(0o077)
  }
}

function makeAllPrivate(path: string): void {
  for (const name of makePrivate(path)) makeAllPrivate(join(path, name))
}

/** Skips folders with the sticky bit such as /tmp, links, and what is not ours to change. @returns the names in a folder */
function makePrivate(path: string): string[] {
  try {
    const stats = lstatSync(path)
    if (stats.isSymbolicLink()) return []
    if ((stats.mode & 0o77) > 0 && (stats.mode & 0o1000) === 0) chmodSync(path, stats.mode & 0o7700)
    return stats.isDirectory() ? readdirSync(path) : []
  } catch {
    return []
  }
}

/** The key pair that `lqe token` signs with, as a JWK. */
export function localKeyFile(folder: string): string {
  return join(folder, 'token-key')
}

/** Its id, which a token names. */
export const localKeyId = 'lqe-token'

/** Where the service over this folder listens, for `lqe status`. */
export function portFile(folder: string): string {
  return join(folder, 'port')
}

/**
 * Creates or replaces a file. What is written stands beside it until it is whole, under a name of its own: two
 * engines of one process may make the same file at once.
 * @param write fills the file of that name
 * @throws what `write` or the file system throws; the temporary file is removed, and an existing file is unchanged
 */
export async function writeWhole(file: string, write: (beside: string) => unknown): Promise<void> {
  const beside = `${file}.${randomUUID()}.tmp`
  try {
    await write(beside)
    renameSync(beside, file)
  } finally {
    rmSync(beside, { force: true })
  }
}

/**
 * Makes new files, all of them or none, and never in place of one that is there.
 * @param files their texts, by path
 * @returns the path of one that is there; `null` where all were made
 */
export function createWhole(files: ReadonlyMap<string, string>): string | null {
  const besides = [...files].map(([file, text]) => ({ file, text, beside: `${file}.${randomUUID()}.tmp` }))
  const made: string[] = []
  try {
    for (const { beside, text } of besides) writeFileSync(beside, text, { flag: 'wx' })
    for (const { beside, file } of besides) {
      linkSync(beside, file)
      made.push(file)
    }
    return null
  } catch (error) {
    for (const file of made) rmSync(file)
    const { code, dest } = error as NodeJS.ErrnoException & { dest?: string }
    if (code !== 'EEXIST' || dest === undefined) throw error
    return dest
  } finally {
    for (const { beside } of besides) rmSync(beside, { force: true })
  }
}
