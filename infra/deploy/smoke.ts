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
  addresses: string
  audience: string
  serviceAccount: string
  call: string
  definitions: 'needed' | 'optional'
}

/** What is asked, and the status and a part of the body that must come back. */
type Check = [title: string, url: string, status: number, init?: RequestInit, contains?: string]

const keyMs = 600_000

async function main(flags: Flags): Promise<void> {
  const addresses = addressesIn(flags.addresses)
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
    for (const check of checksOf(addresses, { key, token, call: defined ? flags.call : null }))
      await carryOut(check)
  } finally {
    await revokeKey(services.store, id)
    await services.close()
  }
}

/** Of a file with lines `query=https://...` and `warm=https://...`. */
function addressesIn(file: string): { query: string; warm: string } {
  const text = readFileSync(file, 'utf8')
  const [query, warm] = [/^query=(.+)$/m, /^warm=(.+)$/m].map(line => line.exec(text)?.[1])
  if (!query || !warm) throw new Error(`${file} does not say where query and warm are`)
  return { query, warm }
}

function checksOf(
  { query, warm }: ReturnType<typeof addressesIn>,
  { key, token, call }: { key: string; token: string; call: string | null },
): Check[] {
  const withKey = { headers: { 'X-API-KEY': key } }
  const asked = `${query}/api/endpoints/query/${call}`
  // warm has checked the caller and read the store when it says that there is no such endpoint.
  const none = `${warm}/?endpoint=smoke-test`
  const asScheduler = { method: 'POST', headers: { Authorization: `Bearer ${token}` } }
  return [
    ['query is up', `${query}/health`, 200],
    ['query refuses a call without a key', `${query}/api/endpoints`, 401],
    ['query knows a key', `${query}/api/endpoints`, 200, withKey],
    ...(call === null ? [] : [['query asks BigQuery', asked, 200, withKey] satisfies Check]),
    ['warm is closed to the public', none, 403, { method: 'POST' }],
    ['warm knows its scheduler', none, 404, asScheduler, 'not_found'],
  ]
}

async function carryOut([title, url, status, init, contains = '']: Check): Promise<void> {
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
    .requiredOption('--addresses <file>', 'lines query=URL and warm=URL, as `release.sh tag` writes them')
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
