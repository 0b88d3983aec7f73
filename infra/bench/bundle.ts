import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

/** Bundles one file of ours as `npm run build` bundles the functions. */
export async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    external: ['@google-cloud/functions-framework'],
    logLevel: 'warning',
  })
}

/** A folder in which a bundle finds this repository's packages. */
export function folderForBundles(folder: string): string {
  mkdirSync(folder, { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}
