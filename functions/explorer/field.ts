/** One parameter as a field: a label, its description, a control of its type, and room for a problem. */
import { button, el, newId, type Properties, show } from './dom.ts'
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
  /** Radio buttons, or one other input. */
  inputs: (HTMLInputElement | HTMLSelectElement)[]
}

/** The problem goes away when the value changes. */
export function field(parameter: Parameter): Field {
  const { name, description } = parameter
  const [id, about, trouble] = [newId(), newId(), newId()]
  const problem = el('p', { class: 'problem', id: trouble })
  const { element, inputs } = controlOf(parameter, id, `${about} ${trouble}`)
  const radios = inputs.filter(input => input.type === 'radio') as HTMLInputElement[]
  const chosen = () => (radios.length > 0 ? radios.find(radio => radio.checked) : inputs[0])
  const hint = el('p', { class: 'hint', id: about }, description ?? '', exampleOf(parameter))
  const showProblem = (detail: string | null) => {
    show(problem, detail && sentence(detail))
    ;(chosen() ?? inputs[0]!).ariaInvalid = detail && 'true'
  }
  element.addEventListener('input', () => showProblem(null))
  return {
    name,
    element: el('div', { class: 'field' }, labelOf(parameter, id, radios.length > 0), element, problem, hint),
    value: () => chosen()?.value.trim() ?? '',
    set: value => {
      if (radios.length === 0) inputs[0]!.value = value
      for (const radio of radios) radio.checked = radio.value === value
    },
    focus: () => (chosen() ?? inputs[0]!).focus(),
    showProblem,
  }
}

/** A group is named by a text, any other control by a label. */
function labelOf({ name, required }: Parameter, id: string, group: boolean): HTMLElement {
  const caption = [el('code', {}, name), required && el('span', { class: 'required' }, 'required')]
  return group
    ? el('span', { class: 'label', id: `${id}-label` }, ...caption)
    : el('label', { for: id }, ...caption)
}

/** A few choices stand side by side; many fold into a list. */
function controlOf(parameter: Parameter, id: string, described: string): Control {
  const { enum: listed, type, required, format } = parameter
  const choices = listed?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : null)
  const properties = { id, 'aria-describedby': described }
  if (!choices)
    return format === 'iso-timestamp' ? timeControl(parameter, properties) : text(parameter, properties)
  if (!required && !choices.includes('')) choices.unshift('')
  const named = choices.map(value => [value, value || 'any'] as const)
  if (choices.length <= 6) return segments({ ...properties, 'aria-labelledby': `${id}-label` }, named)
  const element = el('select', properties, ...named.map(([value, name]) => el('option', { value }, name)))
  return { element, inputs: [element] }
}

/** Radio buttons side by side, of which the first is checked. */
export function segments(properties: Properties, choices: (readonly [value: string, text: string])[]) {
  const name = newId()
  const inputs = choices.map(([value], i) => el('input', { type: 'radio', name, value, checked: i === 0 }))
  const labels = inputs.map((input, i) => el('label', {}, input, el('span', {}, choices[i]![1])))
  return { element: el('div', { ...properties, class: 'segments', role: 'radiogroup' }, ...labels), inputs }
}

function text(parameter: Parameter, properties: Properties, placeholder?: string) {
  const numeric = parameter.type === 'integer' || parameter.type === 'number'
  const element = el('input', {
    type: 'text',
    inputmode: numeric && 'decimal',
    placeholder:
      parameter.default === undefined ? placeholder : `${parameter.default} unless you say otherwise`,
    ...properties,
    maxlength: parameter.maxLength ?? null,
    'aria-required': parameter.required && 'true',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
  })
  return { element, inputs: [element] }
}

/** The text is the value, so that any time the service takes can be written. In UTC. */
function timeControl(parameter: Parameter, properties: Properties): Control {
  const control = text(parameter, properties, parameter.required ? '-1h' : 'any')
  const picker = pickerFor(control.inputs[0]!, parameter.name, 'Z')
  return { ...control, element: el('div', { class: 'time' }, control.element, picker) }
}

/**
 * The browser's own picker, which only writes into the text beside it.
 * @param zone is written behind a time @param exactly the time that a text stands for
 */
export function pickerFor(
  text: HTMLInputElement,
  name: string,
  zone = '',
  exactly = (written: string) => written,
): HTMLElement {
  const pick = () => {
    text.value = picker.value && `${picker.value}${zone}`
    text.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const hidden = { class: 'picker', tabindex: -1, 'aria-hidden': 'true', 'aria-label': `Pick ${name}` }
  const picker = el('input', { type: 'datetime-local', step: 1, ...hidden, onchange: pick })
  const open = () => {
    picker.value = exactly(text.value).slice(0, 19).replace(' ', 'T')
    picker.showPicker()
  }
  const label = `Pick a time: ${name}`
  return el(
    'span',
    { class: 'pick-place' },
    picker,
    button('Pick', open, { 'aria-label': label, title: label }),
  )
}

function exampleOf({ examples = [] }: Parameter): HTMLElement | null {
  if (examples.length === 0) return null
  return el('span', { class: 'example' }, ' For example: ', el('code', {}, String(examples[0])))
}

/** With a capital and a full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
