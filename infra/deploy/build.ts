/**
 * `npm run build`: what is deployed, in `dist/`. One CommonJS bundle with a package.json of its own, because Google's
 * buildpack would put all of node_modules/.bin of this repository on PATH. SDKs are loaded from it when first used. It is
 * loaded by `deployed/index.ts`, with what V8 made of it before.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { buildExplorer } from './build-explorer.ts'
import { withoutUnused } from './build-unused.ts'

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

/** How whatever is measured or deployed is bundled. */
export const bundling: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  supported: { 'dynamic-import': false }, // `deployed/load.ts` has no loader for it: `require` does the same
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
}

/**
 * Bundles the functions.
 * @param local whether the laptop's adapters are in it too, as the benchmark needs them
 * @returns bytes of the bundle
 */
export async function buildFunctions(folder: string, { local }: { local: boolean }): Promise<number> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, 'service.js')
  await build({
    ...bundling,
    entryPoints: ['functions/index.ts'],
    outfile,
    external: [framework, ...(local ? ['@duckdb/node-api'] : [])],
    plugins: local ? [] : [withoutLocal, withoutUnused],
  })
  await build({
    ...bundling,
    entryPoints: ['infra/deploy/deployed/index.ts', 'infra/deploy/deployed/compile.ts'],
    outdir: folder,
    external: [`${framework}/*`],
  })
  writePackage(folder)
  if (!local)
    execFileSync(process.execPath, ['compile.js'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return statSync(outfile).size
}

/** With the framework as its only dependency, and what the buildpack is to run before it serves. */
function writePackage(folder: string): void {
  const { version, engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    version: string
    engines: Record<string, string>
    dependencies: Record<string, string>
  }
  const own = { name: 'log-query-endpoints', version, private: true, main: 'index.js', engines }
  const scripts = { 'gcp-build': 'node compile.js' }
  const deployed = { ...own, scripts, dependencies: { [framework]: dependencies[framework] } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(deployed, null, 2)}\n`)
}

if (import.meta.main) {
  const bytes = await buildFunctions('dist', { local: false })
  console.log(`dist/service.js: ${(bytes / 1024).toFixed(0)} KB`)
  const page = await buildExplorer('dist/explorer')
  console.log(`dist/explorer: ${(page / 1024).toFixed(0)} KB gzipped`)
}
