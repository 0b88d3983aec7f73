/** For tests: what several processes on one store never do, whatever happens to some of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Answer } from '../../answers/answer.ts'
import { describeStores } from '../../stores/testing/describe-stores.ts'
import { AnswerCache } from '../cache.ts'
import type { CacheTimes } from '../durations.ts'
import { type Crowd, startCrowd } from './processes.ts'

export interface Amounts {
  /** Cold keys, one after the other. */
  rounds: number
  /** Reads of an answer that a writer rewrites, which is killed so many times. */
  reads: number
  kills: number
  /** Of the answer, in bytes; by turns. */
  sizes: number[]
  /** The longest that the reads may take, milliseconds. */
  readsMs: number
}

const hour = 3_600_000
const day = 24 * hour
/** The processes' clocks differ; the store's clock is the one that counts. */
const skewMs = [0, hour, -day]

/** A suite over three processes that every test shares, for each store adapter by its name. */
export function describeProcesses(amountsOf: Record<string, Amounts>, times: Partial<CacheTimes> = {}): void {
  describeStores('several processes', adapter => {
    const { rounds, readsMs, ...torn } = amountsOf[adapter.name]!
    let crowd: Crowd

    beforeAll(async () => {
      crowd = await startCrowd({ adapter, skewMs, times })
    })

    afterAll(() => crowd.stop())

    const member = (index: number) => crowd.members[index]!

    test(`3 x 50 callers of a cold key cost exactly 1 run, ${rounds} rounds in a row`, async () => {
      for (let round = 0; round < rounds; round++) {
        const key = `round-${round}`
        const reports = await Promise.all(crowd.members.map(one => one.read({ key, callers: 50, runMs: 20 })))
        expect(crowd.runs(key)).toHaveLength(1)
        expect(new Set(reports.flatMap(({ texts }) => texts)).size).toBe(1)
      }
    })

    test('clocks that are off by an hour or a day change nothing', async () => {
      for (const key of ['a', 'b', 'c']) {
        await Promise.all(crowd.members.map(one => one.read({ key, callers: 10, runMs: 50 })))
        const again = await Promise.all(crowd.members.map(one => one.read({ key })))
        expect(again.map(({ statuses }) => statuses[0])).toEqual(['hit', 'hit', 'hit'])
        expect(crowd.runs(key)).toHaveLength(1)
      }
    })

    test('a holder that was paused past its lease cannot publish over its successor', async () => {
      const [holder, other, third] = [member(0), member(1), member(2)]
      const late = holder.read({ key: 'paused', runMs: 500 })
      while (crowd.runs('paused').length === 0) await sleep(10)
      holder.child.kill('SIGSTOP')
      const { texts } = await other.read({ key: 'paused' })
      expect(texts).toEqual([`made by ${other.child.pid}`])
      holder.child.kill('SIGCONT')
      expect((await late).texts).toEqual([`made by ${holder.child.pid}`])
      expect((await third.read({ key: 'paused' })).texts).toEqual([`made by ${other.child.pid}`])
    })

    test('a holder that is killed costs one lease, then another goes on', async () => {
      const [other, holder] = [member(0), member(2)]
      const lost = holder.read({ key: 'killed', runMs: 60_000 })
      while (crowd.runs('killed').length === 0) await sleep(10)
      const waiting = other.read({ key: 'killed', callers: 20 })
      await sleep(100)
      holder.child.kill('SIGKILL')
      await expect(lost).rejects.toThrow('ended')
      const { texts } = await waiting
      expect(new Set(texts)).toEqual(new Set([`made by ${other.child.pid}`]))
      expect(crowd.runs('killed')).toEqual([holder.child.pid, other.child.pid])
    })

    test(
      'no read is torn or mixed while a writer rewrites and is killed',
      async () => {
        const result = await tornReads(crowd, torn)
        expect(result).toMatchObject({ torn: 0, kills: torn.kills })
        expect(result.reads).toBeGreaterThanOrEqual(torn.reads)
        expect(result.generations).toBeGreaterThan(1)
      },
      readsMs,
    )
  })
}

interface TornReads {
  reads: number
  torn: number
  kills: number
  /** Different bodies that were seen. */
  generations: number
}

/**
 * A writer rewrites one cached answer with bodies of several sizes and is killed again and again, while a reader
 * checks every body: each begins and ends with the same random mark, so a torn or mixed one shows.
 */
async function tornReads(
  crowd: Crowd,
  wanted: Pick<Amounts, 'kills' | 'reads' | 'sizes'>,
): Promise<TornReads> {
  const result = { reads: 0, torn: 0, kills: 0, generations: 0 }
  const seen = new Set<string>()
  let over = false
  const writing = keepWriting(crowd, wanted, result, () => over)
  const store = await crowd.open()
  while (result.reads < wanted.reads || result.kills < wanted.kills || seen.size < 2) {
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
  { kills, sizes }: Pick<Amounts, 'kills' | 'sizes'>,
  result: TornReads,
  over: () => boolean,
): Promise<void> {
  let writer = crowd.members[1]!
  for (let i = 0; !over(); i++) {
    const mark = randomBytes(16).toString('hex')
    const filling = randomBytes(sizes[i % sizes.length]! / 2).toString('base64')
    const write = writer.read({ key: 'torn', freshMs: 0, text: `${mark}${filling}${mark}` })
    if (i % sizes.length !== sizes.length - 1 || result.kills >= kills) {
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
