/** `SEED=1 npm run soak -- paging` repeats a run; without it the seed is random, and printed. */
import { randomInt } from 'node:crypto'
import { test } from '@jest/globals'
import { pageWhileLoading } from './testing/paging.ts'

const rows = Number(process.env['ROWS'] ?? 1_000_000)
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))

test(`${rows} rows, page by page while rows are loaded: none is lost, none comes twice`, async () => {
  const counts = await pageWhileLoading({ seed, rows, pageSize: 1000, loadEvery: 20, rowsOfLoad: 5000 })
  process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}\n`)
}, 7_200_000)
