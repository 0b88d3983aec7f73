/** The keys of the page, behind `?`. */
import { el } from './dom.ts'

const keys: [string, string][] = [
  ['/', 'search'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field, close the entry'],
  ['Ctrl-Enter', 'run the query'],
  ['Ctrl-Space', 'complete SQL'],
  ['?', 'these keys'],
]

export function helpButton(): HTMLElement {
  const lines = keys.flatMap(([key, words]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, words)])
  const close = el('button', { type: 'button', onclick: () => dialog.close() }, 'Close')
  const dialog = el(
    'dialog',
    { class: 'card', 'aria-label': 'Keys' },
    el('h2', {}, 'Keys'),
    el('dl', { class: 'keys' }, ...lines),
    close,
  )
  document.body.append(dialog)
  document.addEventListener('keydown', ({ key, target }) => {
    const writing = target instanceof HTMLElement && target.matches('input, select, textarea, .code')
    if (key === '?' && !writing && !dialog.open) dialog.showModal()
  })
  return el('button', { type: 'button', class: 'quiet', onclick: () => dialog.showModal() }, 'Keys')
}
