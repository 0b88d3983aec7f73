/**
 * `npm run build`: what is deployed, in `dist/`. One CommonJS bundle with a package.json of its own, because Google's
 * buildpack would put all of node_modules/.bin of this repository on PATH. SDKs are loaded from it when first used.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { buildExplorer } from './build-explorer.ts'

const framework = '@google-cloud/functions-framework'

/** The adapters of a laptop have no place in the cloud: a bundle that asks for one gets an error that says so. */
const withoutLocal: Plugin = {
  name: 'without-local-adapters',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/(engines\/duckdb\/|stores\/sqlite\.ts)/ }, ({ path }) => ({
      path,
      namespace: 'local',
    }))
    onLoad({ filter: /.*/, namespace: 'local' }, () => ({
      contents: "throw new Error('this build has no local engine and no local store')",
    }))
  },
}

/**
 * Bundles the functions.
 * @param local whether the laptop's adapters are in it too, as the benchmark needs them
 * @returns bytes of the bundle
 */
export async function buildFunctions(folder: string, { local }: { local: boolean }): Promise<number> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, 'index.js')
  await build({
    entryPoints: ['functions/index.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    external: [framework, ...(local ? ['@duckdb/node-api'] : [])],
    plugins: local ? [] : [withoutLocal],
    logLevel: 'warning',
  })
  const { version, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    version: string
    engines: Record<string, string>
    dependencies: Record<string, string>
  }
  const own = { name: 'log-query-endpoints', version, private: true, main: 'index.js', engines }
  const deployed = { ...own, dependencies: { [framework]: dependencies[framework] } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(deployed, null, 2)}\n`)
  return statSync(outfile).size
}

if (import.meta.main) {
  const bytes = await buildFunctions('dist', { local: false })
  console.log(`dist/index.js: ${(bytes / 1024).toFixed(0)} KB`)
  const page = await buildExplorer('dist/explorer')
  console.log(`dist/explorer: ${(page / 1024).toFixed(0)} KB gzipped`)
}
