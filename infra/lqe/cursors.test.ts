import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openCursors } from '../../shared/pages/cursor.ts'
import { openSqlite } from '../../shared/stores/sqlite/store.ts'
import { cursorCommand } from './cursors.ts'
import { runCommand } from './testing/command.ts'

let now = Date.UTC(2026, 0, 1)
const store = openSqlite({ file: ':memory:', now: () => now })
const sealed = {
  endpointId: 'e',
  parameters: 'p',
  direction: 'next' as const,
  after: { time: '1', tie: 'a' },
  now: null,
}
let text: string

beforeAll(async () => void (text = await openCursors(store).seal(sealed)))
afterAll(() => store.close())

const cursor = (...args: string[]) =>
  runCommand(
    cursorCommand(act => act({ store })),
    args,
  )

test('lqe cursor rotate lets cursors lead on for a week, and says until when', async () => {
  const { out, err, code } = await cursor('rotate')
  expect(out).toContain('Those of before lead on until 2026-01-08T00:00:00.000Z')
  expect(err).toContain('"message":"cursors rotated"')
  expect(code).toBe(0)
  now += 6 * 86_400_000
  expect(await openCursors(store).open(text)).toEqual(sealed)
})

test('it is refused before the week is over, but not with --at-once, which ends them', async () => {
  expect(await cursor('rotate', '--overlap', '1d')).toMatchObject({
    err: expect.stringMatching(/lead on until 2026-01-08T00:00:00.000Z. --at-once ends them.\n$/),
    code: 1,
  })
  expect((await cursor('rotate', '--at-once')).code).toBe(0)
  expect(await openCursors(store).open(text)).toBeNull()
  expect(await cursor('rotate', '--at-once', '--overlap', '1d')).toMatchObject({ code: 1 })
})
