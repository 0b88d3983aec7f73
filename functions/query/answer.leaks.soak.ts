import { expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { findLeaks } from '../testing/leaks.ts'

test('10,000 interleaved calls with definition changes leak nothing, as long remembered as deployed', async () => {
  const result = await findLeaks({ calls: 10_000, changes: 3, rememberMs: loadConfig({}).rememberMs })
  console.log(JSON.stringify(result))
  expect(result).toMatchObject({ wrong: 0, outdated: 0, changes: 3 })
  expect(result.calls).toBeGreaterThanOrEqual(10_000)
}, 600_000)
