/** The form of an endpoint, made from its parameters, and where the service's complaints go. */
import type { Problem } from '../../shared/errors.ts'
import { el, newId } from './dom.ts'
import { type Field, field } from './field.ts'
import type { Endpoint } from './service.ts'
import { quickRanges } from './times.ts'

export interface Form {
  element: HTMLElement
  /** Beside the button that runs, as it is no parameter. */
  redaction: HTMLElement
  values(): Record<string, string>
  redact(): boolean
  /** Puts each problem beside the field it names, and the cursor into the first. @returns those that name no field */
  complain(problems: Problem[]): Problem[]
}

/** @param changed called when a value is another, with what was wrong with the old ones taken away */
export function form(
  { parameters, redact }: Endpoint,
  given: Record<string, string>,
  changed: () => void,
): Form {
  const fields = parameters.map(parameter => {
    const made: Field = field(parameter, () => {
      made.complain(null)
      changed()
    })
    const value = given[parameter.name]
    if (value !== undefined) made.set(value)
    return made
  })
  // Sent as they are: the service says which parameters it ignores.
  const undeclared = Object.entries(given).filter(([name]) => !fields.some(made => made.name === name))
  const redaction = redactionSwitch(redact, changed)
  const all = [...fields, redaction.field]
  return {
    element: el(
      'div',
      { class: 'fields' },
      ...fields.map(({ element }) => element),
      quickRanges(parameters, fields, changed),
    ),
    redaction: redaction.field.element,
    values: () => Object.fromEntries([...fields.map(made => [made.name, made.value()]), ...undeclared]),
    redact: redaction.on,
    complain(problems) {
      for (const made of all) made.complain(detailOf(problems, made))
      all.find(made => detailOf(problems, made) !== null)?.focus()
      return problems.filter(problem => !all.some(made => detailOf([problem], made) !== null))
    },
  }
}

function detailOf(problems: Problem[], { name }: Field): string | null {
  const own = problems.filter(({ parameter, header }) => (parameter ?? header?.toLowerCase()) === name)
  return own.length === 0 ? null : own.map(({ detail }) => detail).join('; ')
}

/** A checkbox, as the answer has either all personal data taken out or none. */
function redactionSwitch(byDefault: boolean, changed: () => void) {
  const [id, hint, trouble] = [newId(), newId(), newId()]
  const described = `${hint} ${trouble}`
  const input = el('input', {
    type: 'checkbox',
    role: 'switch',
    id,
    checked: byDefault,
    'aria-describedby': described,
  })
  const problem = el('p', { class: 'problem', id: trouble })
  const about = byDefault
    ? 'This endpoint does so by itself; lifting it takes a key with the right pii:read.'
    : 'Addresses, e-mails, tokens and the like become REDACTED.'
  const label = el('label', { for: id, class: 'switch' }, input, 'Redact personal data')
  const made: Field = {
    name: 'svc-endpoint-redact-pii',
    element: el(
      'div',
      { class: 'field redaction' },
      label,
      problem,
      el('p', { class: 'hint', id: hint }, about),
    ),
    value: () => String(input.checked),
    set: value => {
      input.checked = value === 'true'
    },
    focus: () => input.focus(),
    complain: detail => {
      problem.textContent = detail ?? ''
    },
  }
  input.addEventListener('input', () => {
    made.complain(null)
    changed()
  })
  return { field: made, on: () => input.checked }
}
