/**
 * A writer rewrites one cached answer with bodies from 10 KB to 5 MB and is killed again and again, while a reader
 * checks every body: each is one letter repeated, so a torn or mixed one shows.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { randomBytes } from 'node:crypto'
import { Answer } from '../../answers/answer.ts'
import { AnswerCache } from '../cache.ts'
import type { Crowd } from './processes.ts'

export interface TornReads {
  reads: number
  torn: number
  kills: number
  /** Different bodies that were seen. */
  generations: number
}

export async function tornReads(crowd: Crowd, wanted: { reads: number; kills: number }): Promise<TornReads> {
  const result = { reads: 0, torn: 0, kills: 0, generations: 0 }
  const seen = new Set<string>()
  let over = false
  const writing = keepWriting(crowd, wanted.kills, result, () => over)
  const store = await crowd.open()
  while (result.reads < wanted.reads || result.kills < wanted.kills) {
    const cache = new AnswerCache(store, { memoryMs: 0 })
    const served = await cache.peek(
      { endpointId: 'e', version: 'v', parameters: 'torn', sql: null, variant: 'clear' },
      3_600_000,
    )
    if (!served) {
      await sleep(5)
      continue
    }
    const body = (await served.answer.bytes('identity')).toString()
    result.reads++
    seen.add(served.answer.tag)
    if (Answer.fromJson(served.answer.summary, Buffer.from(body)).tag !== served.answer.tag) result.torn++
    if (body.slice(0, 32) !== body.slice(-32)) result.torn++
  }
  over = true
  await writing
  await store.close()
  return { ...result, generations: seen.size }
}

/** Every answer is stale at once, so that each read of the writer runs its engine and publishes. */
async function keepWriting(
  crowd: Crowd,
  kills: number,
  result: TornReads,
  over: () => boolean,
): Promise<void> {
  const sizes = [10_000, 200_000, 1_000_000, 3_000_000, 5_000_000]
  let writer = crowd.members[0]!
  for (let i = 0; !over(); i++) {
    const mark = randomBytes(16).toString('hex')
    const filling = randomBytes(sizes[i % sizes.length]! / 2).toString('base64')
    const write = writer.read({ key: 'torn', freshMs: 0, text: `${mark}${filling}${mark}` })
    if (i % 5 !== 4 || result.kills >= kills) {
      await write
      continue
    }
    await sleep(Math.random() * 150)
    writer.child.kill('SIGKILL')
    result.kills++
    await write.catch(() => {})
    writer = await crowd.start()
  }
}
