/**
 * Calls both functions as they are called from outside, with a key that holds for ten minutes and is removed again, and a token of
 * the scheduler's account. BigQuery reads no bytes for it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../shared/config.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { issueKey, removeKey } from '../../shared/keys/records.ts'
import { samplesOf } from '../../shared/endpoints/samples.ts'
import { usingServices } from '../lqe/command.ts'
import type { Addresses } from './functions.ts'
import type { Google } from './google-api.ts'
import { namesIn, type Site } from './settings.ts'

/** What is asked, and the status and a part of the body that must come back. */
type Check = [title: string, url: string, status: number, init?: RequestInit, contains?: string]

const keyMs = 600_000
const anyText = 'smoke-test'

interface Options {
  google: Google
  site: Site
  /** With which this process reads the same data. */
  env: Record<string, string | undefined>
}

/** @throws Error that says which check failed, and with what */
export async function smoke(options: Options, addresses: Addresses): Promise<void> {
  const { say } = options.google.options
  await usingServices(loadConfig(options.env), async ({ store, endpoints }) => {
    const expiresAt = new Date(Date.now() + keyMs)
    const grant = { name: 'smoke test', endpoints: '*' as const, pins: {}, rights: [], expiresAt }
    const { key, id } = await persist(() => issueKey(store, grant))
    try {
      const call = (await endpoints.all()).map(callOf).find(each => each !== null)
      if (!call) say('left out: there is no endpoint yet that takes SQL of this key, to ask BigQuery by')
      await smokeStart(options, addresses)
      const withKey = { headers: { 'X-API-KEY': key } }
      const api = `${addresses.query}/api/endpoints`
      await carryOut(options, [
        ['query refuses a call without a key', api, 401],
        ['query knows a key', api, 200, withKey],
        ...(call ? [['query asks BigQuery', `${api}/query/${call}`, 200, withKey] satisfies Check] : []),
        ['warm is closed to the public', addresses.warm, 403, { method: 'POST' }],
      ])
    } finally {
      await removeKey(store, id)
    }
  })
}

/** A caller's own query, which reads no table; `null` = the endpoint takes none, or there is no telling what it requires. */
function callOf({ name, sandbox, redact, required, parameters }: Endpoint): string | null {
  if (!sandbox || redact) return null
  const query = new URLSearchParams({ sql: 'SELECT 1 AS ok' })
  for (const parameter of required) {
    const { type, format, pattern, minLength = 0 } = parameters[parameter]!
    const isAnyText = type === 'string' && !format && !pattern && minLength <= anyText.length
    const value = samplesOf(parameters[parameter]!)[0] ?? (isAnyText ? anyText : null)
    if (value === null || format) return null
    query.set(parameter, String(value))
  }
  return `${name}?${query.toString()}`
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
