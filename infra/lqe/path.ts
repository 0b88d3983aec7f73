/** Paths as they are typed, and files as they are read. */
import { isUtf8 } from 'node:buffer'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** The folder in which a command was typed: npm goes to the folder of package.json, and leaves this one in INIT_CWD. */
export function typedIn(): string {
  return process.env['INIT_CWD'] ?? process.cwd()
}

/** A path as it was typed, from the folder in which it was typed. `-` is no path. */
export function typedPath(path: string): string {
  const here = typedIn()
  return path === '-' || isAbsolute(path) || here === process.cwd() ? path : join(here, path)
}

/**
 * What keeps a file from being read; `null` for nothing, and for standard input (`-`).
 * @param instead what to do about a pipe, which without a writer would never open, nor heed a signal
 */
export function faultOf(path: string, instead: string): string | null {
  if (path === '-') return null
  try {
    accessSync(path, constants.R_OK)
    const stats = statSync(path)
    if (stats.isDirectory()) return 'cannot be read (EISDIR)'
    return stats.isFile() ? null : `is no regular file: ${instead}`
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
}

/** The text of a file or of standard input, or what keeps it from being read, as `faultOf` has it. */
export function readText(path: string, instead: string): { text: string } | { fault: string } {
  const fault = faultOf(path, instead)
  if (fault !== null) return { fault }
  const bytes = readFileSync(path === '-' ? 0 : path)
  if (!isUtf8(bytes) || bytes.includes(0)) return { fault: 'is not in UTF-8: save it in that encoding' }
  return { text: bytes.toString().replace(/^\uFEFF/, '') }
}
