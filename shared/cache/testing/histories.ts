/**
 * Random histories of callers, processes and faults over one store, against a plain model: what an answer may be, given
 * the runs there were. A history is a function of its seed, but for the order in which the machine carries it out.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../errors.ts'
import { openByteLimits } from '../../keys/limits.ts'
import { type Store, StoreError } from '../../stores/store.ts'
import { openSqlite } from '../../stores/sqlite/store.ts'
import { type Faults, withFaults } from '../../stores/testing/faults.ts'
import { playSeeds, type Random, randomFrom, type Seeds } from '../../testing/histories.ts'
import { AnswerCache, type CacheRequest, type CacheResult } from '../cache.ts'
import { claim, claimTogether } from '../refresh-claim.ts'
import { answersCollection, cacheKey, type CacheKeyFields, headAt, headOf } from '../head.ts'
import { made, quick, textOf } from './requests.ts'

interface Counts {
  reads: number
  runs: number
  errors: number
  faults: number
  kills: number
}

const times = { ...quick, leaseMs: 60, renewMs: 20, pollMs: 3, storeDownMs: 2, backOffMs: 5 }
const dayMs = 86_400_000

interface Model {
  /** Texts that the engine made for each key. */
  made: Map<string, Set<string>>
  /** For each key: the number of the latest run whose answer was reported as stored. */
  stored: Map<string, number>
  /** Errors that the engine gave for each key. */
  failed: Map<string, Set<string>>
  /** Runs so far; each is numbered as it begins. */
  run: number
  /** When the store failed last, monotonic. */
  faultAt: number
}

/**
 * Carries out histories by their seeds, some at a time, each in a new store.
 * @throws Error that names the seed, for anything that the model does not allow
 */
export function playHistories(seeds: Seeds): Promise<Counts> {
  return playSeeds(seeds, playHistory)
}

async function playHistory(seed: number): Promise<Counts> {
  const plain = openSqlite({ file: ':memory:' })
  const history = new History(seed, plain)
  try {
    return await history.play()
  } finally {
    await plain.close()
  }
}

interface Process {
  cache: AnswerCache
  store: Store
  /** A killed process gets no answer of the store, and gives none. */
  killed: Promise<'killed'>
  kill(): void
}

class History {
  private readonly random: Random
  private readonly plain: Store
  private readonly model: Model = {
    made: new Map(),
    stored: new Map(),
    failed: new Map(),
    run: 0,
    faultAt: -Infinity,
  }
  private readonly counts: Counts = { reads: 0, runs: 0, errors: 0, faults: 0, kills: 0 }
  private readonly processes: Process[]
  /** Of 100 store calls, how many fail before they do anything, and how many lose their acknowledgement. */
  private faulty = { before: 0, after: 0 }
  private spent = 0
  /** The store answers a killed process with an error at the end. */
  private readonly over = Promise.withResolvers<never>()

  constructor(seed: number, plain: Store) {
    this.random = randomFrom(seed)
    this.plain = plain
    this.processes = [this.start(), this.start(), this.start()]
  }

  async play(): Promise<Counts> {
    const callers: Promise<void>[] = []
    for (let step = 8 + this.random(12); step > 0; step--) {
      callers.push(this.act())
      if (this.random(3) === 0) await sleep(this.random(8))
    }
    try {
      await Promise.all(callers)
      await this.endWell()
      return this.counts
    } finally {
      this.over.promise.catch(() => {})
      this.over.reject(new StoreError('unavailable', 'the process was killed'))
    }
  }

  private act(): Promise<void> {
    const kind = this.random(20)
    if (kind < 12) return this.read(this.keyFields(), this.random(5) === 0)
    if (kind < 14) return this.warm(this.keyFields())
    if (kind < 16) return this.spend()
    if (kind < 17) return this.kill()
    this.faulty = kind < 19 ? { before: this.random(60), after: this.random(60) } : { before: 0, after: 0 }
    return Promise.resolve()
  }

  private keyFields(): CacheKeyFields {
    return { endpointId: 'e', version: 'v', parameters: String(this.random(2)), sql: null, variant: 'clear' }
  }

  private start(): Process {
    const { promise: killed, resolve } = Promise.withResolvers<'killed'>()
    let isDead = false
    const fail = (share: number) => {
      if (isDead) return this.over.promise
      if (this.random(100) >= share) return undefined
      this.model.faultAt = performance.now()
      this.counts.faults++
      throw new StoreError('unavailable', 'a fault of the history')
    }
    const faults: Faults = {
      before: () => fail(this.faulty.before),
      after: () => fail(this.faulty.after),
    }
    const store = withFaults(this.plain, faults)
    const kill = () => {
      isDead = true
      resolve('killed')
    }
    return { cache: new AnswerCache(store, times), store, killed, kill }
  }

  /** A random one; by its index, as it may be replaced. */
  private anyProcess(): Process {
    return this.processes[this.random(this.processes.length)]!
  }

  private async kill(): Promise<void> {
    const index = this.random(this.processes.length)
    this.processes[index]!.kill()
    this.processes[index] = this.start()
    this.counts.kills++
  }

  /** What a run of the engine does is drawn when it begins. */
  private makeFor(key: string): CacheRequest['make'] {
    return async () => {
      const run = ++this.model.run
      this.counts.runs++
      const [ms, fate] = [this.random(10), this.random(24)]
      await sleep(ms)
      if (fate < 4) {
        const error = new ApiError(fate === 0 ? 'invalid_query' : 'engine_error', `of run ${run}`)
        entryOf(this.model.failed, key, new Set()).add(error.code)
        throw error
      }
      const text = JSON.stringify({ key, run })
      entryOf(this.model.made, key, new Set()).add(text)
      return { answer: made(text) }
    }
  }

  private async read(keyFields: CacheKeyFields, bypass: boolean): Promise<void> {
    const key = cacheKey(keyFields)
    const from = this.anyProcess()
    const before = { run: this.model.run, stored: this.model.stored.get(key) ?? 0, at: performance.now() }
    const freshMs = this.random(3) === 0 ? 0 : 60_000
    const make = this.makeFor(key)
    const request = { keyFields, freshMs, timeoutMs: 20_000, noteUse: true, bypass, make }
    this.counts.reads++
    const outcome = from.cache.read(request).catch((error: unknown) => error)
    const result = await Promise.race([outcome, from.killed])
    if (result === 'killed') return
    if (result instanceof Error) return this.checkError(key, result)
    await this.checkAnswer(key, result as CacheResult, before, bypass)
  }

  private checkError(key: string, error: Error): void {
    this.counts.errors++
    if (!(error instanceof ApiError)) throw error
    const { code } = error
    if (code === 'store_unavailable' && this.counts.faults > 0) return
    if (code === 'engine_unavailable') throw new Error('a wait that did not end', { cause: error })
    if (!this.model.failed.get(key)?.has(code))
      throw new Error('an error that the engine did not give', { cause: error })
  }

  private async checkAnswer(
    key: string,
    result: CacheResult,
    before: { run: number; stored: number; at: number },
    bypass: boolean,
  ): Promise<void> {
    const text = await textOf(result)
    const { run } = JSON.parse(text) as { run: number }
    if (!this.model.made.get(key)?.has(text)) throw new Error(`an answer that was not made: ${text}`)
    if (bypass && run <= before.run)
      throw new Error(`a bypassing caller got run ${run} of ${before.run} before it`)
    // While the store fails, and for `storeDownMs` after it, memory answers.
    const isSure = this.model.faultAt < before.at - 50
    if (result.status === 'hit' && isSure && run < before.stored)
      throw new Error(`a hit of run ${run}, where ${before.stored} was stored before`)
    if (!result.stored) return
    this.model.stored.set(key, Math.max(run, this.model.stored.get(key) ?? 0))
    const { document } = await this.plain.get({ collection: answersCollection, id: key })
    if (!document?.fields['stored']) throw new Error('an answer reported as stored that is not')
  }

  /** As the warmer does, with a lease or as one of a batch. */
  private async warm(keyFields: CacheKeyFields): Promise<void> {
    const { store, killed } = this.anyProcess()
    const together = this.random(2) === 0
    const make = this.makeFor(cacheKey(keyFields))
    const act = async () => {
      const { document, readAt } = await store.get(headAt(cacheKey(keyFields)))
      const head = document && headOf(document)
      if (!head) return
      const wanted = { keyFields, freshMs: 60_000, olderThanMs: 0 }
      const held = together
        ? claimTogether(store, { head, freshMs: 60_000, startedAt: readAt })
        : await claim(store, wanted, times)
      if (typeof held === 'string') return
      const outcome = await make(readAt).catch((error: ApiError) => error)
      if (outcome instanceof ApiError) await held.fail(outcome)
      else if (!(await held.store(outcome.answer))) await held.release()
    }
    await Promise.race([act().catch(ifStoreError), killed])
  }

  /** Each addition counts once, or, where the store failed, not at all. */
  private async spend(): Promise<void> {
    const { store, killed } = this.anyProcess()
    const bytes = 1 + this.random(1000)
    const limits = { callsPerMinute: null, bytesPerDay: 1e12 }
    const limit = openByteLimits(store)({ keyId: 'k', limits })!
    await Promise.race([limit.today().then(allowance => allowance.spend(bytes)), killed])
    const day = Math.floor(Date.now() / dayMs)
    const { document } = await this.plain.get({ collection: 'spending', id: `k.${day}` })
    this.spent = Number(document?.fields['bytes'] ?? 0)
  }

  /** Without faults every key has an answer again, no lease is left, and every document expires. */
  private async endWell(): Promise<void> {
    this.faulty = { before: 0, after: 0 }
    await sleep(times.storeDownMs + 2)
    const last = this.start()
    for (const parameters of ['0', '1']) {
      const keyFields = { ...this.keyFields(), parameters }
      const key = cacheKey(keyFields)
      const make = async () => ({ answer: made(JSON.stringify({ key, run: 'last' })) })
      const request = { keyFields, freshMs: 60_000, timeoutMs: 20_000, noteUse: false, bypass: true, make }
      // On a busy machine even this store takes longer than the cache waits, now and then.
      let tries = 5
      while (!(await last.cache.read(request)).stored)
        if (--tries === 0) throw new Error('an answer that cannot be stored at the end')
    }
    await Promise.all([last, ...this.processes].map(({ cache }) => cache.close()))
    for (const collection of [answersCollection, 'spending'])
      for (const { id, fields } of (await this.plain.query({ collection, limit: 1000 })).documents) {
        if (!(fields['expireAt'] instanceof Date)) throw new Error(`${collection}/${id} does not expire`)
        if ('lease' in fields) throw new Error(`${collection}/${id} has a lease left`)
      }
    await this.checkSpending()
  }

  /** The sum is that of the runs' own documents. */
  private async checkSpending(): Promise<void> {
    const { documents } = await this.plain.query({ collection: 'spending', limit: 1000 })
    const isRun = /^k\.\d+\..+$/
    const runs = documents.filter(({ id }) => isRun.test(id)).map(({ fields }) => Number(fields['bytes']))
    const sums = documents.filter(({ id }) => !isRun.test(id)).map(({ fields }) => Number(fields['bytes']))
    const total = (all: number[]) => all.reduce((sum, one) => sum + one, 0)
    if (total(runs) !== total(sums)) throw new Error(`spent ${total(sums)}, and the runs say ${total(runs)}`)
    if (total(sums) < this.spent) throw new Error('a sum that became less')
  }
}

function ifStoreError(error: unknown): void {
  if (!(error instanceof StoreError)) throw error
}

function entryOf<K, V>(map: Map<K, V>, key: K, first: V): V {
  if (!map.has(key)) map.set(key, first)
  return map.get(key)!
}
