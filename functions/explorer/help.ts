/** The keyboard shortcuts of the page, behind `?`. */
import { button, el } from './dom.ts'

const keys: [string, string][] = [
  ['/', 'search'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field, close the entry'],
  ['Ctrl-Enter', 'run the query'],
  ['Ctrl-Space', 'complete SQL'],
  ['?', 'these shortcuts'],
]

/** Makes the dialog too, and opens it at `?`: to be called once for a page. */
export function helpButton(): HTMLElement {
  const name = 'Keyboard shortcuts'
  const lines = keys.flatMap(([key, words]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, words)])
  const dialog = el(
    'dialog',
    { class: 'card', 'aria-label': name, closedby: 'any' },
    el('h2', {}, name),
    el('dl', { class: 'keys' }, ...lines),
    button('Close', () => dialog.close()),
  )
  document.body.append(dialog)
  document.addEventListener('keydown', ({ key, target }) => {
    const writing = target instanceof HTMLElement && target.matches('input, select, textarea, .code')
    if (key === '?' && !writing && !dialog.open) dialog.showModal()
  })
  return button('Shortcuts', () => dialog.showModal(), { class: 'quiet help' })
}
