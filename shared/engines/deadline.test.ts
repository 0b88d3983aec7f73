import { describe, expect, test } from '@jest/globals'
import { Deadline } from './deadline.ts'

const never = () => new Promise<never>(() => {})

describe('a deadline', () => {
  test.each([[-5], [0], [1.5], [20]])('of %d ms ends what waits, with timeout', async timeoutMs => {
    await expect(new Deadline({ timeoutMs }).race(never)).rejects.toMatchObject({ reason: 'timeout' })
  })

  test.each([[2 ** 31], [2 ** 53], [Infinity]])('of %d ms does not end at once', async timeoutMs => {
    const deadline = new Deadline({ timeoutMs })
    await deadline.sleep(20)
    expect(deadline.error).toBeNull()
    expect(deadline.leftMs).toBeGreaterThan(2 ** 30)
  })

  test('is cancelled by the caller’s signal, also by one that is itself a timeout', async () => {
    const abort = new AbortController()
    const waiting = new Deadline({ timeoutMs: 60_000, signal: abort.signal }).sleep(60_000)
    abort.abort()
    await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' })
    const late = new Deadline({ timeoutMs: 60_000, signal: AbortSignal.timeout(10) })
    await expect(late.race(never)).rejects.toMatchObject({ reason: 'cancelled' })
  })

  test('starts nothing after its end', async () => {
    const deadline = new Deadline({ timeoutMs: 60_000, signal: AbortSignal.abort() })
    let started = false
    const act = async () => void (started = true)
    await expect(deadline.race(act)).rejects.toMatchObject({ reason: 'cancelled' })
    expect(started).toBe(false)
  })
})
