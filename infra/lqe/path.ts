import { isAbsolute, join } from 'node:path'

/**
 * A path as it was typed, from the folder in which it was typed: npm goes to the folder of package.json, and leaves the
 * other one in INIT_CWD. `-` is no path.
 */
export function typedPath(path: string): string {
  const { INIT_CWD: here = process.cwd() } = process.env
  return path === '-' || isAbsolute(path) || here === process.cwd() ? path : join(here, path)
}
