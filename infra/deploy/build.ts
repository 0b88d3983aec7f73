/**
 * `npm run build`: makes `dist/`. In `function/` is what is deployed: one CommonJS bundle, in which SDKs are loaded when first
 * used, its entry `entry.ts`, and a package.json of its own: from the repository's, Google's buildpack would put all of
 * node_modules/.bin on PATH. Beside it are the programs of an installed package (`files` in package.json), in modules that
 * share what they have in common.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { functionFolder } from '../../shared/package-folder.ts'
import { version } from '../../shared/version.ts'
import { buildExplorer } from './build-explorer.ts'
import { notePackages, writeNotices } from './notices.ts'
import { trimGoogleClients } from './trim-google-clients.ts'

const framework = '@google-cloud/functions-framework'

/** Leaves out the adapters of a laptop: settings that choose one get an error that says so. */
const withoutLocal: Plugin = {
  name: 'without-local-adapters',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/(engines\/duckdb|stores\/sqlite)\// }, ({ path }) => ({
      path,
      namespace: 'local',
    }))
    onLoad({ filter: /.*/, namespace: 'local' }, () => ({
      contents: "throw new Error('this build has no local engine and no local store')",
    }))
  },
}

/** The library of the Model Context Protocol is a file of its own, which the first request to `/mcp` loads. */
const protocolApart: Plugin = {
  name: 'protocol-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^@modelcontextprotocol\/server$/ }, () => ({ path: './mcp.js', external: true }))
  },
}

/** The compiler of schemas is loaded with the first schema: it takes a twentieth of a cold start, and a hot answer needs none. */
const ajvWhenUsed: Plugin = {
  name: 'ajv-when-used',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ajv$/, namespace: 'file' }, ({ path }) => ({ path, namespace: 'when-used' }))
    onLoad({ filter: /.*/, namespace: 'when-used' }, () => ({
      contents: `export const Ajv = function (options) { return new (require('ajv').Ajv)(options) }`,
      resolveDir: resolve('.'),
    }))
  },
}

/** Of the repository's package.json the bundle has the version alone (`shared/version.ts`). */
const versionAlone: Plugin = {
  name: 'version-alone',
  setup({ onLoad }) {
    onLoad({ filter: /\/package\.json$/ }, ({ path }) =>
      path === resolve('package.json')
        ? { contents: JSON.stringify({ version }), loader: 'json' }
        : undefined,
    )
  },
}

const bundling: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  supported: { 'dynamic-import': false }, // `entry.ts` gives the bundle `require` only, which does the same
  define: { 'import.meta.filename': '__filename' },
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
}

/** Bundles one file as the functions are bundled; packages named in `external` are loaded from node_modules. */
export async function bundle(
  entry: string,
  outfile: string,
  { external = [framework], plugins = [] }: Pick<BuildOptions, 'external' | 'plugins'> = {},
): Promise<void> {
  await build({
    ...bundling,
    entryPoints: [entry],
    outfile,
    external,
    plugins: [versionAlone, notePackages, ...plugins],
  })
}

/** By name: `lqe`, the function of `lqe start`, and the local engine's process. */
const programs = {
  lqe: 'infra/lqe.ts',
  service: 'infra/local/service.ts',
  process: 'shared/engines/duckdb/process.ts',
}

/** Not in the package: what is only loaded in the repository, and a generator that is larger than all the rest. */
const elsewhere = ['esbuild', 'swagger-typescript-api']

const load = createRequire(import.meta.url)

/**
 * A package that is imported when first used has its named exports, as in Node: where modules are split, esbuild leaves CommonJS
 * with its default alone.
 */
const namedExports: Plugin = {
  name: 'named-exports',
  setup({ onResolve, onLoad, resolve: find }) {
    const namespace = 'named'
    onResolve({ filter: /^[@a-z]/ }, async ({ path, kind, importer, resolveDir }) => {
      if (kind !== 'dynamic-import' || isBuiltin(path)) return null
      const found = await find(path, { kind: 'import-statement', importer, resolveDir })
      return found.external ? found : { path: found.path, namespace }
    })
    onLoad({ filter: /.*/, namespace }, ({ path }) => {
      const names = Object.keys(load(path) as object).filter(name =>
        /^(?!default$)[A-Za-z$_][\w$]*$/.test(name),
      )
      const contents = `import * as all from ${JSON.stringify(path)}
        export const { ${names.join(', ')} } = all\nexport default all.default`
      return { contents, resolveDir: resolve('.') }
    })
  },
}

/** Bundles the programs of the package. @returns bytes of all modules together */
export async function buildPrograms(folder: string): Promise<number> {
  const { metafile } = await build({
    ...bundling,
    format: 'esm',
    splitting: true,
    target: 'node22.18',
    supported: {},
    define: {},
    // What is CommonJS in the bundle asks for Node's own modules by `require`, and where it is.
    banner: {
      js: `import{createRequire as $r}from'node:module';const require=$r(import.meta.url),__dirname=import.meta.dirname;`,
    },
    entryPoints: programs,
    outdir: folder,
    chunkNames: '[hash]',
    external: [framework, '@duckdb/node-api', ...elsewhere],
    plugins: [versionAlone, notePackages, namedExports, trimGoogleClients],
    metafile: true,
  })
  return Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Bundles the functions. @returns bytes of the bundle */
export async function buildFunctions(folder: string): Promise<number> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, 'service.js')
  await bundle('functions/index.ts', outfile, {
    plugins: [protocolApart, withoutLocal, ajvWhenUsed, trimGoogleClients],
  })
  await bundle('node_modules/@modelcontextprotocol/server/dist/index.mjs', join(folder, 'mcp.js'))
  await bundle('infra/deploy/entry.ts', join(folder, 'index.cjs'))
  assertAscii(outfile)
  writePackage(folder)
  execFileSync(process.execPath, ['index.cjs'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return statSync(outfile).size
}

/** The entry reads it so. esbuild escapes what is beyond ASCII in strings, not in patterns and raw strings. */
function assertAscii(file: string): void {
  const [around] = /.{0,40}[^\0-\x7f].{0,20}/.exec(readFileSync(file, 'utf8')) ?? []
  if (around !== undefined) throw new Error(`${file} is not ASCII: write \\u in the pattern ${around}`)
}

/**
 * The framework is the only dependency; the buildpack runs `gcp-build` after an upload. The lock file is the repository's,
 * pruned by npm: with it the buildpack runs `npm ci`, so that the packages deployed are those that were tested.
 * The entry ends in `.cjs`: for `.js` the framework loads a library to find the package.json that says what it is, a tenth of
 * a cold start.
 * https://github.com/GoogleCloudPlatform/buildpacks/tree/main/cmd/nodejs/npm
 */
function writePackage(folder: string): void {
  const { engines, dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    engines: Record<string, string>
    dependencies: Record<string, string>
  }
  const own = { name: 'log-query-endpoints', version, private: true, main: 'index.cjs', engines }
  const scripts = { 'gcp-build': 'node index.cjs' }
  const deployed = { ...own, scripts, dependencies: { [framework]: dependencies[framework] } }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(deployed, null, 2)}\n`)
  copyFileSync('package-lock.json', join(folder, 'package-lock.json'))
  const prune = ['install', '--package-lock-only', '--omit=dev', '--ignore-scripts', '--offline']
  execFileSync('npm', [...prune, '--loglevel=error', '--no-fund', '--no-audit'], {
    cwd: folder,
    stdio: 'pipe',
  })
}

/** All of `dist/`. @param say gets a line for each part */
export async function buildAll(say: (line: string) => void): Promise<void> {
  const size = (bytes: number) => `${(bytes / 1024).toFixed(0)} KB`
  rmSync('dist', { recursive: true, force: true })
  say(`dist: ${size(await buildPrograms('dist'))}`)
  say(`dist/function/service.js: ${size(await buildFunctions(functionFolder))}`)
  say(`dist/function/explorer: ${size(await buildExplorer(join(functionFolder, 'explorer')))} gzipped`)
  say(`dist/notices.txt: ${writeNotices('dist')} packages`)
}

if (import.meta.main) await buildAll(line => console.log(line))
