/**
 * `node infra/deploy/smoke.ts`: calls both functions as they are called from outside, with a key that holds for ten
 * minutes and a token of the scheduler's account. It changes nothing, and BigQuery reads no bytes for it.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { loadConfig } from '../../shared/config.ts'
import { issueKey, revokeKey } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import { identityToken } from './google-api.ts'

interface Flags {
  addresses?: string
  query?: string
  warm?: string
  audience: string
  serviceAccount: string
  call: string
  definitions: 'needed' | 'optional'
}

/** What is asked, and what the answer must be. */
interface Check {
  title: string
  url: string
  init?: RequestInit
  status: number
  /** Of the body. */
  contains?: string
}

const keyMs = 600_000

async function main(flags: Flags): Promise<void> {
  const { query, warm } = addressesIn(flags)
  const services = await openServices(loadConfig(process.env))
  const grant = { name: 'smoke test', endpoints: '*' as const, pins: {}, rights: [] }
  const expiresAt = new Date(Date.now() + keyMs)
  const { key, id } = await persist(() => issueKey(services.store, { ...grant, expiresAt }))
  try {
    const defined = await services.endpoints.find(flags.call.split('?')[0]!)
    if (!defined && flags.definitions === 'needed') throw new Error(`there is no endpoint ${flags.call}`)
    if (!defined)
      console.log(`left out: no endpoint is defined yet, so ${flags.call} is called after "apply"`)
    const token = await identityToken(flags.serviceAccount, flags.audience)
    const checks = [...checksOfQuery(query, key, defined ? flags.call : null), ...checksOfWarm(warm, token)]
    for (const check of checks) await carryOut(check)
  } finally {
    await revokeKey(services.store, id)
    await services.close()
  }
}

/** A file has lines `query=https://...` and `warm=https://...`. */
function addressesIn({ addresses, query, warm }: Flags): { query: string; warm: string } {
  const lines = addresses ? readFileSync(addresses, 'utf8').trim().split('\n') : []
  const found = new Map(
    lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const given = { query: query ?? found.get('query'), warm: warm ?? found.get('warm') }
  if (!given.query || !given.warm) throw new Error('which functions? --addresses, or --query and --warm')
  return { query: given.query, warm: given.warm }
}

function checksOfQuery(url: string, key: string, call: string | null): Check[] {
  const headers = { 'X-API-KEY': key }
  return [
    { title: 'query is up', url: `${url}/health`, status: 200 },
    { title: 'query refuses a call without a key', url: `${url}/api/endpoints`, status: 401 },
    { title: 'query knows a key', url: `${url}/api/endpoints`, init: { headers }, status: 200 },
    ...(call === null
      ? []
      : [
          {
            title: 'query asks BigQuery',
            url: `${url}/api/endpoints/query/${call}`,
            init: { headers },
            status: 200,
          },
        ]),
  ]
}

/** An endpoint that is not there: warm has checked the caller and read the store when it says so. */
function checksOfWarm(address: string, token: string): Check[] {
  const url = `${address}/?endpoint=smoke-test`
  const headers = { Authorization: `Bearer ${token}` }
  return [
    { title: 'warm is closed to the public', url, init: { method: 'POST' }, status: 403 },
    {
      title: 'warm knows its scheduler',
      url,
      init: { method: 'POST', headers },
      status: 404,
      contains: 'not_found',
    },
  ]
}

async function carryOut({ title, url, init, status, contains = '' }: Check): Promise<void> {
  await persist(async () => {
    const response = await fetch(url, init)
    const body = await response.text()
    if (response.status !== status || !body.includes(contains))
      throw new Error(
        `failed: ${title}: ${url} answered ${response.status}, not ${status}: ${body.slice(0, 500)}`,
      )
  })
  console.log(`passed: ${title}`)
}

/** A new address, binding or connection needs a moment: a first failure is none. */
async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (const seconds of [1, 2, 4, 8]) {
    try {
      return await attempt()
    } catch {
      await sleep(seconds * Number(process.env['SMOKE_PAUSE_MS'] ?? 1000))
    }
  }
  return attempt()
}

if (import.meta.main)
  await new Command('smoke')
    .description('Calls both functions as they are called from outside')
    .option('--addresses <file>', 'lines query=URL and warm=URL, as `release.sh tag` writes them')
    .option('--query <url>', 'address of query')
    .option('--warm <url>', 'address of warm')
    .requiredOption('--audience <url>', 'audience of the scheduler’s token')
    .requiredOption('--service-account <email>', 'as whom the scheduler calls')
    .option(
      '--call <call>',
      'endpoint and query string',
      'logs.all?project=smoke-test&sql=SELECT%201%20AS%20ok',
    )
    .option('--definitions <needed>', 'needed, or optional before the first "apply"', 'needed')
    .action(main)
    .parseAsync()
