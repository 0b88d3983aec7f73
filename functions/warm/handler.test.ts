import { createSign, generateKeyPairSync } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { answersCollection, cacheKey, headAt } from '../../shared/cache/head.ts'
import { type Environment, loadConfig } from '../../shared/config.ts'
import type { Details, Severity } from '../../shared/log.ts'
import { openServices } from '../../shared/services.ts'
import { Budget } from '../../shared/warm/turn.ts'
import type { WarmReport } from '../../shared/warm/report.ts'
import { warm } from '../../shared/warm/warm.ts'
import { edgeRow } from '../testing/edges.ts'
import { patchOnce, startService, type TestService } from '../testing/service.ts'
import { type Reading, rowOf, startReading, table } from '../testing/upstream.ts'
import { type PublicKeys, warmHandler } from './handler.ts'

describe('the handler', () => {
  const now = '2026-03-10T12:30:30.000Z'
  const audience = 'https://europe-west1-p.cloudfunctions.net/warm'
  const serviceAccount = 'lqe-scheduler@p.iam.gserviceaccount.com'
  const settings = { WARM_AUDIENCE: audience, WARM_SERVICE_ACCOUNT: serviceAccount }

  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const strangers = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const publicKeys: PublicKeys = async () => ({
    k1: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  })

  const seconds = () => Math.floor(Date.now() / 1000)
  const claims = () => ({
    iss: 'https://accounts.google.com',
    aud: audience,
    email: serviceAccount,
    email_verified: true,
    iat: seconds() - 10,
    exp: seconds() + 3000,
  })

  function token(changes: object = {}, signer = keys.privateKey, kid = 'k1'): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part({ ...claims(), ...changes })}`
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(signer, 'base64url')}`
  }

  const withoutSignature = (text: string) =>
    `${text.split('.').slice(0, 2).join('.')}.SIGNATURE_REMOVED_BY_GOOGLE`

  let service: TestService
  let server: Server | undefined
  let logged: { severity: Severity; message: string; details: Details }[]
  let made = 0

  beforeAll(async () => {
    const rows = [edgeRow('a', '2026-03-10T12:00:00.000Z', 'abcdefgh', '/rest/v1/a')]
    service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env: { FROZEN_NOW: now } })
  })

  afterAll(() => service.stop())

  beforeEach(() => {
    logged = []
  })

  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** @returns a way to call the function as it is deployed with these settings */
  async function start(env: Environment, source: PublicKeys = publicKeys) {
    const name = `warm-${++made}`
    const config = loadConfig(env)
    const log = (severity: Severity, message: string, details: Details = {}) =>
      void logged.push({ severity, message, details })
    http(name, warmHandler({ services: service.services, config, log, publicKeys: source }))
    patchOnce(log)
    const listening = getTestServer(name)
    server = listening
    await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
    return (path: string, bearer: string | null, method = 'POST', more: Record<string, string> = {}) =>
      fetch(url + path, {
        method,
        headers: { ...more, ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }) },
      })
  }

  describe('a call of the scheduler', () => {
    const name = 'usage.api-counts'
    const path = `/api/endpoints/query/${name}?interval=hourly&project=abcdefgh`

    test('refreshes what readers use, and reports it as JSON and as one log line', async () => {
      const first = await service.fetch(path)
      const endpoint = (await service.services.endpoints.find(name))!
      const parameters = JSON.stringify([
        ['interval', 'hourly'],
        ['project', 'abcdefgh'],
      ])
      const at = headAt(
        cacheKey({
          endpointId: endpoint.id,
          version: endpoint.version,
          parameters,
          sql: null,
          variant: 'clear',
        }),
      )
      await service.services.cache.close()
      const { document, readAt } = await service.services.store.get(at)
      const stored = { ...(document!.fields['stored'] as { generation: string }), madeAt: readAt - 400_000 }
      await service.services.store.update(at, { set: { stored, uses: 2 } })

      const call = await start(settings)
      const response = await call(`/?endpoint=${name}`, token())
      expect(response.status).toBe(200)
      const report = (await response.json()) as WarmReport
      expect(report).toMatchObject({ refreshed: 1, skipped: 0, failed: 0, runs: 1 })
      expect(report.endpoints).toMatchObject([{ endpoint: name, refreshed: 1, error: null }])
      expect(logged).toMatchObject([
        {
          severity: 'INFO',
          message: 'warm',
          details: { checked: 'signature', refreshed: 1, endpoints: [`${name} refreshed=1`], status: 200 },
        },
      ])
      const after = await service.services.store.get(at)
      expect((after.document!.fields['stored'] as { generation: string }).generation).not.toBe(
        stored.generation,
      )
      const again = await service.fetch(path)
      expect(again.headers.get('cache-status')).toMatch(/hit/)
      expect(await again.text()).toBe(await first.text())
    })

    test('without a name is for every endpoint that is kept warm', async () => {
      const report = (await (await (await start(settings))('/', token())).json()) as WarmReport
      expect(report.endpoints.map(({ endpoint }) => endpoint)).toEqual([name])
    })

    test.each(['logs.all', 'no.such', '%00'])('for %s, which is not kept warm, is a 404', async other => {
      expect((await (await start(settings))(`/?endpoint=${other}`, token())).status).toBe(404)
    })

    test('that names two endpoints is a 400', async () => {
      expect((await (await start(settings))('/?endpoint=a&endpoint=b', token())).status).toBe(400)
    })

    test('by another method is a 405', async () => {
      const response = await (await start(settings))('/', token(), 'GET')
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    })
  })

  describe('a caller', () => {
    const refused: [string, () => string | null][] = [
      ['no token', () => null],
      ['something else', () => 'lqe_key'],
      ['a token signed by another key', () => token({}, strangers.privateKey)],
      ['a token of an unknown key', () => token({}, keys.privateKey, 'k2')],
      ['a token without its signature', () => withoutSignature(token())],
      ['a token for another function', () => token({ aud: 'https://other.example' })],
      ['a token for several functions', () => token({ aud: [audience] })],
      ['a token of another account', () => token({ email: 'other@p.iam.gserviceaccount.com' })],
      ['a token with an unverified address', () => token({ email_verified: false })],
      ['a token of another issuer', () => token({ iss: 'https://issuer.example' })],
      ['a token that has expired', () => token({ iat: seconds() - 8000, exp: seconds() - 400 })],
      ['a token issued in the future', () => token({ iat: seconds() + 4000, exp: seconds() + 8000 })],
      ['a token that lives too long', () => token({ exp: seconds() + 90_000 })],
    ]

    test.each(refused)('with %s is refused, and gets nothing from the log or the answer', async (_, make) => {
      const bearer = make()
      const response = await (await start(settings))('/', bearer)
      expect(response.status).toBe(401)
      const body = await response.text()
      expect(logged.map(({ severity, details }) => [severity, details['status']])).toEqual([['WARNING', 401]])
      for (const part of (bearer ?? '').split('.').filter(text => text.length > 10))
        expect(JSON.stringify([logged, body])).not.toContain(part)
    })

    describe('on Cloud Run', () => {
      const onCloudRun = { K_SERVICE: 'warm' }

      test('comes with a token whose signature Cloud Run has checked and removed', async () => {
        const response = await (await start({ ...settings, ...onCloudRun }))('/', withoutSignature(token()))
        expect(response.status).toBe(200)
        expect(logged[0]!.details['checked']).toBe('cloud_run')
      })

      test('is refused with that token where Cloud Run has checked another header in its place', async () => {
        const call = await start({ ...settings, ...onCloudRun })
        const own = withoutSignature(token({ email: 'invoker@p.iam.gserviceaccount.com' }))
        const response = await call('/', withoutSignature(token()), 'POST', {
          'X-Serverless-Authorization': `Bearer ${own}`,
        })
        expect(response.status).toBe(401)
      })

      test.each([
        { aud: 'https://other.example' },
        { email: 'other@p.iam.gserviceaccount.com' },
        { email_verified: false },
        { iss: 'https://issuer.example' },
        { exp: seconds() - 400 },
      ])('is refused if that token says %j', async changes => {
        const bearer = withoutSignature(token(changes))
        expect((await (await start({ ...settings, ...onCloudRun }))('/', bearer)).status).toBe(401)
      })

      test('is refused where the settings are missing', async () => {
        expect((await (await start(onCloudRun))('/', token())).status).toBe(401)
      })
    })

    test('on a laptop without settings needs no token, and the log says so', async () => {
      expect((await (await start({}))('/', null)).status).toBe(200)
      expect(logged[0]!.details['checked']).toBe('none')
    })

    test('gets a 503 while Google’s keys cannot be read', async () => {
      const call = await start(settings, () => Promise.reject(new Error('no network')))
      expect((await call('/', token())).status).toBe(503)
    })
  })
})

/** Endpoints that read others are kept warm after what they read. */
describe('an endpoint that reads another', () => {
  const common = `parameters: { required: [project], properties: { project: { type: string } } }
cache: { seconds: 900 }\nwarm: { seconds: 300 }`
  let it: Reading

  beforeAll(async () => {
    it = await startReading('duckdb', {
      'a.reader': {
        yaml: `${common}\nupstream: { counts: { endpoint: b.counts, parameters: { project: "@project" } } }`,
        sql: 'SELECT n * 10 AS n FROM counts',
      },
      'b.counts': {
        yaml: common,
        sql: `SELECT COUNT(*) AS n FROM \`${table}\` AS t WHERE t.project = @project`,
      },
    })
  })
  afterAll(() => it.stop())

  test('one call of the warmer refreshes what is read, then those that read it', async () => {
    expect((await it.call('a.reader?project=a')).result).toEqual([{ n: 20 }])
    await it.add([rowOf('a3', 'a', '/3')])
    await it.age(400_000)
    // The warmer is another process.
    const warmer = await openServices(loadConfig(it.service.env))
    try {
      const { engine, store, log } = warmer
      const report = await warm(
        { engine, store, log, reading: warmer },
        await warmer.endpoints.all(),
        new Budget({
          ms: 60_000,
          bytes: 1e12,
        }),
      )
      expect(report.endpoints.map(({ endpoint, refreshed, runs }) => [endpoint, refreshed, runs])).toEqual([
        ['b.counts', 1, 1],
        ['a.reader', 1, 1],
      ])
      const { documents } = await store.query({ collection: answersCollection, limit: 10 })
      const ages = documents.map(({ fields }) => Date.now() - (fields['stored'] as { madeAt: number }).madeAt)
      expect(Math.max(...ages)).toBeLessThan(60_000)
      const again = await warm(
        { engine, store, log, reading: warmer },
        await warmer.endpoints.all(),
        new Budget({
          ms: 60_000,
          bytes: 1e12,
        }),
      )
      expect([again.refreshed, again.runs]).toEqual([0, 0])
    } finally {
      await warmer.close()
    }
    await new Promise(resolve => setTimeout(resolve, 5_100)) // until memory looks at the store again
    const { result, response } = await it.call('a.reader?project=a')
    expect([result, response.headers.get('cache-status')]).toEqual([
      [{ n: 30 }],
      expect.stringMatching(/^lqe; hit/),
    ])
  })
})
