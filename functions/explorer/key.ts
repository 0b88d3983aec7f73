/** The API key: entered once, stored for this tab, or on this device when asked; sent in a header, never part of an address. */
import { el, newId } from './dom.ts'
import { keep, kept } from './kept.ts'

const item = 'lqe-key'

/** This tab's key, else the one that this device remembers; `null` = none. */
export function storedKey(): string | null {
  return sessionStorage.getItem(item) ?? (kept('key') as string | null)
}

/** @param remembered keeps it on this device; absent, nothing changes there */
export function storeKey(key: string, remembered?: boolean): void {
  sessionStorage.setItem(item, key)
  if (remembered !== undefined) keep('key', remembered ? key : null)
}

/** In this tab and on this device; other tabs keep theirs until they are closed. */
export function forgetKey(): void {
  sessionStorage.removeItem(item)
  keep('key', null)
}

/** @param problem why the last key was refused */
export function keyForm(enter: (key: string, remembered: boolean) => Promise<void>, problem: string | null) {
  const [id, hint, trouble] = [newId(), newId(), newId()]
  const input = el('input', {
    id,
    type: 'password',
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
    el('label', { class: 'check' }, remember, 'Remember on this device'),
    problem && el('p', { class: 'problem', id: trouble, role: 'alert' }, problem),
    el(
      'p',
      { class: 'hint', id: hint },
      'Started on this machine? ',
      el('code', {}, 'npm start'),
      ' printed the key. Otherwise ask the operator of the service. It stays in this tab, unless this device is to remember it, and goes nowhere but to this service.',
    ),
  )
  return { element: form, focus: () => input.focus() }
}
