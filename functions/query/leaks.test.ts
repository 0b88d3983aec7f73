import { expect, test } from '@jest/globals'
import { findLeaks } from '../testing/leaks.ts'

test('processes leak no clear address and forget an old definition in time, whatever is interleaved', async () => {
  const result = await findLeaks({ calls: 150, changes: 1, rememberMs: 500 })
  expect(result).toMatchObject({ wrong: 0, outdated: 0, changes: 1 })
  expect(result.calls).toBeGreaterThanOrEqual(150)
})
