/**
 * The API key: entered once, stored for this tab, or on this device when asked, and given to other tabs of this browser while
 * this one is open; sent in a header, never part of an address. On an origin with pages of others it stays in this tab.
 */
import { el, newId } from './dom.ts'
import { isShared, itemName, keep, kept } from './kept.ts'

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
  return sessionStorage.getItem(item) ?? (isShared ? null : (kept('key') as string | null))
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
  if (remembered !== undefined) keep('key', remembered && !isShared ? key : null)
}

/** In this tab, on this device, and in other tabs that have the same one. */
export function forgetKey(): void {
  say({ forgotten: sessionStorage.getItem(item) ?? typed })
  sessionStorage.setItem(item, typed)
  keep('key', null)
}

const inTabs =
  'other tabs get it from one that is open; when the last is closed it is forgotten, unless this device is to remember it.'
const inTab =
  'is forgotten with this tab: other pages may share this host. Better is the service’s own address, such as that of run.app.'

/** @param problem why the last key was refused @param refused that key, to be tried again or corrected */
export function keyForm(
  enter: (key: string, remembered: boolean) => Promise<void>,
  problem: string | null,
  refused: string,
) {
  const [id, hint, trouble] = [newId(), newId(), newId()]
  const input = el('input', {
    id,
    type: 'password',
    value: refused,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'lqe_…',
    'aria-describedby': problem ? `${trouble} ${hint}` : hint,
    'aria-invalid': problem !== null && 'true',
  })
  const remember = el('input', { type: 'checkbox' })
  const button = el('button', { class: 'primary' }, 'Open')
  const onsubmit = (event: Event) => {
    event.preventDefault()
    if (input.value.trim() === '') return input.focus()
    button.disabled = true
    void enter(input.value.trim(), remember.checked)
  }
  const form = el(
    'form',
    { class: 'card key-card', onsubmit },
    el('h2', {}, 'Look into your logs'),
    el('p', {}, 'Run the saved queries of this service, see them as charts and tables, and write your own.'),
    el('label', { for: id }, 'API key'),
    el('div', { class: 'beside' }, input, button),
    !isShared && el('label', { class: 'check' }, remember, 'Remember on this device'),
    problem && el('p', { class: 'problem', id: trouble, role: 'alert' }, problem),
    el(
      'p',
      { class: 'hint', id: hint },
      'Started on this machine? ',
      el('code', {}, 'npm start'),
      ` printed the key. Otherwise ask the operator of the service. It goes nowhere but to this service, and ${isShared ? inTab : inTabs}`,
    ),
  )
  const focus = () => {
    input.focus()
    input.select() // another key takes the refused one's place
  }
  return { element: form, focus }
}
