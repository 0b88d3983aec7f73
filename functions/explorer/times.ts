/** Fields for times: written as ISO 8601, or picked; and ranges up to now at one press. All in UTC. */
import { el, newId } from './dom.ts'
import type { Control, Field } from './field.ts'
import type { Parameter } from './service.ts'

/** The text is what counts, so that any time the service takes can be written; the picker only writes into it. */
export function timeControl(id: string, name: string, described: string): Control {
  const text = el('input', {
    id,
    type: 'text',
    placeholder: 'any',
    'aria-describedby': described,
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const picker = el('input', {
    type: 'datetime-local',
    step: 1,
    class: 'picker',
    tabindex: -1,
    'aria-hidden': 'true',
    'aria-label': `Pick ${name}`,
  })
  const pick = el(
    'button',
    { type: 'button', class: 'pick', 'aria-label': `Pick a time for ${name}`, title: 'Pick a time (UTC)' },
    'Pick',
  )
  pick.addEventListener('click', () => {
    const known = Date.parse(text.value)
    picker.value = Number.isNaN(known) ? '' : iso(known).slice(0, 19)
    picker.showPicker()
  })
  picker.addEventListener('change', () => {
    text.value = picker.value === '' ? '' : iso(Date.parse(`${picker.value}Z`))
    text.dispatchEvent(new Event('input', { bubbles: true }))
  })
  return {
    element: el('div', { class: 'time' }, text, el('span', { class: 'pick-place' }, picker, pick)),
    focusable: text,
    value: () => text.value.trim(),
    set: value => {
      text.value = value
    },
  }
}

const ranges: [label: string, minutes: number | null][] = [
  ['Last 15 min', 15],
  ['Last hour', 60],
  ['Last 24 hours', 24 * 60],
  ['Last 7 days', 7 * 24 * 60],
  ['All time', null],
]

/** Where an endpoint has a time that entries come after, and perhaps one that they come before. */
export function quickRanges(
  parameters: Parameter[],
  fields: Field[],
  changed: () => void,
): HTMLElement | null {
  const times = parameters.filter(({ format }) => format === 'iso-timestamp').map(({ name }) => name)
  const named = (pattern: RegExp) => fields.find(({ name }) => times.includes(name) && pattern.test(name))
  const start = named(/start|from|since|after/i)
  const end = named(/end|until|to$|before/i)
  if (!start) return null
  const buttons = ranges.map(([label, minutes]) => {
    const set = () => {
      start.set(minutes === null ? '' : iso(Date.now() - minutes * 60_000))
      end?.set('')
      changed()
    }
    return el('button', { type: 'button', onclick: set }, label)
  })
  const id = newId()
  return el(
    'div',
    { class: 'field ranges', role: 'group', 'aria-labelledby': id },
    el('span', { class: 'label', id }, 'Quick ranges'),
    el('div', {}, ...buttons),
  )
}

/** To the second, as a person would write it. */
function iso(millis: number): string {
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z')
}
