/** A minute without Firestore, over HTTP: the emulator behind a proxy that refuses connections, or falls silent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { useEmulator } from '../../infra/google/firestore-emulator.ts'
import { type Proxy, startProxy } from '../../shared/stores/testing/proxy.ts'
import { describeEmulator } from '../../shared/stores/testing/describe-stores.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const now = '2026-03-10T12:30:30.000Z'
const answer = (n: number) => `/api/endpoints/query/usage.api-counts?interval=daily&project=${n}`
const answers = 20
const outageMs = 60_000

describeEmulator('a minute without the store', () => {
  let proxy: Proxy
  let service: TestService
  let stranger: string

  beforeAll(async () => {
    proxy = await startProxy((await useEmulator()).address)
    process.env['FIRESTORE_EMULATOR_HOST'] = proxy.address
    service = await startService({
      tables: { 'cloudflare.logs.prod': [edgeRow('a', now, 'a', '/rest/v1/items')] },
      env: { FROZEN_NOW: now, STORE: 'firestore', GOOGLE_CLOUD_PROJECT: `outage-${Date.now()}` },
      bundle: null,
    })
    stranger = await service.issue({})
  }, 120_000)

  afterAll(async () => {
    await service.stop()
    await proxy.refuse()
  })

  /** With what an unknown key gets: where open connections alone are silent, the client makes a new one. */
  test.each([
    ['that refuses connections', () => proxy.refuse(), () => proxy.restore(), 503],
    ['whose connections fall silent', async () => proxy.losePackets('nothing'), async () => {}, 200],
  ])(
    '%s: every call of a known key for an answer in memory gets it',
    async (title, stop, restore, unknownGets) => {
      for (let n = 0; n < answers; n++) expect((await service.fetch(answer(n))).status).toBe(200)
      await stop()
      const statuses = new Map<number, number>()
      let slowest = 0
      const until = performance.now() + outageMs
      const caller = async (n: number) => {
        while (performance.now() < until) {
          const started = performance.now()
          const { status } = await service.fetch(answer(n))
          slowest = Math.max(slowest, performance.now() - started)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          await sleep(50)
        }
      }
      await Promise.all(Array.from({ length: answers }, (_, n) => caller(n)))
      const unknown = await service.fetch(answer(0), { key: stranger })
      await restore()
      const restored = performance.now()
      while ((await service.fetch(answer(0), { key: stranger })).status !== 200) await sleep(100)
      const back = Math.round(performance.now() - restored)
      process.stdout.write(
        `${title}: ${JSON.stringify(Object.fromEntries(statuses))}, the slowest ${Math.round(slowest)} ms; ` +
          `an unknown key: ${unknown.status}, accepted ${back} ms after the end\n`,
      )
      expect([...statuses.keys()]).toEqual([200])
      expect(unknown.status).toBe(unknownGets)
    },
    120_000,
  )
})
