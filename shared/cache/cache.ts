/**
 * The answer cache: a hit, a stale copy while another caller refreshes or the engine fails, or one run of the engine for
 * each cold key over all processes. `readThroughStore` decides which. shared/cache/README.md is the protocol.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../answers/answer.ts'
import { BytesInFlight } from '../answers/in-flight.ts'
import { ApiError } from '../errors.ts'
import { describeError, type Log } from '../log.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { withTimeout } from '../stores/calls.ts'
import type { Timing } from '../timing.ts'
import { CacheEntries, type CacheEntry } from './entries.ts'
import {
  asApiError,
  cacheKey,
  type CacheKeyFields,
  failureFields,
  firstFields,
  type Head,
  headAt,
  isMistake,
  isOfCaller,
  isOfQuery,
  nextFailure,
  recordedError,
} from './head.ts'
import { type Lease, takeLease } from './lease.ts'
import { publish } from './payload.ts'
import { type CacheTimes, cacheTimes, noteEveryMs } from './durations.ts'

export interface CacheRequest {
  keyFields: CacheKeyFields
  /** How long an answer counts as fresh, milliseconds. */
  freshMs: number
  /** Less than `freshMs`, where this caller needs a younger answer. */
  maxAgeMs?: number
  /** Whether another request's `make` waits for it, so that it counts with that. */
  isWithin?: boolean
  /** The longest that `make` may take, milliseconds. */
  timeoutMs: number
  /** Whether reads are recorded for the warmer. */
  noteUse: boolean
  /** The interval of the warmer, milliseconds; absent = none. */
  warmMs?: number
  /** Only an answer of a run that began after this request will do: no copy, not even where the engine fails. */
  bypass: boolean
  /** The most bytes that `make` may read for this caller; absent = any number. */
  maxBytes?: number
  /** The error of a run as it is for this caller, who may be the one to avoid it, or not; by default as it is. */
  blame?: (error: ApiError) => ApiError
  /** Takes the step `store`: the wait for what is written of the answer. */
  timing?: Timing
  /**
   * Runs the engine. `startedAt` is the store's time, or NaN where it never answered. Two calls have the same `jobKey`
   * only where the second took the lease of a process that died, so that the engine can adopt the first one's job.
   * `madeAt` (store time) is given where the answer is as of an earlier time: it was derived from an older one.
   */
  make(startedAt: number, jobKey?: string): Promise<{ answer: Answer; madeAt?: number }>
}

export interface CacheResult {
  answer: Answer
  /** `collapsed` (RFC 9211) = another caller's run; `revalidated` = a run that replaces an older answer. */
  status: 'hit' | 'stale' | 'miss' | 'revalidated' | 'collapsed'
  /** Whether the answer is in the store. */
  stored: boolean
  /** Store time as of which the answer is: when the engine began, or earlier; NaN where the store never answered. */
  madeAt: number
  ageMs: number
  /** Why a stale copy is served and not a new answer, where the engine failed. */
  failure: ApiError | null
}

/** Loads the copy that may be served although it is no longer fresh. */
type StaleCopy = () => Promise<CacheResult | null>

/** A look-up under way in this process, which later callers with the same key join. */
interface Flight {
  /** Its key in `flights`. A bypassing look-up is joined only until its engine begins. */
  key: string
  result: Promise<CacheResult>
  maxBytes: number
  /** Set while the engine refreshes a stale copy: later callers get the copy at once. */
  staleCopy: StaleCopy | null
}

/** A look-up that has to run the engine. */
interface Miss {
  key: string
  request: CacheRequest
  /** As it was when the lease was taken. */
  head: Head | null
  staleCopy: StaleCopy | null
  flight: Flight
}

/** Without the store there are no leases, so each process bounds its own runs. */
const maxRunsWithoutStore = 4
/** A payload may be replaced while it is read; one that stays unreadable counts as missing. */
const maxTornReads = 3

/** When an answer serves: as it is; while a run for a new one goes on, or where that fails; no longer. */
type Freshness = 'fresh' | 'stale' | 'expired'

/** Answers through memory and store, for one process. */
export class AnswerCache {
  private readonly store: Store
  private readonly times: CacheTimes
  private readonly log: Log
  private readonly entries: CacheEntries
  private readonly flights = new Map<string, Flight>()
  private readonly background = new Set<Promise<unknown>>()
  private outage: { until: number; error: StoreError } | null = null
  private runsWithoutStore = 0

  constructor(
    store: Store,
    times: Partial<CacheTimes> = {},
    log: Log = () => {},
    inFlight = new BytesInFlight(Infinity),
  ) {
    this.store = store
    this.times = { ...cacheTimes, ...times }
    this.log = log
    this.entries = new CacheEntries(store, inFlight)
  }

  /**
   * One look-up at a time for each key in this process.
   * @throws ApiError
   */
  async read(request: CacheRequest): Promise<CacheResult> {
    const key = cacheKey(request.keyFields)
    const hot = request.bypass ? null : this.hotAt(key, request.maxAgeMs ?? request.freshMs)
    if (hot) return hot
    const flightKey = request.bypass ? `${key}!` : key
    const { maxBytes = Infinity } = request
    const joined = this.flights.get(flightKey)
    if (joined)
      return join(joined).catch((error: unknown) => {
        // The run was refused for the budget of the caller who began it, and this one has more left.
        if (isOfCaller(error) && maxBytes > joined.maxBytes) return this.read(request)
        throw error
      })
    const flight = { key: flightKey, maxBytes, staleCopy: null } as Flight
    this.flights.set(flightKey, flight) // before the look-up: without the store the engine begins at once
    flight.result = this.lookUp(key, request, flight).finally(() => this.leave(flight))
    return flight.result
  }

  private leave(flight: Flight): void {
    if (this.flights.get(flight.key) === flight) this.flights.delete(flight.key)
  }

  /** Runs the engine. From now on another bypassing caller must not join, as this run began before it came. */
  private make(
    request: CacheRequest,
    flight: Flight,
    startedAt: number,
    jobKey?: string,
  ): ReturnType<CacheRequest['make']> {
    if (request.bypass) this.leave(flight)
    return request.make(startedAt, jobKey)
  }

  /** A fresh answer from memory or store, without a run; `null` where there is none or the store fails. */
  async peek(keyFields: CacheKeyFields, freshMs: number): Promise<CacheResult | null> {
    const key = cacheKey(keyFields)
    try {
      const head = await this.entries.readHead(key, keyFields)
      if (!head?.stored || this.freshnessOf(head.stored.madeAt, { freshMs }) !== 'fresh') return null
      const entry = await this.entries.load(key, head)
      return entry && this.result(entry, 'hit')
    } catch (error) {
      if (error instanceof StoreError) return null
      throw error
    }
  }

  /** A fresh answer that needs neither engine nor store; `null` where there is none. */
  hot(keyFields: CacheKeyFields, freshMs: number): CacheResult | null {
    return this.hotAt(cacheKey(keyFields), freshMs)
  }

  /** Waits for writes that took longer than their answers waited. */
  async close(): Promise<void> {
    while (this.background.size > 0) await Promise.allSettled(this.background)
  }

  private async lookUp(key: string, request: CacheRequest, flight: Flight): Promise<CacheResult> {
    if (this.outage && performance.now() < this.outage.until)
      return this.readWithoutStore(key, request, flight, this.outage.error)
    try {
      return await this.readThroughStore(key, request, flight)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.logStoreFailure(error)
      if (error.reason === 'unavailable')
        this.outage = { until: performance.now() + this.times.storeDownMs, error }
      return this.readWithoutStore(key, request, flight, error)
    }
  }

  /**
   * Looks at the head until one of these holds: a fresh answer (a hit), a recorded failure, a stale copy while another
   * process runs the engine, or the lease to run it here (a miss). A bypassing request takes the lease alone.
   */
  private async readThroughStore(key: string, request: CacheRequest, flight: Flight): Promise<CacheResult> {
    const giveUpAt = performance.now() + request.timeoutMs + this.times.leaseMs
    const { bypass } = request
    let tornReads = 0
    for (let waited = false; performance.now() < giveUpAt; waited = true) {
      const head = await this.entries.readHead(key, request.keyFields, waited || undefined)
      const now = this.entries.clock.now()
      const stored = !bypass && tornReads < maxTornReads ? head?.stored : null
      const freshness = stored ? this.freshnessOf(stored.madeAt, request) : 'expired'
      const staleCopy = head && freshness !== 'expired' ? () => this.loadStale(key, head) : null

      if (head && freshness === 'fresh') {
        const entry = await this.entries.load(key, head)
        if (entry) {
          await this.noteUse(key, request, head)
          return this.result(entry, waited ? 'collapsed' : 'hit')
        }
        tornReads++
      } else if (head?.failure && now < head.failure.at + head.failure.ms && !bypass) {
        return this.coverFailure(assignBlame(request, recordedError(head.failure, now)), staleCopy)
      } else if (head && head.leasedUntil > now) {
        const copy = await staleCopy?.()
        if (copy) return copy
        await sleep(this.times.pollMs)
      } else {
        flight.staleCopy = staleCopy
        const lease = await this.takeLease(key, request, head)
        if (lease) return this.run(lease, { key, request, head, staleCopy, flight })
      }
    }
    throw new ApiError('engine_unavailable', 'Another run of this query has not finished in time.')
  }

  /** Runs the engine under the lease, and stores the answer or the failure before it gives either. */
  private async run(lease: Lease, { key, request, head, staleCopy, flight }: Miss): Promise<CacheResult> {
    try {
      const jobKey = request.bypass ? undefined : jobKeyOf(key, head)
      const { answer, madeAt = lease.takenAt } = await this.make(request, flight, lease.takenAt, jobKey)
      const entry = this.entries.remember(key, { answer, madeAt, generation: null })
      const expireAt = this.expiryOf(request, madeAt)
      const published = publish(this.store, { key, lease, before: head, answer, madeAt, expireAt })
      const generation = await this.awaitWrite(
        request,
        published.then(made => (entry.generation = made)),
      )
      return this.result(entry, head?.stored ? 'revalidated' : 'miss', generation !== null)
    } catch (thrown) {
      const error = assignBlame(request, asApiError(thrown))
      if (!isOfQuery(error)) {
        await this.awaitWrite(request, lease.finish({}, []))
        return this.coverFailure(error, staleCopy)
      }
      const { backOffMs } = this.times
      const failure = nextFailure(head?.failure ?? null, error, { now: this.entries.clock.now(), backOffMs })
      await this.awaitWrite(request, lease.finish({ failure: failureFields(failure) }, []))
      return this.coverFailure(recordedError(failure, failure.at), staleCopy)
    }
  }

  /** A stale copy covers a failure of the engine; a caller's own mistake is always answered as such. */
  private async coverFailure(error: ApiError, staleCopy: StaleCopy | null): Promise<CacheResult> {
    const copy = isMistake(error) ? null : await staleCopy?.()
    if (!copy) throw error
    return { ...copy, failure: error }
  }

  private async readWithoutStore(
    key: string,
    request: CacheRequest,
    flight: Flight,
    cause: StoreError,
  ): Promise<CacheResult> {
    const known = request.bypass ? undefined : this.entries.inMemory(key)
    const freshness = known ? this.freshnessOf(known.madeAt, request) : 'expired'
    if (known && freshness !== 'expired') return this.result(known, freshness === 'fresh' ? 'hit' : 'stale')
    if (this.runsWithoutStore >= maxRunsWithoutStore && !request.isWithin)
      throw new ApiError(
        'store_unavailable',
        'The store is not available at the moment, and memory has no answer.',
        { cause },
      )
    this.runsWithoutStore++
    try {
      const startedAt = this.entries.clock.now()
      const { answer, madeAt = this.entries.clock.now() } = await this.make(request, flight, startedAt)
      return this.result(this.entries.remember(key, { answer, madeAt, generation: null }), 'miss')
    } finally {
      this.runsWithoutStore--
    }
  }

  private async takeLease(key: string, request: CacheRequest, head: Head | null): Promise<Lease | null> {
    const now = this.entries.clock.now()
    const first = head ? {} : firstFields(request.keyFields, now)
    const fields = { ...first, expireAt: this.expiryOf(request, now) }
    const lease = await takeLease(this.store, headAt(key), head?.version ?? null, fields, this.times)
    if (lease) this.entries.clock.observe(lease.takenAt)
    return lease
  }

  /** When the store may delete the document of an answer; readers do not depend on it. @param madeAt store time */
  private expiryOf({ freshMs }: CacheRequest, madeAt: number): Date {
    return new Date(madeAt + freshMs + this.times.staleMs)
  }

  /** Records a use for the warmer, unless a recent one is recorded or a lease is taken, which the write would break. */
  private async noteUse(key: string, request: CacheRequest, head: Head): Promise<void> {
    const now = this.entries.clock.now()
    const everyMs = Math.max(request.freshMs / 4, noteEveryMs)
    // The second use, from which on the warmer takes it for one in use, before the first interval ends.
    const { warmMs = Infinity } = request
    const isDue = now - head.usedAt > (head.uses < 2 ? Math.min(everyMs, warmMs / 4) : everyMs)
    if (!request.noteUse || !isDue || head.leasedUntil > now) return
    const set = { usedAt: now, uses: head.uses + 1 }
    await this.awaitWrite(request, this.store.update(headAt(key), { set }, head.version))
  }

  /** `null` also where the store fails: then it is as if there were no copy. */
  private async loadStale(key: string, head: Head): Promise<CacheResult | null> {
    try {
      const entry = await this.entries.load(key, head)
      return entry && this.result(entry, 'stale')
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.logStoreFailure(error)
      return null
    }
  }

  private result({ answer, madeAt }: CacheEntry, status: CacheResult['status'], stored = false): CacheResult {
    return { answer, status, stored, madeAt, ageMs: this.entries.ageOf(madeAt), failure: null }
  }

  private hotAt(key: string, freshMs: number): CacheResult | null {
    const entry = this.entries.inMemory(key)
    if (!entry || performance.now() - entry.checkedAt >= this.times.memoryMs) return null
    return this.freshnessOf(entry.madeAt, { freshMs }) === 'fresh' ? this.result(entry, 'hit') : null
  }

  /** How an answer made at that store time serves a request. */
  private freshnessOf(
    madeAt: number,
    { freshMs, maxAgeMs = freshMs }: Pick<CacheRequest, 'freshMs' | 'maxAgeMs'>,
  ): Freshness {
    const ageMs = this.entries.ageOf(madeAt)
    if (ageMs < maxAgeMs) return 'fresh'
    return ageMs < freshMs + this.times.staleMs ? 'stale' : 'expired'
  }

  /**
   * Waits for a write before the response may end, for `writeMs` at most; a later one goes on while the process can. Where
   * it fails, the lease expires and a later request runs the engine again.
   * @returns `null` where nothing is known to be written
   */
  private async awaitWrite<T>({ timing }: CacheRequest, write: Promise<T>): Promise<T | null> {
    const failed = (error: unknown): null => {
      this.logStoreFailure(error)
      return null
    }
    const settled = write.catch(failed).finally(() => this.background.delete(settled))
    this.background.add(settled)
    const wait = () => withTimeout(this.times.writeMs, settled).catch(failed)
    return timing ? timing.measure('store', wait) : wait()
  }

  /** A conflict is no failure: another process was faster. */
  private logStoreFailure(error: unknown): void {
    if (error instanceof StoreError && error.reason !== 'conflict')
      this.log('WARNING', 'the store failed', describeError(error))
  }
}

/** Applied to a new error and to a recorded one, as callers of one cache key may differ in what they can avoid. */
function assignBlame({ blame }: CacheRequest, error: ApiError): ApiError {
  return blame ? blame(error) : error
}

/** Waits for another caller's look-up in this process, or takes its stale copy. */
async function join({ result, staleCopy }: Flight): Promise<CacheResult> {
  const copy = await staleCopy?.()
  if (copy) return copy
  const shared = await result
  return shared.status === 'miss' || shared.status === 'revalidated'
    ? { ...shared, status: 'collapsed' }
    : shared
}

/** A run that ends changes what the head says here, whether it succeeds or fails; a run whose holder dies does not. */
function jobKeyOf(key: string, head: Head | null): string {
  return [key, head?.stored?.generation ?? '', head?.failure?.at ?? ''].join('.')
}
