/** Files that are seen whole or not at all, whatever ends the process that writes them. */
import { randomUUID } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Makes a file, in place of one of before. What is written stands beside it until it is whole, under a name of its own: two
 * engines of one process may make the same file at once.
 * @param write fills the file of that name
 * @throws what `write` or the file system throws; nothing is left beside then, and the file of before is as it was
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
