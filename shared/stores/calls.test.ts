import { expect, test } from '@jest/globals'
import { withLog } from './calls.ts'
import { openSqlite } from './sqlite/store.ts'
import { StoreError, type StoreErrorReason } from './store.ts'
import { withFaults } from './testing/faults.ts'

test('every call that fails is logged with the reason and the client’s code, and a conflict is not', async () => {
  let reason: StoreErrorReason = 'unavailable'
  const failing = withFaults(openSqlite({ file: ':memory:' }), {
    before() {
      throw new StoreError(reason, 'secret-value', { cause: { code: 14 } })
    },
  })
  const lines: unknown[] = []
  const store = withLog(failing, (...line) => lines.push(line))
  const at = { collection: 'things', id: 'a' }
  const calls = [
    () => store.get(at),
    () => store.create(at, {}),
    () => store.replace(at, {}),
    () => store.update(at, { set: {} }),
    () => store.remove(at),
    () => store.query({ collection: 'things', limit: 1 }),
    () => store.batch([]),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ reason: 'unavailable' })
  const details = expect.objectContaining({ error: 'StoreError', reason: 'unavailable', code: 14 })
  expect(lines).toEqual(calls.map(() => ['WARNING', 'the store failed', details]))
  expect(JSON.stringify(lines)).not.toContain('secret-value')
  reason = 'conflict'
  for (const call of calls) await expect(call()).rejects.toMatchObject({ reason: 'conflict' })
  expect(lines).toHaveLength(calls.length)
  await store.close()
})
