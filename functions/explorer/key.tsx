/** The form for an API key, which is asked for before anything else. */
import { useSignal } from '@preact/signals'
import type { TargetedSubmitEvent } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { TextInput } from './controls.tsx'
import { isShared, itemName, readItem, writeItem } from './local-storage.ts'

const inTabs =
  'other tabs get it from one that is open; when the last is closed it is forgotten, unless this device is to remember it.'
const inTab =
  'is forgotten with this tab: other pages may share this host. Better is the service’s own address, such as that of run.app.'

interface Props {
  enter(key: string, remembered: boolean): Promise<void>
  /** Why the last key was refused; empty where there was none. */
  problem: string
  /** That key, to be tried again or corrected. */
  refused: string
}

export function KeyForm({ enter, problem, refused }: Props) {
  const id = useId()
  const key = useSignal(refused)
  const isRemembered = useSignal(false)
  const isEntering = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    input.current!.focus()
    input.current!.select() // another key takes the refused one's place
  }, [])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = key.value.trim()
    if (text === '') return input.current!.focus()
    isEntering.value = true
    void enter(text, isRemembered.value)
  }
  return (
    <form class="card key-card" onSubmit={submit}>
      <h2>Look into your logs</h2>
      <p>Run the saved queries of this service, see them as charts and tables, and write your own.</p>
      <label for={id}>API key</label>
      <div class="beside">
        <TextInput
          id={id}
          ref={input}
          type="password"
          placeholder="lqe_…"
          aria-describedby={`${problem && `${id}-trouble `}${id}-hint`}
          aria-invalid={problem !== '' || undefined}
          value={key}
          write={text => (key.value = text)}
        />
        <button class="primary" disabled={isEntering}>
          Open
        </button>
      </div>
      {!isShared && (
        <label class="check">
          <input
            type="checkbox"
            checked={isRemembered}
            onChange={({ currentTarget }) => (isRemembered.value = currentTarget.checked)}
          />
          Remember on this device
        </label>
      )}
      {problem && (
        <p class="problem" id={`${id}-trouble`} role="alert">
          {problem}
        </p>
      )}
      <WhereFrom id={`${id}-hint`} />
    </form>
  )
}

function WhereFrom({ id }: { id: string }) {
  return (
    <p class="hint" id={id}>
      Started on this machine? <code>npm start</code> printed the key. Otherwise ask the operator of the
      service. It goes nowhere but to this service, and {isShared ? inTab : inTabs}
    </p>
  )
}

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

/**
 * Tabs that ask get this tab's key; one without a key asks, once.
 * @param found called with another tab's key @param forgotten called where another tab has forgotten this tab's key
 */
export function shareKey(found: (key: string) => void, forgotten: () => void): void {
  let asks = storedKey() === null
  tabs?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const own = sessionStorage.getItem(item)
    if ('wanted' in data && own) say({ key: own })
    if ('key' in data && asks && own === null) {
      asks = false
      found(data.key)
    }
    if ('forgotten' in data && data.forgotten === own) {
      sessionStorage.setItem(item, typed)
      forgotten()
    }
  })
  if (asks) say({ wanted: true })
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
