/** One parameter as a field: a label, what it means, a control of its type, and room for what is wrong with it. */
import { el, newId, show } from './dom.ts'
import type { Parameter } from './service.ts'
import { timeControl } from './times.ts'

export interface Field {
  name: string
  element: HTMLElement
  value(): string
  set(value: string): void
  focus(): void
  /** @param problem what the service says of it; `null` = nothing */
  complain(problem: string | null): void
}

/** What a field is made around. `focusable` is what a complaint is tied to. */
export interface Control {
  element: HTMLElement
  focusable: HTMLElement
  value(): string
  set(value: string): void
}

export function field(parameter: Parameter, changed: () => void): Field {
  const { name, required, description } = parameter
  const [id, about, trouble] = [newId(), newId(), newId()]
  const problem = el('p', { class: 'problem', id: trouble })
  const described = `${about} ${trouble}`
  const choices = choicesOf(parameter)
  const control = choices
    ? choiceControl(id, choices, described, required)
    : parameter.format === 'iso-timestamp'
      ? timeControl(id, name, described)
      : textControl(id, parameter, described)
  control.element.addEventListener('input', changed)
  const caption = [el('code', {}, name), required ? el('span', { class: 'required' }, 'required') : null]
  const grouped = control.element.role === 'radiogroup'
  const label = grouped
    ? el('span', { class: 'label', id: `${id}-label` }, ...caption)
    : el('label', { for: id }, ...caption)
  const hint = el('p', { class: 'hint', id: about }, description ?? '', exampleOf(parameter))
  return {
    name,
    element: el('div', { class: 'field' }, label, control.element, problem, hint),
    value: control.value,
    set: control.set,
    focus: () => control.focusable.focus(),
    complain(detail) {
      show(problem, detail && sentence(detail))
      if (detail) control.focusable.setAttribute('aria-invalid', 'true')
      else control.focusable.removeAttribute('aria-invalid')
    },
  }
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
