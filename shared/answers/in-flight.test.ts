import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { BytesInFlight, memoryOfRows } from './in-flight.ts'

const million = 1_000_000
const overloaded = { code: 'overloaded', status: 503, headers: { 'Retry-After': expect.any(String) } }

/** A run that holds rows of so many bytes until it is released. */
function running(inFlight: BytesInFlight, bytes: number) {
  const { onBytes, release } = inFlight.rowsOfRun()
  try {
    onBytes(bytes)
    return { release }
  } catch (error) {
    release()
    throw error
  }
}

function body(inFlight: BytesInFlight, key: string, bytes: number, response = new PassThrough()) {
  let made = 0
  const make = async () => {
    made++
    return Buffer.alloc(bytes)
  }
  const sent = inFlight.body(response, { key, cost: bytes, make, held: made => made.length })
  sent.catch(() => {})
  return { sent, response, isMade: () => made > 0 }
}

describe('a run', () => {
  test('does not begin where less is free than a result may take', async () => {
    const inFlight = new BytesInFlight(10 * million)
    const large = running(inFlight, 3 * million)
    expect(() => inFlight.rowsOfRun()).toThrow(expect.objectContaining(overloaded))
    large.release()
    inFlight.rowsOfRun().release()
  })

  test('ends where its rows take more than is free, and what they took is free again', async () => {
    const inFlight = new BytesInFlight(10 * million)
    const first = running(inFlight, 2 * million)
    expect(() => running(inFlight, 2 * million)).toThrow(expect.objectContaining({ reason: 'overloaded' }))
    const third = running(inFlight, million)
    first.release()
    third.release()
    running(inFlight, (10 * million) / memoryOfRows).release()
  })
})

describe('a body', () => {
  test('is made and counted once for all responses that send it, and until the last of them has ended', async () => {
    const inFlight = new BytesInFlight(10 * million)
    const one = body(inFlight, 'a', 6 * million)
    const two = body(inFlight, 'a', 6 * million)
    expect(await two.sent).toBe(await one.sent)
    expect(two.isMade()).toBe(false)
    one.response.destroy()
    await turn()
    await expect(body(inFlight, 'b', 6 * million).sent).rejects.toMatchObject(overloaded)
    two.response.destroy()
    await turn()
    await body(inFlight, 'b', 6 * million).sent
  })

  test('of a response that has ended before is not counted', async () => {
    const inFlight = new BytesInFlight(10 * million)
    const ended = new PassThrough()
    ended.destroy()
    await body(inFlight, 'a', 6 * million, ended).sent
    await turn()
    await body(inFlight, 'b', 6 * million).sent
  })

  test('that is in memory already is never refused, and counts for others', async () => {
    const inFlight = new BytesInFlight(10 * million)
    await body(inFlight, 'a', 9 * million).sent
    const kept = Buffer.alloc(5 * million)
    const request = { key: 'b', cost: 0, make: async () => kept, held: () => kept.length }
    expect(await inFlight.body(new PassThrough(), request)).toBe(kept)
    await expect(inFlight.during(1, async () => {})).rejects.toMatchObject(overloaded)
  })

  test('that cannot be made is no longer counted when its responses have ended', async () => {
    const inFlight = new BytesInFlight(10 * million)
    const response = new PassThrough()
    const make = () => Promise.reject(new Error('no'))
    await expect(
      inFlight.body(response, { key: 'a', cost: 9 * million, make, held: () => 0 }),
    ).rejects.toThrow('no')
    response.destroy()
    await turn()
    await inFlight.during(10 * million, async () => {})
  })
})
