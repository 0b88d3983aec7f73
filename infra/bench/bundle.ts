import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { bundling } from '../deploy/build.ts'

/** Bundles one file of ours as `npm run build` bundles the functions. */
export async function bundle(entry: string, outfile: string): Promise<void> {
  const external = ['@google-cloud/functions-framework']
  await build({ ...bundling, entryPoints: [entry], outfile, external })
}

/** A folder in which a bundle finds this repository's packages. */
export function folderForBundles(folder: string): string {
  mkdirSync(folder, { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}
