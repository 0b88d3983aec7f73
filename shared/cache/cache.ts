/**
 * Reading through the cache: one engine run for each cold key over all processes, stale copies while someone refreshes
 * or the engine fails, and no answer that waits for its own publishing. The protocol and its evidence: cache.md.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../stores/timeout.ts'
import { ApiError } from '../errors.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { type CacheRequest, type CacheTimes, cacheTimes, type CacheResult } from './ask.ts'
import { deadlines } from './deadline.ts'
import { afterFailure, again, asApiError, isMistake } from './failures.ts'
import { failureFields, firstFields, type Head, headAt } from './head.ts'
import { Kept } from './entries.ts'
import { cacheKey, type CacheKeyFields } from './key.ts'
import { type Lease, takeLease } from './lease.ts'
import type { Remembered } from './memory.ts'
import { publish } from './publish.ts'

interface Flight {
  promise: Promise<CacheResult>
  /** Set while the engine runs to replace a stale copy: others need not wait. */
  stale: (() => Promise<CacheResult | null>) | null
}

/** Without the store there are no leases, so few at a time may run the engine. */
const maxRunsWithoutStore = 4
/** A payload may be replaced while it is read; one that stays unreadable is made anew. */
const maxTornReads = 3
/** A use is noted at most this often by one process for one key. */
const noteEveryMs = 60_000

export class AnswerCache {
  private readonly store: Store
  private readonly times: CacheTimes
  private readonly kept: Kept
  private readonly flights = new Map<string, Flight>()
  private readonly background = new Set<Promise<unknown>>()
  private storeDownUntil = 0
  private runsWithoutStore = 0

  constructor(store: Store, times: Partial<CacheTimes> = {}) {
    this.store = store
    this.kept = new Kept(store)
    this.times = { ...cacheTimes, ...times }
  }

  /** @throws ApiError */
  async read(ask: CacheRequest): Promise<CacheResult> {
    const key = cacheKey(ask.keyFields)
    const hot = ask.bypass ? null : this.hotAt(key, ask.freshMs)
    if (hot) return hot
    const lane = ask.bypass ? `${key}!` : key
    const flight = this.flights.get(lane)
    if (!flight) return this.takeOff(lane, key, ask)
    const stale = await flight.stale?.()
    if (stale) return stale
    const served = await flight.promise
    return served.status === 'miss' || served.status === 'revalidated'
      ? { ...served, status: 'collapsed' }
      : served
  }

  /** A fresh answer that is there already, from memory or store; `null` where there is none or the store is down. */
  async peek(keyFields: CacheKeyFields, freshMs: number): Promise<Remembered | null> {
    const key = cacheKey(keyFields)
    try {
      const head = await this.kept.look(key, keyFields)
      if (!head?.stored || this.kept.ageOf(head.stored.madeAt) >= freshMs) return null
      return await this.kept.load(key, head)
    } catch (error) {
      if (error instanceof StoreError) return null
      throw error
    }
  }

  /** As `peek`, for a caller who may have no run made. */
  async fresh(keyFields: CacheKeyFields, freshMs: number): Promise<CacheResult | null> {
    const found = await this.peek(keyFields, freshMs)
    return found && this.serve(found, 'hit')
  }

  /** A fresh answer for which neither engine nor store is asked; `null` where there is none. */
  hot(keyFields: CacheKeyFields, freshMs: number): CacheResult | null {
    return this.hotAt(cacheKey(keyFields), freshMs)
  }

  /** Waits for what is still being published. */
  async close(): Promise<void> {
    while (this.background.size > 0) await Promise.allSettled(this.background)
  }

  private async takeOff(lane: string, key: string, ask: CacheRequest): Promise<CacheResult> {
    const flight: Flight = { promise: Promise.resolve() as never, stale: null }
    flight.promise = this.fly(key, ask, flight).finally(() => this.flights.delete(lane))
    this.flights.set(lane, flight)
    return flight.promise
  }

  private async fly(key: string, ask: CacheRequest, flight: Flight): Promise<CacheResult> {
    if (performance.now() < this.storeDownUntil) return this.withoutStore(key, ask)
    try {
      return await this.throughStore(key, ask, flight)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      if (error.reason === 'unavailable') this.storeDownUntil = performance.now() + this.times.storeDownMs
      return this.withoutStore(key, ask)
    }
  }

  /** Looks at the head until there is something to serve, or the lease to make it. */
  private async throughStore(key: string, ask: CacheRequest, flight: Flight): Promise<CacheResult> {
    const giveUpAt = performance.now() + ask.timeoutMs + this.times.leaseMs
    let passed: string | null | undefined
    let torn = 0
    for (let waited = false; performance.now() < giveUpAt; waited = true) {
      const head = await this.kept.look(key, ask.keyFields, waited || undefined)
      if (passed === undefined) passed = head?.stored?.generation ?? null
      const usable = head?.stored && torn < maxTornReads
      const age = usable ? this.kept.ageOf(head.stored!.madeAt) : Number.POSITIVE_INFINITY
      if (head && age < ask.freshMs && !(ask.bypass && head.stored?.generation === passed)) {
        const loaded = await this.kept.load(key, head)
        if (!loaded) {
          torn++
          continue
        }
        this.noteUse(key, ask, head)
        return this.serve(loaded, waited ? 'collapsed' : 'hit')
      }
      const stale = head && age < ask.freshMs + this.times.staleMs ? () => this.serveStale(key, head) : null
      if (head?.failure && this.kept.ageOf(head.failure.at) < head.failure.ms && !ask.bypass)
        return this.afterFailed(again(head.failure, this.kept.clock.now()), stale)
      if (head && head.leasedUntil > this.kept.clock.now()) {
        const copy = await stale?.()
        if (copy && !ask.bypass) return copy
        await sleep(this.times.pollMs)
        continue
      }
      const lease = await this.lease(key, ask.keyFields, head)
      if (lease) {
        flight.stale = stale
        return this.runUnder(lease, { key, ask, head, stale })
      }
    }
    throw new ApiError('engine_unavailable', 'Another run of this query has not finished in time.', {
      headers: { 'Retry-After': '5' },
    })
  }

  private async runUnder(
    lease: Lease,
    { key, ask, head, stale }: { key: string; ask: CacheRequest; head: Head | null; stale: Flight['stale'] },
  ): Promise<CacheResult> {
    try {
      const { answer, madeAt = lease.takenAt } = await ask.make(ask.bypass ? undefined : jobKeyOf(key, head))
      const remembered = this.kept.remember(key, { answer, madeAt, generation: null })
      this.inBackground(this.publish(key, ask, lease, head, remembered))
      return this.serve(remembered, head?.stored ? 'revalidated' : 'miss', true)
    } catch (thrown) {
      const error = asApiError(thrown)
      const failure = afterFailure(head?.failure ?? null, error, this.kept.clock.now())
      this.inBackground(lease.finish({ failure: failureFields(failure) }, []))
      return this.afterFailed(again(failure, failure.at), stale)
    }
  }

  private async publish(
    key: string,
    ask: CacheRequest,
    lease: Lease,
    before: Head | null,
    made: Remembered,
  ): Promise<void> {
    const { answer, madeAt } = made
    const expireAt = new Date(madeAt + ask.freshMs + this.times.staleMs)
    try {
      made.generation = await publish(this.store, { key, lease, before, answer, madeAt, expireAt })
    } finally {
      lease.abandon()
    }
  }

  /** A mistake of the caller is told; a failure of the engine is covered by a stale copy where there is one. */
  private async afterFailed(error: ApiError, stale: Flight['stale']): Promise<CacheResult> {
    const copy = isMistake(error) ? null : await stale?.()
    if (!copy) throw error
    return { ...copy, failure: error }
  }

  private async withoutStore(key: string, ask: CacheRequest): Promise<CacheResult> {
    const known = this.kept.inMemory(key)
    const age = known ? this.kept.ageOf(known.madeAt) : Number.POSITIVE_INFINITY
    if (known && age < ask.freshMs + this.times.staleMs)
      return this.serve(known, age < ask.freshMs ? 'hit' : 'stale')
    if (this.runsWithoutStore >= maxRunsWithoutStore)
      throw new ApiError('store_unavailable', 'The service is short of its store at the moment.', {
        headers: { 'Retry-After': '2' },
      })
    this.runsWithoutStore++
    try {
      const { answer, madeAt = this.kept.clock.now() } = await ask.make()
      return this.serve(this.kept.remember(key, { answer, madeAt, generation: null }), 'miss')
    } finally {
      this.runsWithoutStore--
    }
  }

  private async lease(key: string, keyFields: CacheKeyFields, head: Head | null): Promise<Lease | null> {
    const fields = head ? {} : firstFields(keyFields, this.kept.clock.now())
    const lease = await takeLease(this.store, headAt(key), head?.version ?? null, fields, this.times)
    if (lease) this.kept.clock.observe(lease.takenAt)
    return lease
  }

  private noteUse(key: string, ask: CacheRequest, head: Head): void {
    const now = this.kept.clock.now()
    const due = now - head.usedAt > Math.max(ask.freshMs / 4, noteEveryMs)
    if (!ask.noteUse || !due || head.leasedUntil > now) return
    const set = { usedAt: now, uses: head.uses + 1 }
    this.inBackground(withTimeout(deadlines.lease, this.store.update(headAt(key), { set }, head.version)))
  }

  private async serveStale(key: string, head: Head): Promise<CacheResult | null> {
    const loaded = await this.kept.load(key, head)
    return loaded && this.serve(loaded, 'stale')
  }

  private serve({ answer, madeAt }: Remembered, status: CacheResult['status'], stored = false): CacheResult {
    return { answer, status, stored, madeAt, ageMs: this.kept.ageOf(madeAt), failure: null }
  }

  private hotAt(key: string, freshMs: number): CacheResult | null {
    const known = this.kept.inMemory(key)
    if (!known || performance.now() - known.checkedAt >= this.times.memoryMs) return null
    return this.kept.ageOf(known.madeAt) < freshMs ? this.serve(known, 'hit') : null
  }

  /** Nobody waits for it and its failure costs nobody anything: the lease runs out, the next reader runs anew. */
  private inBackground(work: Promise<unknown>): void {
    const settled = work.catch(() => {}).finally(() => this.background.delete(settled))
    this.background.add(settled)
  }
}

/** What the head says before a run: a run that ends, well or badly, changes it, and one whose holder dies does not. */
function jobKeyOf(key: string, head: Head | null): string {
  return [key, head?.stored?.generation ?? '', head?.failure?.at ?? ''].join('.')
}
