/** `SEED=1 npm run soak -- alerts/histories` begins with history 1; without it, with a random one, which is printed. */
import { randomInt } from 'node:crypto'
import { test } from '@jest/globals'
import { playHistories } from './testing/histories.ts'

const count = Number(process.env['HISTORIES'] ?? 10_000)

test(`${count} random histories of alerts against a plain model`, async () => {
  const from = Number(process.env['SEED'] ?? randomInt(2 ** 31))
  process.stdout.write(`histories ${from} to ${from + count - 1}\n`)
  const counts = await playHistories({ from, count })
  process.stdout.write(`${JSON.stringify(counts)}\n`)
}, 3_600_000)
