/** The API key: entered once, stored for this tab, sent in a header, never part of an address. */
import { el, newId } from './dom.ts'

const item = 'lqe-key'

export function storedKey(): string | null {
  return sessionStorage.getItem(item)
}

export function storeKey(key: string): void {
  sessionStorage.setItem(item, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(item)
}

/** @param problem why the last key was refused */
export function keyForm(enter: (key: string) => Promise<void>, problem: string | null) {
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
  const button = el('button', { class: 'primary' }, 'Open')
  const onsubmit = (event: Event) => {
    event.preventDefault()
    if (input.value.trim() === '') return input.focus()
    button.disabled = true
    void enter(input.value.trim())
  }
  const form = el(
    'form',
    { class: 'card key-card', onsubmit },
    el('h2', {}, 'Look into your logs'),
    el('p', {}, 'Run the saved queries of this service, see them as charts and tables, and write your own.'),
    el('label', { for: id }, 'API key'),
    el('div', { class: 'beside' }, input, button),
    problem && el('p', { class: 'problem', id: trouble, role: 'alert' }, problem),
    el(
      'p',
      { class: 'hint', id: hint },
      'Started on this machine? ',
      el('code', {}, 'npm start'),
      ' printed the key. Otherwise ask the operator of the service. It stays in this tab and goes nowhere but to this service.',
    ),
  )
  return { element: form, focus: () => input.focus() }
}
