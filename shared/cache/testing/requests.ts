/** For tests of the cache: requests, and an engine that counts its runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Answer } from '../../answers/answer.ts'
import { ApiError } from '../../errors.ts'
import { StoreError } from '../../stores/store.ts'
import type { CacheRequest } from '../cache.ts'
import type { CacheKeyFields } from '../head.ts'
import type { CacheTimes } from '../durations.ts'

export const keyFields: CacheKeyFields = {
  endpointId: 'e1',
  version: 'v1',
  parameters: '[["project","abc"]]',
  sql: null,
  variant: 'clear',
}

export const quick: Partial<CacheTimes> = {
  memoryMs: 0,
  pollMs: 10,
  leaseMs: 300,
  renewMs: 100,
  storeDownMs: 50,
}

/** The same with leases that a busy machine renews in time. */
export const lasting: Partial<CacheTimes> = { ...quick, leaseMs: 20_000, renewMs: 1000 }

export const made = (body: string | Buffer): Answer =>
  Answer.fromJson({ rows: 1, truncated: false, redacted: false, columns: ['a'] }, Buffer.from(body as string))

export const textOf = async ({ answer }: { answer: Answer }): Promise<string> =>
  (await answer.bytes('identity')).toString()

interface CountingEngine {
  runs: number
  ms: number
  /** A run ends after it. */
  until: Promise<unknown>
  fail: () => ApiError | null
  make: CacheRequest['make']
}

/** Waits until so many runs have begun. */
export async function begun(state: { runs: number }, runs = 1): Promise<void> {
  while (state.runs < runs) await sleep(5)
}

/** An engine that counts its runs and answers with their number. */
export function engine(options: { ms?: number; fail?: () => ApiError | null } = {}): CountingEngine {
  const state = {
    runs: 0,
    ms: options.ms ?? 0,
    until: Promise.resolve() as Promise<unknown>,
    fail: options.fail ?? (() => null),
  }
  const make = async () => {
    const run = ++state.runs
    await Promise.all([sleep(state.ms), state.until])
    const error = state.fail()
    if (error) throw error
    return { answer: made(`run ${run}`) }
  }
  return Object.assign(state, { make })
}

export function request(make: CacheRequest['make'], changes: Partial<CacheRequest> = {}): CacheRequest {
  return { keyFields, freshMs: 60_000, timeoutMs: 60_000, noteUse: false, bypass: false, make, ...changes }
}

export const engineDown = (): ApiError => new ApiError('engine_error', 'The query engine failed.')
export const mistake = (): ApiError => new ApiError('invalid_query', 'Bad regular expression.')
/** What a store throws that has done its work. */
export const lost = (): never => {
  throw new StoreError('unavailable', 'no acknowledgement')
}
