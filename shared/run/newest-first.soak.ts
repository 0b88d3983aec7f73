/** `SEED=1 npm run soak -- newest-first` repeats a run; without it the seed is random, and printed. */
import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, test } from '@jest/globals'
import { duckDb, type OpenEngine } from '../engines/testing/adapters.ts'
import { appendRandomRows, compareWindows, logTable } from './testing/windows.ts'

const count = Number(process.env['WINDOWS'] ?? 10_000)
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
let open: OpenEngine

beforeAll(async () => {
  open = await duckDb.open(logTable)
  await appendRandomRows(open, seed)
}, 60_000)
afterAll(() => open.close())

test(`the newest rows by steps are those of one reading: ${count} random windows, projects and densities`, async () => {
  const counts = await compareWindows(open.engine, { seed, count })
  process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}\n`)
}, 7_200_000)
