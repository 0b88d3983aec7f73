import { afterEach, expect, test } from '@jest/globals'
import { type Crowd, startCrowd } from './testing/processes.ts'
import { tornReads } from './testing/torn-reads.ts'

let crowd: Crowd

afterEach(() => crowd.stop())

test('100,000 reads are whole while a writer rewrites and is killed 100 times', async () => {
  crowd = await startCrowd(1)
  const result = await tornReads(crowd, { reads: 100_000, kills: 100 })
  console.log(JSON.stringify(result))
  expect(result).toMatchObject({ torn: 0, kills: 100 })
  expect(result.reads).toBeGreaterThanOrEqual(100_000)
}, 3_600_000)
