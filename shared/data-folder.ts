/** The data folder is its owner's alone: it holds logs, answers and a key in clear. */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What is ours in it: DATA_DIR may be a folder that holds other things, too. */
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

/** Writes what is none of the data, such as files of queries/, as other programs of the user do. */
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

/** Leaves what is shared by its nature, as /tmp, and what is not ours to change. @returns the names in a folder */
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
