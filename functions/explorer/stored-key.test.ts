/** Tabs of a browser, and the key that each has: another tab is a channel of the same name. */
import { afterAll, beforeEach, expect, test } from '@jest/globals'

const kept = new Map<string, string>()
const before = globalThis.sessionStorage
const sessionStorage = {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, text: string) => void kept.set(name, text),
}
const channels: BroadcastChannel[] = []
class Channel extends BroadcastChannel {
  constructor(name: string) {
    super(name)
    channels.push(this)
  }
}
Object.assign(globalThis, { sessionStorage, BroadcastChannel: Channel })
const { keepOwnKey, shareKey, storedKey, storeKey } = await import('./stored-key.ts')

const other = new Channel('lqe-key')
const heard: unknown[] = []
other.addEventListener('message', ({ data }) => heard.push(data))
const told = () => new Promise(resolve => setTimeout(resolve, 20))
const say = async (message: unknown) => {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of its own origin alone
  other.postMessage(message)
  await told()
}

beforeEach(() => {
  kept.clear()
  heard.length = 0
})
afterAll(() => {
  for (const channel of channels) channel.close()
  Object.assign(globalThis, {
    sessionStorage: before,
    BroadcastChannel: Object.getPrototypeOf(Channel) as unknown,
  })
})

/** @returns the keys that came of other tabs */
async function opened(): Promise<string[]> {
  const found: string[] = []
  shareKey(
    key => found.push(key),
    () => {},
  )
  await told()
  return found
}

test('a tab without a key asks for that of another, and takes the first', async () => {
  const found = await opened()
  expect(heard).toEqual([{ wanted: true }])
  await say({ key: 'theirs' })
  await say({ key: 'of a third' })
  expect(found).toEqual(['theirs'])
})

test('a key that is being entered here is not replaced by another tab’s that comes meanwhile', async () => {
  const found = await opened()
  keepOwnKey()
  await say({ key: 'theirs' })
  expect(found).toEqual([])
  storeKey('ours')
  await say({ wanted: true })
  expect([storedKey(), heard.at(-1)]).toEqual(['ours', { key: 'ours' }])
})
