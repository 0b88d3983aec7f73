/** The fields of the table, and the values of the one that is looked at. */
import { el, newId, show } from '../dom.ts'
import { type Field, fieldAt, isNumber, nameOf, type Shape } from './shape.ts'
import type { Filter, Scalar, State } from './state.ts'

export interface Top {
  value: Scalar
  entries: number
}

interface Acts {
  filter(filter: Filter): void
  column(path: string): void
  by(path: string): void
  measure(measure: string): void
  close(): void
}

const amounts = [/time|duration|_ms|latency/, /bytes|length|size/, /score|count/]

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export function fieldList(acts: Acts) {
  const search = el('input', { type: 'search', placeholder: 'Find a field', 'aria-label': 'Find a field' })
  const list = el('ul', {})
  const close = el(
    'button',
    { type: 'button', class: 'close-fields', onclick: acts.close },
    'Close the fields',
  )
  const element = el('aside', { class: 'fields-panel', 'aria-label': 'Fields' }, close, search, list)
  let drawn: (() => void) | null = null
  search.addEventListener('input', () => drawn?.())

  return {
    element,
    /** @param top the values of the state's field; `null` = not read yet */
    set(state: Pick<State, 'by' | 'measure' | 'columns'>, shape: Shape, top: Top[] | null) {
      drawn = () => {
        const sought = search.value.toLowerCase()
        const fields = ordered(shape, state).filter(({ path }) => path.toLowerCase().includes(sought))
        show(list, ...fields.map(field => item(field, state, shape, top, acts)))
      }
      drawn()
    },
  }
}

/** Those inside JSON that are looked at, those that people look for first, then all others. */
function ordered(shape: Shape, { by, columns }: Pick<State, 'by' | 'columns'>): Field[] {
  const { fields, likely, time, message, id } = shape
  const inJson = [by, ...columns].flatMap(path => fieldAt(shape, path) ?? []).filter(({ json }) => json)
  const all = [...new Map([...inJson, ...likely, ...fields].map(field => [field.path, field])).values()]
  return all.filter(field => ![time, message, id].includes(field))
}

function item(
  field: Field,
  state: Pick<State, 'by' | 'measure' | 'columns'>,
  shape: Shape,
  top: Top[] | null,
  acts: Acts,
): HTMLElement {
  const open = state.by === field.path
  const above = field.path.split('.').slice(0, -1)
  const name = el(
    'button',
    {
      type: 'button',
      class: 'field-name',
      'aria-expanded': String(open),
      title: `${field.path}: ${field.type}`,
      onclick: () => acts.by(open ? '' : field.path),
    },
    nameOf(field),
    el('small', {}, above.slice(-1).join('')),
  )
  return el('li', {}, name, open && values(field, state, shape, top, acts))
}

function values(
  field: Field,
  state: Pick<State, 'measure' | 'columns'>,
  shape: Shape,
  top: Top[] | null,
  acts: Acts,
): HTMLElement {
  const most = Math.max(1e-9, ...(top ?? []).map(({ entries }) => entries))
  const isColumn = state.columns.includes(field.path)
  const lines = (top ?? []).map(({ value, entries }) => {
    if (field.type === 'JSON') return inside(field, String(value), entries, acts)
    const text = value === null ? '(none)' : String(value)
    const bar = el('i', { class: 'top-bar', 'aria-hidden': 'true' })
    bar.style.width = `${(100 * entries) / most}%`
    const filter = (operator: '=' | '!=', sign: string, words: string) =>
      el(
        'button',
        {
          type: 'button',
          title: words,
          'aria-label': `${words} ${text}`,
          onclick: () => acts.filter({ path: field.path, operator, value }),
        },
        sign,
      )
    const chosen = el(
      'button',
      {
        type: 'button',
        class: 'top-value',
        title: `Filter for ${text}`,
        onclick: () => acts.filter({ path: field.path, operator: '=', value }),
      },
      el('span', {}, text),
      el('b', {}, numbers.format(entries)),
    )
    return el('li', {}, chosen, filter('!=', '≠', 'Filter out'), bar)
  })
  return el(
    'div',
    { class: 'top' },
    field.type !== 'JSON' && measures(state.measure, shape, acts),
    top === null ? el('p', { class: 'hint' }, 'Counting …') : el('ol', {}, ...lines),
    top?.length === 10 && el('p', { class: 'hint' }, 'The first ten.'),
    el(
      'button',
      { type: 'button', class: 'quiet', onclick: () => acts.column(field.path) },
      isColumn ? 'Remove the column' : 'Show as column',
    ),
  )
}

/** A field inside JSON, which is looked at in its turn. */
function inside({ path }: Field, name: string, entries: number, acts: Acts): HTMLElement {
  const press = {
    type: 'button',
    class: 'top-value',
    title: 'Look into it',
    onclick: () => acts.by(`${path}.${name}`),
  }
  return el('li', {}, el('button', press, el('span', {}, name), el('b', {}, numbers.format(entries))))
}

/** What is counted: rows, or a number of theirs. */
function measures(measure: string, shape: Shape, acts: Acts): HTMLElement {
  const numeric = [...new Set([...shape.likely, ...shape.fields])].filter(isNumber)
  const fields = numeric.toSorted((a, b) => rank(a) - rank(b))
  const id = newId()
  const options = fields.flatMap(field =>
    ['average', 'highest'].map(kind => {
      const value = `${kind}:${field.path}`
      return el('option', { value, selected: value === measure }, `${kind} ${toldApart(field, fields)}`)
    }),
  )
  const select = el(
    'select',
    { id, onchange: () => acts.measure(select.value) },
    el('option', { value: 'rows' }, 'number of rows'),
    ...options,
  )
  return el('div', { class: 'measure' }, el('label', { for: id }, 'By'), select)
}

/** Times first, then other amounts; of those alike the likely ones. */
function rank(field: Field): number {
  const at = amounts.findIndex(pattern => pattern.test(nameOf(field)))
  return at < 0 ? amounts.length : at
}

/** By its path, where another field has the same name. */
function toldApart(field: Field, fields: Field[]): string {
  const alike = fields.filter(other => nameOf(other) === nameOf(field))
  return alike.length > 1 ? field.path : nameOf(field)
}

/** `highest origin_time` */
export function measureText(measure: string, shape: Shape): string {
  const [kind, path = ''] = measure.split(/:(.*)/s)
  const field = fieldAt(shape, path)
  return field ? `${kind} ${nameOf(field)}` : 'rows'
}
