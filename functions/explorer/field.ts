/** One parameter as a field: a label, its description, a control of its type, and room for a problem. */
import { el, newId, show } from './dom.ts'
import type { Parameter } from './service.ts'

export interface Field {
  name: string
  element: HTMLElement
  value(): string
  set(value: string): void
  focus(): void
  /** @param problem the service's words; `null` takes the last ones away */
  showProblem(problem: string | null): void
}

interface Control {
  element: HTMLElement
  /** Takes the focus, and `aria-invalid` where there is a problem. */
  focusable: HTMLElement
  value(): string
  set(value: string): void
}

/** The problem goes away when the value changes. */
export function field(parameter: Parameter): Field {
  const { name, description } = parameter
  const [id, about, trouble] = [newId(), newId(), newId()]
  const problem = el('p', { class: 'problem', id: trouble })
  const control = controlOf(parameter, id, `${about} ${trouble}`)
  const hint = el('p', { class: 'hint', id: about }, description ?? '', exampleOf(parameter))
  const showProblem = (detail: string | null) => {
    show(problem, detail && sentence(detail))
    if (detail) control.focusable.setAttribute('aria-invalid', 'true')
    else control.focusable.removeAttribute('aria-invalid')
  }
  control.element.addEventListener('input', () => showProblem(null))
  return {
    name,
    element: el('div', { class: 'field' }, labelOf(parameter, id, control), control.element, problem, hint),
    value: control.value,
    set: control.set,
    focus: () => control.focusable.focus(),
    showProblem,
  }
}

/** A group of radio buttons is named by a text, any other control by a label. */
function labelOf({ name, required }: Parameter, id: string, { element }: Control): HTMLElement {
  const caption = [el('code', {}, name), required ? el('span', { class: 'required' }, 'required') : null]
  return element.role === 'radiogroup'
    ? el('span', { class: 'label', id: `${id}-label` }, ...caption)
    : el('label', { for: id }, ...caption)
}

function controlOf(parameter: Parameter, id: string, described: string): Control {
  const choices = choicesOf(parameter)
  if (choices) return choiceControl(id, choices, described, parameter.required)
  return parameter.format === 'iso-timestamp'
    ? timeControl(id, parameter.name, described)
    : textControl(id, parameter, described)
}

function choicesOf({ enum: choices, type, required }: Parameter): string[] | null {
  if (choices) return choices.map(String)
  return type === 'boolean' ? (required ? ['true', 'false'] : ['', 'true', 'false']) : null
}

/** A few choices stand side by side; many fold into a list. */
function choiceControl(id: string, choices: string[], described: string, required: boolean): Control {
  const all = required || choices.includes('') ? choices : ['', ...choices]
  return all.length > 6 ? listControl(id, all, described) : radioControl(id, all, described)
}

function radioControl(id: string, choices: string[], described: string): Control {
  const radios = choices.map((value, i) =>
    el('input', { type: 'radio', id: `${id}-${i}`, name: id, value, checked: i === 0 }),
  )
  const labels = radios.map((radio, i) =>
    el('label', { for: `${id}-${i}` }, radio, el('span', {}, choices[i] || 'any')),
  )
  const properties = { class: 'segments', role: 'radiogroup', 'aria-labelledby': `${id}-label` }
  const element = el('div', { ...properties, 'aria-describedby': described }, ...labels)
  return {
    element,
    get focusable() {
      return radios.find(radio => radio.checked) ?? radios[0]!
    },
    value: () => radios.find(radio => radio.checked)?.value ?? '',
    set: value => {
      for (const radio of radios) radio.checked = radio.value === value
    },
  }
}

function listControl(id: string, choices: string[], described: string): Control {
  const options = choices.map(value => el('option', { value }, value || 'any'))
  const select = el('select', { id, 'aria-describedby': described }, ...options)
  return plain(select)
}

function textControl(id: string, parameter: Parameter, described: string): Control {
  const numeric = parameter.type === 'integer' || parameter.type === 'number'
  const input = el('input', {
    id,
    type: 'text',
    inputmode: numeric ? 'decimal' : null,
    placeholder: parameter.default === undefined ? null : `${parameter.default} unless you say otherwise`,
    maxlength: parameter.maxLength ?? null,
    'aria-required': parameter.required && 'true',
    'aria-describedby': described,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  })
  return plain(input)
}

/** The text is the value, so that any time the service takes can be written; the picker only writes into it. All in UTC. */
function timeControl(id: string, name: string, described: string): Control {
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

function plain(element: HTMLInputElement | HTMLSelectElement): Control {
  return {
    element,
    focusable: element,
    value: () => element.value.trim(),
    set: value => {
      element.value = value
    },
  }
}

function exampleOf({ examples = [] }: Parameter): HTMLElement | null {
  if (examples.length === 0) return null
  return el('span', { class: 'example' }, ' For example: ', el('code', {}, String(examples[0])))
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

/** ISO 8601 to the second. */
export function iso(millis: number): string {
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z')
}
