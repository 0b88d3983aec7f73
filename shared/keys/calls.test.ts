import { describe, expect, test } from '@jest/globals'
import { callCounter } from './calls.ts'

describe('counting a key’s calls', () => {
  const limited = { keyId: 'a', limits: { callsPerMinute: 2, bytesPerDay: null } }

  test('refuses what is too many in the minute from the first call on, and says when it ends', () => {
    let now = 1
    const count = callCounter({ now: () => now })
    count(limited)
    now += 45_500
    count(limited)
    expect(() => count(limited)).toThrow(
      expect.objectContaining({ code: 'rate_limited', headers: { 'Retry-After': '15' } }),
    )
    now += 14_501
    count(limited)
    count(limited)
    expect(() => count(limited)).toThrow()
  })

  test('of another key, and of one without a limit, is separate', () => {
    const count = callCounter()
    for (let call = 0; call < 100; call++) count({ keyId: 'b', limits: null })
    count(limited)
    count(limited)
    count({ ...limited, keyId: 'c' })
    expect(() => count(limited)).toThrow()
  })
})
