/** The key of this tab, and of this device, and what tabs tell each other of it. */
import { isShared, itemName, readItem, writeItem } from './local-storage.ts'

const item = itemName('key')

/** What tabs say to each other: any page of the origin hears it, and can ask. */
type Message = { wanted: true } | { key: string } | { forgotten: string }
const tabs = isShared ? null : new BroadcastChannel(item)
// eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of its own origin alone
const say = (message: Message) => tabs?.postMessage(message)

/** In place of a key that was forgotten here: the next one is typed, and not another tab's. */
const typed = ''

/** This tab's key, else the one that this device remembers; empty where it was forgotten here, `null` = none. */
export function storedKey(): string | null {
  return sessionStorage.getItem(item) ?? (isShared ? null : (readItem('key') as string | null))
}

/** Whether this tab takes another tab's key. */
let isAsking = false

/** A key is being entered here: another tab's, which comes now, does not take its place. */
export function keepOwnKey(): void {
  isAsking = false
}

/**
 * Tabs that ask get this tab's key; one without a key asks, once.
 * @param found called with another tab's key @param forgotten called where another tab has forgotten this tab's key
 */
export function shareKey(found: (key: string) => void, forgotten: () => void): void {
  isAsking = storedKey() === null
  tabs?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const own = sessionStorage.getItem(item)
    if ('wanted' in data && own) say({ key: own })
    if ('key' in data && isAsking && own === null) {
      isAsking = false
      found(data.key)
    }
    if ('forgotten' in data && data.forgotten === own) {
      sessionStorage.setItem(item, typed)
      forgotten()
    }
  })
  if (isAsking) say({ wanted: true })
}

/** @param remembered keeps it on this device; absent, nothing changes there */
export function storeKey(key: string, remembered?: boolean): void {
  sessionStorage.setItem(item, key)
  if (remembered !== undefined) writeItem('key', remembered && !isShared ? key : null)
}

/** In this tab, on this device, and in other tabs that have the same one. */
export function forgetKey(): void {
  say({ forgotten: sessionStorage.getItem(item) ?? typed })
  sessionStorage.setItem(item, typed)
  writeItem('key', null)
}
