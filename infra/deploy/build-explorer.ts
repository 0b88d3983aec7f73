/** The explorer's files as the service serves them: bundled, minified, and named by a hash of their content. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { notePackages } from './notices.ts'

const root = resolve(import.meta.dirname, '../..')
const source = join(root, 'functions/explorer')

/**
 * Builds the page, its scripts and its styles. Chart and editor become files of their own, loaded when needed.
 * @returns bytes of all files together, gzipped
 */
export async function buildExplorer(folder: string): Promise<number> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    entryPoints: [join(source, 'page.tsx'), join(source, 'style.css')],
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    metafile: true,
    plugins: [workedExamples, notePackages],
    logLevel: 'warning',
  })
  const files = Object.keys(metafile.outputs).map(file => basename(file))
  const page = readFileSync(join(source, 'index.html'), 'utf8').replaceAll(
    /explorer\/(\w+)\.(js|css)/g,
    (_, name: string, ending: string) =>
      `explorer/${files.find(file => file.startsWith(`${name}-`) && file.endsWith(`.${ending}`))}`,
  )
  writeFileSync(join(folder, 'index.html'), page)
  return [...files, 'index.html']
    .map(file => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length)
    .reduce((sum, bytes) => sum + bytes, 0)
}

/** An import of `queries/README.md` gives its examples: the sentence before each block of SQL, and the SQL. */
const workedExamples: Plugin = {
  name: 'worked-examples',
  setup({ onLoad }) {
    onLoad({ filter: /queries\/README\.md$/ }, ({ path }) => {
      const blocks = readFileSync(path, 'utf8').matchAll(/^([^\n]+):\n\n```sql\n(.*?)\n```/gms)
      const examples = [...blocks].map(([, title, sql]) => ({ title, sql }))
      return { contents: JSON.stringify(examples), loader: 'json' }
    })
  },
}
