/**
 * `index.cjs` of the deployed folder, which functions-framework loads: it runs the bundle with V8's code cache, see
 * infra/docs/surgery.md, "Code cache". `node index.cjs` makes the cache: Google's buildpack does after an upload
 * (`gcp-build`), with the Node that will serve, and `npm run build` does as well.
 */
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Script } from 'node:vm'

const bundle = join(__dirname, 'service.js')
/** To be made with each build: of the source V8 compares the length only. */
const cache = join(__dirname, 'service.v8')

/** `true`: another V8 made the cache, so that the start takes longer; `undefined`: there is none. */
export let cachedDataRejected: boolean | undefined

if (require.main === module) makeCache().then(() => process.exit(0), reportFailure)
else ({ cachedDataRejected } = load(readCache()))

/** Runs the bundle as `require` would. Without a cache, or with one of another V8, it is compiled as usual. */
function load(cachedData: Buffer | undefined): Script {
  const source = readFileSync(bundle, 'latin1') // esbuild writes ASCII
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: bundle,
    cachedData,
  })
  const loaded = { exports: {} }
  const run = script.runInThisContext() as (...wrapped: unknown[]) => void
  run(loaded.exports, createRequire(bundle), loaded, bundle, __dirname)
  return script
}

function readCache(): Buffer | undefined {
  try {
    return readFileSync(cache)
  } catch {
    return undefined
  }
}

/**
 * The cache holds what V8 has compiled by then. So one request with an unknown key is made first: it goes as far as a
 * store that is not there, through all that a first request needs.
 */
async function makeCache(): Promise<void> {
  rmSync(cache, { force: true })
  Object.assign(process.env, {
    ENGINE: 'bigquery',
    STORE: 'firestore',
    GOOGLE_CLOUD_PROJECT: 'not-there',
    BIGQUERY_DATASET: 'not-there.logs',
    FIRESTORE_EMULATOR_HOST: '127.0.0.1:1',
    METADATA_SERVER_DETECTION: 'none',
  })
  const script = load(undefined)
  const { getTestServer } = await import('@google-cloud/functions-framework/testing')
  const { makeKey, writeKey } = await import('../../shared/key-text.ts')
  const server = getTestServer('query').listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/api/endpoints/query/none`
  const { status } = await fetch(url, { headers: { 'X-API-KEY': writeKey(makeKey()) } })
  if (status !== 503) throw new Error(`expected 503 without a store, and got ${status}`)
  writeFileSync(cache, script.createCachedData(), { mode: 0o644 })
}

/** A deployment goes on: without the cache only the start takes longer. */
function reportFailure(error: unknown): void {
  console.error('the code cache was not made:', error)
  process.exit(0)
}
