/** The form of an endpoint, made from its parameters, with the service's problems beside their fields. */
import type { Problem } from '../../shared/errors.ts'
import { button, el, newId, show } from './dom.ts'
import { type Field, field, sentence } from './field.ts'
import { type Endpoint, parametersOf } from './service.ts'

/** @param given values of the link that was followed @param run called when a range is chosen */
export function form(endpoint: Endpoint, given: Record<string, string>, run: () => void) {
  const { parameters, redact } = endpoint
  const fields = parameters.map(field)
  for (const [i, made] of fields.entries()) {
    const value = given[made.name] ?? parameters[i]!.pinned
    if (value === undefined) continue
    made.set(value)
    if (made.value() !== value.trim()) made.showProblem(`there is no ${made.name} ${value}`)
  }
  // Sent as well: the service says which parameters it ignores.
  const undeclared = Object.entries(given).filter(([name]) => !fields.some(made => made.name === name))
  const redaction = redactionSwitch(redact)
  const all = [...fields, redaction]
  const elements = fields.map(made => made.element)
  return {
    element: el('div', { class: 'fields' }, ...elements, quickRanges(endpoint, fields, run)),
    /** The switch for redaction, which is no parameter. */
    redaction: redaction.element,
    values: (): Record<string, string> =>
      Object.fromEntries([...fields.map(made => [made.name, made.value()]), ...undeclared]),
    fill: (name: string, value: string) => fields.find(made => made.name === name)?.set(value),
    redact: () => redaction.value() === 'true',
    setRedact: (on: boolean) => redaction.set(String(on)),
    /** Puts each problem beside the field it names, and the cursor into the first. @returns those that name no field */
    showProblems(problems: Problem[]): Problem[] {
      const nameIn = ({ parameter, header }: Problem) => parameter ?? header?.toLowerCase()
      const byField = Map.groupBy(problems, nameIn)
      for (const made of all) {
        const details = byField.get(made.name)?.map(({ detail }) => detail)
        made.showProblem(details?.join('; ') ?? null)
      }
      all.find(({ name }) => byField.has(name))?.focus()
      return problems.filter(problem => !all.some(({ name }) => name === nameIn(problem)))
    },
  }
}

function redactionSwitch(byDefault: boolean): Field {
  const trouble = newId()
  const input = el('input', {
    type: 'checkbox',
    role: 'switch',
    checked: byDefault,
    'aria-describedby': trouble,
  })
  const problem = el('p', { class: 'problem', id: trouble })
  const title = byDefault
    ? 'This endpoint does so by itself; lifting it takes a key with the right pii:read.'
    : 'Addresses, e-mails, tokens and the like become REDACTED.'
  const showProblem = (detail: string | null) => show(problem, detail && sentence(detail))
  input.addEventListener('input', () => showProblem(null))
  return {
    name: 'svc-endpoint-redact-pii',
    element: el('div', {}, el('label', { class: 'check', title }, input, 'Redact personal data'), problem),
    value: () => String(input.checked),
    set: value => void (input.checked = value === 'true'),
    focus: () => input.focus(),
    showProblem,
  }
}

const ranges = {
  'Last 15 min': '-15m',
  'Last hour': '-1h',
  'Last 24 hours': '-1d',
  'Last 7 days': '-7d',
  'All time': '',
}

/** Ranges up to now, where a parameter is the time that entries come after, and perhaps another that they come before. */
function quickRanges(endpoint: Endpoint, fields: Field[], chosen: () => void): HTMLElement | null {
  const { start, end } = parametersOf(endpoint)
  if (!start) return null
  const buttons = Object.entries(ranges).map(([label, from]) =>
    button(label, () => {
      for (const { name, set } of fields) if (name === start || name === end) set(name === start ? from : '')
      chosen()
    }),
  )
  const id = newId()
  const label = el('span', { class: 'label', id }, 'Quick ranges')
  const group = { class: 'field ranges', role: 'group', 'aria-labelledby': id }
  return el('div', group, label, el('div', {}, ...buttons))
}
