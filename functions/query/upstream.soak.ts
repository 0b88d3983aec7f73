/** Endpoints that read others, over many restores of what they read. */
import { expect, test } from '@jest/globals'
import { startReading } from '../testing/upstream.ts'
import { callsDuringRestores, files } from '../testing/upstream-versions.ts'

test('10,000 calls while versions of what is read are restored 100 times are each of a version in force', async () => {
  const it = await startReading('duckdb', files('first'))
  try {
    expect(await callsDuringRestores(it, { calls: 10_000, restoreEvery: 100 })).toBe(3)
    process.stdout.write('10,000 calls, 100 restores, each call of a version in force\n')
  } finally {
    await it.stop()
  }
}, 900_000)
