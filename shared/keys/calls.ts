/**
 * How often a key is used. Each process counts for itself: a count in the store would cost a write for each call, and hot
 * answers cost none. So with several instances a key gets that many times its limit at most.
 */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors.ts'
import type { Limits } from './records.ts'

const minute = 60_000
/** Keys counted at a time; the one that was quiet for longest is forgotten first. */
const max = 10_000

/** @returns counts a call; throws ApiError `rate_limited` for one too many in the minute that began with the first */
export function callCounter(
  clock: { now(): number } = performance,
): (caller: { keyId: string; limits: Limits | null }) => void {
  const minutes = new LRUCache<string, { calls: number }>({ max, ttl: minute, perf: clock, ttlResolution: 0 })
  return ({ keyId, limits }) => {
    const most = limits?.callsPerMinute ?? null
    if (most === null) return
    const current = minutes.get(keyId) ?? { calls: 0 }
    if (current.calls === 0) minutes.set(keyId, current)
    current.calls++
    if (current.calls <= most) return
    const seconds = Math.max(1, Math.ceil(minutes.getRemainingTTL(keyId) / 1000))
    throw new ApiError('rate_limited', `This API key may be used ${most} times a minute; come back later.`, {
      headers: { 'Retry-After': String(seconds) },
    })
  }
}
