/** The form of an endpoint, made from its parameters, with the service's problems beside their fields. */
import type { Problem } from '../../shared/errors.ts'
import { el, newId, show } from './dom.ts'
import { type Field, field, iso } from './field.ts'
import type { Endpoint, Parameter } from './service.ts'

export interface Form {
  element: HTMLElement
  /** The switch for redaction, which is no parameter. */
  redaction: HTMLElement
  values(): Record<string, string>
  redact(): boolean
  /** Puts each problem beside the field it names, and the cursor into the first. @returns those that name no field */
  showProblems(problems: Problem[]): Problem[]
}

/** @param given values of the link that was followed */
export function form({ parameters, redact }: Endpoint, given: Record<string, string>): Form {
  const fields = parameters.map(parameter => {
    const made = field(parameter)
    const value = given[parameter.name]
    if (value !== undefined) made.set(value)
    return made
  })
  // Sent as well: the service says which parameters it ignores.
  const undeclared = Object.entries(given).filter(([name]) => !fields.some(made => made.name === name))
  const redaction = redactionSwitch(redact)
  const all = [...fields, redaction.field]
  return {
    element: el(
      'div',
      { class: 'fields' },
      ...fields.map(made => made.element),
      quickRanges(parameters, fields),
    ),
    redaction: redaction.field.element,
    values: () => Object.fromEntries([...fields.map(made => [made.name, made.value()]), ...undeclared]),
    redact: redaction.on,
    showProblems(problems) {
      for (const made of all) made.showProblem(detailOf(problems, made))
      all.find(made => detailOf(problems, made) !== null)?.focus()
      return problems.filter(problem => !all.some(made => detailOf([problem], made) !== null))
    },
  }
}

function detailOf(problems: Problem[], { name }: Field): string | null {
  const own = problems.filter(({ parameter, header }) => (parameter ?? header?.toLowerCase()) === name)
  return own.length === 0 ? null : own.map(({ detail }) => detail).join('; ')
}

function redactionSwitch(byDefault: boolean) {
  const [id, hint, trouble] = [newId(), newId(), newId()]
  const checkbox = { type: 'checkbox', role: 'switch', id, checked: byDefault }
  const input = el('input', { ...checkbox, 'aria-describedby': `${hint} ${trouble}` })
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
    set: value => void (input.checked = value === 'true'),
    focus: () => input.focus(),
    showProblem: detail => show(problem, detail),
  }
  input.addEventListener('input', () => made.showProblem(null))
  return { field: made, on: () => input.checked }
}

const ranges: [label: string, minutes: number | null][] = [
  ['Last 15 min', 15],
  ['Last hour', 60],
  ['Last 24 hours', 24 * 60],
  ['Last 7 days', 7 * 24 * 60],
  ['All time', null],
]

/** Ranges up to now, where a parameter is the time that entries come after, and perhaps another that they come before. */
function quickRanges(parameters: Parameter[], fields: Field[]): HTMLElement | null {
  const times = parameters.filter(({ format }) => format === 'iso-timestamp').map(({ name }) => name)
  const named = (pattern: RegExp) => fields.find(({ name }) => times.includes(name) && pattern.test(name))
  const start = named(/start|from|since|after/i)
  const end = named(/end|until|to$|before/i)
  if (!start) return null
  const buttons = ranges.map(([label, minutes]) => {
    const set = () => {
      start.set(minutes === null ? '' : iso(Date.now() - minutes * 60_000))
      end?.set('')
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
