/** The promises of the cache with instances of the deployed bundle that stand still whenever they have no request. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Emulator, useEmulator } from '../../infra/google/firestore-emulator.ts'
import { cacheKey, headAt } from '../../shared/cache/head.ts'
import type { Document } from '../../shared/stores/store.ts'
import { describeEmulator } from '../../shared/stores/testing/describe-stores.ts'
import { type Proxy, startProxy } from '../../shared/stores/testing/proxy.ts'
import { edgeRow } from './edges.ts'
import { type Instance, startInstance } from './instances.ts'
import { startService, type TestService } from './service.ts'

export interface Amounts {
  instances: number
  /** Of a cold key, in each instance at once. */
  callers: number
  rounds: number
  /** In every so many rounds an instance is killed while its callers wait. */
  killEvery: number
  /** How long the store stands still, and how long the engine is away, milliseconds; 0 leaves both out. */
  outageMs: number
  /** Runs at once for one key. */
  runs: number
  /** Cold answers whose acknowledgements from the store get lost. */
  losses: number
}

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'

/** @param bundle folder of the built functions, once the tests begin */
export function describeFrozen(amounts: Amounts, bundle: () => string): void {
  describeEmulator('instances that stand still between requests', () => {
    let service: TestService
    let instances: Instance[]
    let warm: Instance
    let emulator: Emulator
    let proxy: Proxy

    beforeAll(async () => {
      const source = bundle()
      const rows = [edgeRow('one', '2026-03-10T12:00:00Z', project, '/rest/v1/items')]
      const tables = { 'cloudflare.logs.prod': rows }
      service = await startService({ tables, env: { FROZEN_NOW: now }, bundle: source })
      emulator = await useEmulator()
      proxy = await startProxy(emulator.address)
      const env = {
        ...(service.env as Record<string, string>),
        EXPLORER_DIR: 'off',
        FIRESTORE_EMULATOR_HOST: proxy.address,
      }
      warm = await startInstance('warm', { source, env })
      instances = []
      for (let i = 0; i < amounts.instances; i++)
        instances.push(await startInstance('query', { source, env }))
    })

    afterAll(async () => {
      await Promise.all([...instances, warm].map(instance => instance.stop()))
      await service.stop()
      await proxy.refuse()
    })

    /** Runs whose caller was told that nothing is stored: on a busy machine the store may take longer than a second. */
    let notStored = 0
    let made = 0
    /** A parameter set that no call has had yet. */
    const coldPath = () => `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}|${++made}`

    async function call(at: Instance, path: string, key = service.key) {
      const response = await fetch(at.url + path, { headers: { 'X-API-KEY': key } })
      const text = await response.text()
      const cache = response.headers.get('cache-status') ?? ''
      if (response.status >= 500 || cache.endsWith('fwd=miss')) notStored++
      return { status: response.status, cache, text }
    }

    /** Jobs sent to BigQuery, also those that another process adopts. */
    const runs = () => service.bigQuery!.requests.filter(({ method }) => method === 'insert').length

    async function documentsIn(collection: string): Promise<Document[]> {
      const { documents } = await service.services.store.query({ collection, limit: 1000 })
      return documents
    }

    async function headOf(path: string): Promise<Document> {
      const endpoint = (await service.services.endpoints.find('usage.api-counts'))!
      const parameters = JSON.stringify([...new URL(path, 'http://host').searchParams])
      const keyFields = { endpointId: endpoint.id, version: endpoint.version, sql: null, variant: 'clear' }
      const { document } = await service.services.store.get(headAt(cacheKey({ ...keyFields, parameters })))
      return document!
    }

    test('a cold answer is in the store when it has been sent, and costs one run over all instances', async () => {
      let [before, slow] = [0, 0]
      let answers: Awaited<ReturnType<typeof call>>[]
      do {
        const path = coldPath()
        ;[before, slow, answers] = [runs(), notStored, []]
        for (const instance of instances) answers.push(await call(instance, path))
      } while (notStored > slow)
      expect(answers.map(({ cache }) => cache)).toEqual([
        'lqe; fwd=miss; stored',
        ...instances.slice(1).map(() => expect.stringMatching(/^lqe; hit/)),
      ])
      expect(runs() - before).toBe(1)
    })

    test('a failed run is recorded for all instances when its answer has been sent', async () => {
      const path = `${coldPath()}(`
      const before = runs()
      for (const instance of instances) expect((await call(instance, path)).status).toBe(400)
      expect(runs() - before).toBe(1)
    })

    test('a use is counted when its answer has been sent', async () => {
      const path = coldPath()
      await call(instances[0]!, path)
      const { id, fields } = await headOf(path)
      const usedAt = Number(fields['usedAt']) - 300_000
      await service.services.store.update({ collection: 'answers', id }, { set: { usedAt } })
      expect((await call(instances[1]!, path)).cache).toMatch(/^lqe; hit/)
      expect((await headOf(path)).fields).toMatchObject({ uses: 2 })
    })

    const limits = { callsPerMinute: null, bytesPerDay: 1e12 }

    async function spentBy(key: string): Promise<number> {
      const id = key.split('_')[1]!
      const sums = await documentsIn('spending')
      const sum = sums.find(document => new RegExp(`^${id}\\.\\d+$`).test(document.id))
      return Number(sum?.fields['bytes'] ?? 0)
    }

    /** By a key of its own. */
    async function runAtOnce(): Promise<{ answers: Awaited<ReturnType<typeof call>>[]; spent: number }> {
      const key = await service.issue({ limits })
      for (const instance of instances) await call(instance, '/api/endpoints', key)
      const calls = Array.from({ length: amounts.runs }, (_, i) =>
        call(instances[i % instances.length]!, coldPath(), key),
      )
      const answers = await Promise.all(calls)
      return { answers, spent: await spentBy(key) }
    }

    test(`${amounts.runs} runs at once for a key are spent to the byte`, async () => {
      const one = await service.issue({ limits })
      await call(instances[0]!, coldPath(), one)
      const cost = await spentBy(one)
      expect(cost).toBeGreaterThan(0)
      for (let slow = true, tries = 1; slow; tries++) {
        const { answers, spent } = await runAtOnce()
        // Where the store took longer than a second, an answer says so or is refused, and its bytes may not be counted.
        slow = answers.some(({ cache }) => !cache.endsWith('stored'))
        for (const { status, text } of answers)
          expect(status === 200 ? '' : text).toMatch(/^$|"code":"store_unavailable"/)
        if (slow) process.stdout.write(`the store was slow: ${spent} bytes of ${amounts.runs * cost}\n`)
        if (slow) expect(spent).toBeLessThanOrEqual(amounts.runs * cost)
        else expect(spent).toBe(amounts.runs * cost)
        expect(tries).toBeLessThan(20)
      }
    })

    test('the warmer’s answers are in the store and its lease is free when its report has been sent', async () => {
      const path = coldPath()
      await call(instances[0]!, path)
      const { id, fields } = await headOf(path)
      const stored = { ...(fields['stored'] as object), madeAt: Number(fields['usedAt']) - 400_000 }
      await service.services.store.update({ collection: 'answers', id }, { set: { stored, uses: 2 } })
      const response = await fetch(warm.url, { method: 'POST' })
      expect(await response.json()).toMatchObject({ refreshed: 1, failed: 0 })
      expect((await documentsIn('warming')).map(({ fields }) => Object.keys(fields))).toEqual([
        expect.not.arrayContaining(['lease']),
      ])
      expect((await headOf(path)).fields['stored']).not.toMatchObject({ madeAt: stored.madeAt })
    })

    const { rounds, callers, killEvery } = amounts
    test(
      `${rounds} rounds of ${amounts.instances} x ${callers} callers cost one job each, also where an instance is killed`,
      async () => {
        const counts = { rounds: 0, kills: 0, answered: 0, lost: 0, slow: 0, inserts: 0, jobs: 0 }
        const jobs = () => service.bigQuery!.jobs.count
        for (; counts.rounds < rounds; counts.rounds++) {
          const path = coldPath()
          const before = { inserts: runs(), jobs: jobs() }
          const killed = (counts.rounds + 1) % killEvery === 0 ? counts.rounds % instances.length : null
          const answers = instances.map(async (instance, at) => {
            const all = Array.from({ length: callers }, () => call(instance, path))
            if (at === killed) {
              await sleep(Math.random() * 100)
              await instance.replace()
              counts.kills++
            }
            return Promise.all(all)
          })
          const got = await Promise.all(answers)
          const kept = got.filter((_, at) => at !== killed).flat()
          expect(kept.map(({ status }) => status)).toEqual(kept.map(() => 200))
          expect(new Set(kept.map(({ text }) => text)).size).toBe(1)
          counts.answered += got.flat().filter(({ status }) => status === 200).length
          counts.lost += got.flat().filter(({ status }) => status !== 200).length
          // Where the store took longer than a second, the answer says so, and another run is right.
          const slow = kept.some(({ cache }) => cache.endsWith('fwd=miss'))
          if (slow) counts.slow++
          else expect(jobs() - before.jobs).toBe(1)
          if (killed === null && !slow) {
            expect(runs() - before.inserts).toBe(1)
            if (kept.some(({ cache }) => cache.endsWith('stored')))
              expect((await headOf(path)).fields).not.toHaveProperty('lease')
          }
          counts.inserts += runs() - before.inserts
          counts.jobs += jobs() - before.jobs
        }
        process.stdout.write(`${JSON.stringify(counts)}\n`)
        expect(counts.slow).toBeLessThanOrEqual(rounds / 2)
      },
      120_000 + rounds * 10_000,
    )

    const { losses, outageMs } = amounts
    test(`${losses} cold answers with lost acknowledgements cost one job each and count once`, async () => {
      const [one, many] = [await service.issue({ limits }), await service.issue({ limits })]
      for (const key of [one, many])
        for (const instance of instances) await call(instance, '/api/endpoints', key)
      await call(instances[0]!, coldPath(), one)
      const counts = { answers: 0, stored: 0 }
      for (; counts.answers < losses; counts.answers++) {
        const before = service.bigQuery!.jobs.count
        const answer = call(instances[counts.answers % instances.length]!, coldPath(), many)
        await sleep(Math.random() * 60)
        proxy.losePackets('requests')
        await sleep(150)
        proxy.breakConnections()
        const { status, cache } = await answer
        expect(status).toBe(200)
        if (cache.endsWith('stored')) counts.stored++
        expect(service.bigQuery!.jobs.count - before).toBe(1)
      }
      expect(await spentBy(many)).toBe(losses * (await spentBy(one)))
      process.stdout.write(`lost acknowledgements: ${JSON.stringify(counts)}\n`)
    }, 300_000)

    /** Calls each path at each instance again and again; all have to be answered. */
    async function callFor(ms: number, paths: string[]): Promise<number> {
      let answered = 0
      const until = performance.now() + ms
      const caller = async (instance: Instance) => {
        for (let i = 0; performance.now() < until; i++, answered++) {
          const { status, text } = await call(instance, paths[i % paths.length]!)
          expect([status, text]).toEqual([200, expect.stringContaining('"result"')])
        }
      }
      await Promise.all(instances.map(caller))
      return answered
    }

    const outage = outageMs > 0 ? test : () => {}
    outage(
      `while the store stands still for ${outageMs / 1000} s every hot answer is served`,
      async () => {
        const paths = [coldPath(), coldPath()]
        for (const instance of instances) for (const path of paths) await call(instance, path)
        process.kill(emulator.pid, 'SIGSTOP')
        try {
          const answered = await callFor(outageMs, paths)
          process.stdout.write(`without the store: ${answered} answered, none refused\n`)
          expect(answered).toBeGreaterThan(10)
        } finally {
          process.kill(emulator.pid, 'SIGCONT')
        }
        const healed = performance.now()
        while (!(await call(instances[0]!, coldPath())).cache.endsWith('stored')) await sleep(50)
        expect(performance.now() - healed).toBeLessThan(5000)
      },
      outageMs + 60_000,
    )

    outage(
      `while the engine is away for ${outageMs / 1000} s every warm answer is served, by few runs`,
      async () => {
        const paths = [coldPath(), coldPath(), coldPath()]
        for (const path of paths) {
          await call(instances[0]!, path)
          const { id, fields } = await headOf(path)
          const stored = { ...(fields['stored'] as object), madeAt: Number(fields['usedAt']) - 1_000_000 }
          await service.services.store.update({ collection: 'answers', id }, { set: { stored } })
        }
        await sleep(5000) // until memory looks at the store again
        const before = runs()
        service.bigQuery!.faults.add({ method: 'insert', effect: 'reset', times: Infinity })
        const answered = await callFor(outageMs, paths)
        service.bigQuery!.faults.clear()
        process.stdout.write(`without the engine: ${answered} answered, ${runs() - before} tries of a run\n`)
        expect(answered).toBeGreaterThan(10)
      },
      outageMs + 60_000,
    )

    test('nothing of all this is without an expiry, and no lease is left but of answers said not to be stored', async () => {
      const all = await Promise.all(['answers', 'spending', 'warming'].map(documentsIn))
      for (const { fields } of all.flat()) expect(fields['expireAt']).toBeInstanceOf(Date)
      const leases = all.flat().filter(({ fields }) => 'lease' in fields).length
      process.stdout.write(`${leases} leases left, ${notStored} answers not stored\n`)
      expect(leases).toBeLessThanOrEqual(notStored)
    })
  })
}
