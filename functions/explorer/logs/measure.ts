/** What the chart and the values of a field show: numbers of rows, or a number of theirs, and by which field. */
import { button, type Choices, el, menu } from '../dom.ts'
import { unitOf } from '../series.ts'
import { type Field, fieldAt, isNumber, measureOf, measures, nameOf, type Shape } from './shape.ts'
import type { State } from './state.ts'

type Shown = Pick<State, 'by' | 'measure' | 'columns'>

/** Numbers that say which or when, of which an average says nothing. */
const names = /(^|_)(id|pid|num|line|code|status|asn|port|at|exp|iat)$|^time$/

const amounts = [/time|duration|_ms|latency/, /bytes|length|size/, /score|count/]

/** `Show average of origin_time by method`, as two menus; a press is a change of the state. */
export function chartMenus(change: (patch: Partial<State>) => void) {
  let slowest: Pick<State, 'measure' | 'by'> | null = null
  const measure = measureMenu('Show in the chart', to =>
    change(to === slowestOption ? slowest! : { measure: to }),
  )
  const by = menu('Split the chart by', path => change({ by: path }))
  const counts = button('Back to counts', () => change({ measure: 'rows', by: '' }), { class: 'quiet' })
  return {
    element: el(
      'div',
      { class: 'measure' },
      el('span', {}, 'Show'),
      measure.element,
      'by',
      by.element,
      counts,
    ),
    set(state: Shown, shape: Shape) {
      slowest = slowestOf(shape)
      measure.set(state, shape, slowest && [slowestOption, `slowest ${nameOf({ path: slowest.by })}s`])
      counts.hidden = state.measure === 'rows'
      const fields = fieldsOf(shape, state).filter(({ type, path }) => type !== 'JSON' || path === state.by)
      const split = state.measure === 'rows' && shape.severity
      const all = split ? (split.type === 'INT64' ? 'class of status' : 'severity') : 'nothing'
      by.set(
        [['', all], ...namesOf(fields).map(({ field, label }) => [field.path, label] as const)],
        state.by,
      )
    },
  }
}

export function measureMenu(label: string, act: (measure: string) => void) {
  const { element, set } = menu(label, act)
  return {
    element,
    /** @param ready a choice of its own */
    set({ measure }: Pick<State, 'measure'>, shape: Shape, ready: Choices[number] | null = null) {
      const fields = amountsOf(shape, measureOf(measure, shape)?.field)
      const options: Choices = namesOf(fields).flatMap(({ field, label }) =>
        measures.map(kind => [`${kind}:${field.path}`, `${kind} ${withUnit(label, field)}`] as const),
      )
      set([['rows', 'number of rows'], ...(ready ? [ready] : []), ...options], measure)
    },
  }
}

const slowestOption = 'slowest'

/** Where a table has paths and times that they took: the paths by the average of these. */
export function slowestOf(shape: Shape): Pick<State, 'measure' | 'by'> | null {
  if (shape.parts) return shape.parts.map(slowestOf).find(found => found !== null) ?? null
  const path = shape.likely.find(field => /^(path|pathname|url|route)$/.test(nameOf(field)))
  const [time] = amountsOf(shape)
  if (!path || !time || rank(time) > 0) return null
  return { measure: `average:${time.path}`, by: path.path }
}

/** Fields that can be measured, those first that people look for. */
function amountsOf({ likely, fields }: Shape, chosen?: Field): Field[] {
  return [...new Set([...likely, ...fields])]
    .filter(field => isNumber(field) && (field === chosen || !names.test(nameOf(field))))
    .toSorted((a, b) => rank(a) - rank(b))
}

/** Those inside JSON that are looked at, those that people look for first, then all others. */
export function fieldsOf(shape: Shape, { by, columns }: Pick<State, 'by' | 'columns'>): Field[] {
  const { fields, likely, time, message, id } = shape
  const inJson = [by, ...columns].flatMap(path => fieldAt(shape, path) ?? []).filter(({ json }) => json)
  const all = [...new Map([...inJson, ...likely, ...fields].map(field => [field.path, field])).values()]
  return all.filter(field => ![time, message, id].includes(field))
}

/** Times first, then other amounts; of those alike the likely ones. */
function rank(field: Field): number {
  const at = amounts.findIndex(pattern => pattern.test(nameOf(field)))
  return at < 0 ? amounts.length : at
}

export interface Named {
  field: Field
  /** The last name of its path. */
  name: string
  /** The names above it: the last one, and as many more as tell it apart from others of its name. */
  above: string
  /** `host (headers)`, where another field has the same name. */
  label: string
}

/** The fields as people read them, the same in the menus and in the list. */
export function namesOf(fields: Field[]): Named[] {
  const groups = Map.groupBy(fields, nameOf)
  return fields.map(field => {
    const name = nameOf(field)
    const alike = groups.get(name)!
    const own = field.path.split('.')
    const tails = own.slice(1).map((_, i) => own.slice(-2 - i).join('.'))
    const isApart = (tail: string) =>
      alike.every(other => other === field || !`.${other.path}`.endsWith(`.${tail}`))
    const above = (tails.find(isApart) ?? field.path).split('.').slice(0, -1).join('.')
    return { field, name, above, label: alike.length > 1 && above ? `${name} (${above})` : name }
  })
}

/** `origin_time (ms)` */
function withUnit(text: string, field: Field): string {
  const unit = unitOf(nameOf(field))
  return unit === '' || unit === 'time' ? text : `${text} (${unit})`
}

/** `Highest origin_time (ms) by path` */
export function titleOf({ by, measure }: Pick<State, 'by' | 'measure'>, shape: Shape): string {
  const [of, field] = [measureOf(measure, shape), fieldAt(shape, by)]
  const text = of ? `${of.kind} ${withUnit(nameOf(of.field), of.field)}` : 'rows'
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${field ? ` by ${nameOf(field)}` : ''}`
}
