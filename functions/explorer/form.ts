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
  const fields = parameters.map(field)
  for (const { name, set } of fields) if (given[name] !== undefined) set(given[name])
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
      const byField = Map.groupBy(problems, ({ parameter, header }) => parameter ?? header?.toLowerCase())
      const named = all.filter(({ name }) => byField.has(name))
      for (const made of all)
        made.showProblem(
          byField
            .get(made.name)
            ?.map(({ detail }) => detail)
            .join('; ') ?? null,
        )
      named[0]?.focus()
      for (const { name } of named) byField.delete(name)
      return [...byField.values()].flat()
    },
  }
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
  const times = fields.filter((_, i) => parameters[i]!.format === 'iso-timestamp')
  const named = (pattern: RegExp) => times.find(({ name }) => pattern.test(name))
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
  const label = el('span', { class: 'label', id }, 'Quick ranges')
  const group = { class: 'field ranges', role: 'group', 'aria-labelledby': id }
  return el('div', group, label, el('div', {}, ...buttons))
}
