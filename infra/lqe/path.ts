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
