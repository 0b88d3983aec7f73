/** Random histories by their seeds, and their soak: what plays one is given. */
import { randomInt } from 'node:crypto'
import { test } from '@jest/globals'
import pMap from 'p-map'

/** An integer from 0 up to, not including, `below`. */
export type Random = (below: number) => number

/** mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function randomFrom(seed: number): Random {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

export interface Seeds {
  from: number
  count: number
}

/**
 * Plays histories, some at a time.
 * @returns the sums of what they counted
 * @throws Error that names the seed
 */
export async function playSeeds<Counts extends object>(
  { from, count }: Seeds,
  play: (seed: number) => Promise<Counts>,
): Promise<Counts> {
  const seeds = Array.from({ length: count }, (_, i) => from + i)
  const all = await pMap(
    seeds,
    seed =>
      play(seed).catch((error: unknown) => {
        throw new Error(`history ${seed}: ${String(error)}`, { cause: error })
      }),
    { concurrency: 8 },
  )
  const total: Record<string, number> = {}
  for (const counts of all)
    for (const [name, count] of Object.entries(counts) as [string, number][])
      total[name] = (total[name] ?? 0) + count
  return total as Counts
}

/** `SEED=1` begins with history 1; without it, with a random one, which is printed. `HISTORIES` is how many. */
export function soakHistories(what: string, play: (seeds: Seeds) => Promise<object>): void {
  const count = Number(process.env['HISTORIES'] ?? 10_000)
  test(`${count} ${what}`, async () => {
    const from = Number(process.env['SEED'] ?? randomInt(2 ** 31))
    process.stdout.write(`histories ${from} to ${from + count - 1}\n`)
    process.stdout.write(`${JSON.stringify(await play({ from, count }))}\n`)
  }, 3_600_000)
}
