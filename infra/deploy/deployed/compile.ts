/**
 * Compiles the bundle ahead of its cold starts, for `load.ts`. Google's buildpack runs this after an upload (`gcp-build`),
 * with the Node that will serve; `npm run build` runs it as well. A request with an unknown key goes as far as a store
 * that is not there: what it needs, V8 has compiled by then.
 */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { makeKey, writeKey } from '../../../shared/keys/text.ts'
import { compiledFile, load } from './load.ts'

Object.assign(process.env, {
  ENGINE: 'bigquery',
  STORE: 'firestore',
  GOOGLE_CLOUD_PROJECT: 'not-there',
  BIGQUERY_DATASET: 'not-there.logs',
  FIRESTORE_EMULATOR_HOST: '127.0.0.1:1',
  METADATA_SERVER_DETECTION: 'none',
})

async function compile(): Promise<void> {
  rmSync(compiledFile, { force: true })
  const script = load()
  const server = getTestServer('query').listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/api/endpoints/query/none`
  const { status } = await fetch(url, { headers: { 'X-API-KEY': writeKey(makeKey()) } })
  if (status !== 503) throw new Error(`expected 503 without a store, and got ${status}`)
  writeFileSync(compiledFile, script.createCachedData(), { mode: 0o644 })
}

// The service is as good without it, only slower to start: no reason to fail a deployment.
compile().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error('the bundle was not compiled ahead:', error)
    process.exit(0)
  },
)
