/**
 * Calls both functions as they are called from outside, with a key that holds for ten minutes and is removed again, and a token of
 * the scheduler's account. BigQuery reads no bytes for it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../shared/config.ts'
import { issueKey, removeKey } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import type { Addresses } from './functions.ts'
import type { Google } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

/** What is asked, and the status and a part of the body that must come back. */
type Check = [title: string, url: string, status: number, init?: RequestInit, contains?: string]

const keyMs = 600_000
const endpoint = 'logs.all'
const call = `${endpoint}?project=smoke-test&sql=SELECT%201%20AS%20ok`

interface Options {
  google: Google
  site: Site
  /** With which this process reads the same data. */
  env: Record<string, string | undefined>
}

/**
 * @param needed whether the endpoints are defined already: before the first `apply` they are not
 * @throws Error that says which check failed, and with what
 */
export async function smoke(options: Options, addresses: Addresses, needed: boolean): Promise<void> {
  const { say } = options.google.options
  const services = await openServices(loadConfig(options.env))
  const grant = { name: 'smoke test', endpoints: '*' as const, pins: {}, rights: [] }
  const expiresAt = new Date(Date.now() + keyMs)
  const { key, id } = await persist(() => issueKey(services.store, { ...grant, expiresAt }))
  try {
    const defined = await services.endpoints.find(endpoint)
    if (!defined && needed) throw new Error(`there is no endpoint ${endpoint}`)
    if (!defined) say(`left out: ${endpoint} is not defined yet, and is called later`)
    await smokeStart(options, addresses)
    const withKey = { headers: { 'X-API-KEY': key } }
    const api = `${addresses.query}/api/endpoints`
    await carryOut(options, [
      ['query refuses a call without a key', api, 401],
      ['query knows a key', api, 200, withKey],
      ...(defined ? [['query asks BigQuery', `${api}/query/${call}`, 200, withKey] satisfies Check] : []),
      ['warm is closed to the public', addresses.warm, 403, { method: 'POST' }],
    ])
  } finally {
    await removeKey(services.store, id)
    await services.close()
  }
}

/** Whether both start, and warm reads the store: before the traffic goes back to them. @throws as `smoke` does */
export async function smokeStart(options: Options, { query, warm }: Addresses): Promise<void> {
  const { google, site } = options
  const Authorization = `Bearer ${await identityToken(google, site)}`
  const asScheduler = { method: 'POST', headers: { Authorization } }
  await carryOut(options, [
    ['query is up', `${query}/health`, 200],
    // warm has checked the caller and read the store when it says that there is no such endpoint.
    ['warm knows its scheduler', `${warm}/?endpoint=smoke-test`, 404, asScheduler, 'not_found'],
  ])
}

/** With which the scheduler calls, signed by Google ("Create short-lived credentials for a service account"). */
async function identityToken(google: Google, site: Site): Promise<string> {
  const { address, email } = namesIn(site)
  const { token } = await google.ask(
    `iamcredentials/v1/projects/-/serviceAccounts/${email('scheduler')}:generateIdToken`,
    { audience: address('warm'), includeEmail: true },
  )
  return token as string
}

async function carryOut({ google }: Options, checks: Check[]): Promise<void> {
  for (const check of checks) {
    await persist(() => ask(check))
    google.options.say(`passed: ${check[0]}`)
  }
}

async function ask([title, url, status, init, contains = '']: Check): Promise<void> {
  const response = await fetch(url, init)
  const body = await response.text()
  if (response.status === status && body.includes(contains)) return
  const said = `${url} answered ${response.status}, not ${status}: ${body.slice(0, 500)}`
  throw new Error(`failed: ${title}: ${said}`)
}

/** A new address, binding or connection needs a moment: a first failure is none. */
async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (const seconds of [1, 2, 4, 8]) {
    try {
      return await attempt()
    } catch {
      await sleep(seconds * Number(process.env['DEPLOY_PAUSE_MS'] ?? 1000))
    }
  }
  return attempt()
}
