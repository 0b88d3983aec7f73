/** The fields of the table, and the values of the one that is looked at. */
import { button, type Child, el, show } from '../dom.ts'
import { amount, unitOf } from '../series.ts'
import { fieldsOf, measureMenu, type Named, namesOf } from './measure.ts'
import { type Field, measureOf, nameOf, type Shape } from './shape.ts'
import type { Filter, Scalar, State } from './state.ts'

export interface Top {
  value: Scalar
  /** Whether it stands for values that are not shown. */
  isRedacted: boolean
  /** Whether it is the name of a field inside JSON. */
  isName?: boolean
  /** How many, or what is measured of them. */
  entries: number
  /** How many are measured. */
  counted?: number
}

interface Acts {
  filter(filter: Filter): void
  column(path: string): void
  by(path: string): void
  measure(measure: string): void
  close(): void
}

interface ItemActs extends Acts {
  /** Shows all values of a field; `false` where they are shown. */
  more: ((path: string) => void) | false
}

type Looked = Pick<State, 'by' | 'measure' | 'columns'>

/** What stands for the value of entries without the field. */
export const none = '(none)'

/** What redaction puts in place of a value, or into it. */
export const redactedText = /REDACTED/

/** As many values are read, and some of them shown at first. */
export const mostValues = 100
const fewValues = 10

/** The panel beside the rows, without fields until `set`. */
export function fieldList(acts: Acts) {
  const search = el('input', { type: 'search', placeholder: 'Find a field', 'aria-label': 'Find a field' })
  const list = el('ul', {})
  const close = button('Close the fields', acts.close, { class: 'close-fields' })
  const head = el('div', { class: 'fields-head' }, close, search)
  const element = el('aside', { class: 'fields-panel', 'aria-label': 'Fields' }, head, list)
  let drawn: (() => void) | null = null
  /** The field whose values were scrolled to. */
  let shown = ''
  /** The field that has all its values shown. */
  let whole = ''
  search.addEventListener('input', () => drawn?.())
  const more = (path: string) => {
    whole = path
    drawn?.()
  }

  return {
    element,
    /** @param top the values of the state's field; `null` = not read yet */
    set(state: Looked, shape: Shape, top: Top[] | null) {
      if (state.by !== whole) whole = ''
      drawn = () => {
        const sought = search.value.toLowerCase()
        const found = namesOf(fieldsOf(shape, state)).filter(({ field }) =>
          field.path.toLowerCase().includes(sought),
        )
        show(
          list,
          ...found.map(named =>
            item(named, state, shape, top, { ...acts, more: named.field.path !== whole && more }),
          ),
        )
      }
      drawn()
      if (top && state.by !== shown) {
        const open = list.querySelector<HTMLElement>('li:has(.top)')
        const isTall = open && open.offsetHeight > element.clientHeight
        open?.scrollIntoView({ block: isTall ? 'start' : 'nearest' })
      }
      if (top || state.by === '') shown = state.by
    },
  }
}

function item(
  { field, name, above }: Named,
  state: Looked,
  shape: Shape,
  top: Top[] | null,
  acts: ItemActs,
): HTMLElement {
  const open = state.by === field.path
  const heading = button([name, el('small', {}, above)], () => acts.by(open ? '' : field.path), {
    class: 'field-name',
    'aria-expanded': String(open),
    title: `${field.path}: ${field.type}`,
  })
  return el('li', {}, heading, open && values(field, state, shape, top, acts))
}

function values(field: Field, state: Looked, shape: Shape, top: Top[] | null, acts: ItemActs): HTMLElement {
  const { path, type } = field
  const { more } = acts
  const all = top ?? []
  const few = more ? all.filter(({ value }, i) => i < fewValues || value === null) : all
  const most = Math.max(1e-9, ...all.map(({ entries }) => entries))
  const measured = measureOf(state.measure, shape)
  const unit = measured ? unitOf(nameOf(measured.field)) : ''
  const measure = measureMenu('Show of each value', acts.measure)
  measure.set(state, shape)
  const line = ({ value, isRedacted, isName, entries, counted }: Top) => {
    // A field inside JSON is looked at in its turn.
    if (isName)
      return el(
        'li',
        {},
        topValue(String(value), 'Look into it', () => acts.by(`${path}.${String(value)}`), amount(entries)),
      )
    const text = value === null ? none : String(value)
    const filter = (operator: '=' | '!=') => () => acts.filter({ path, operator, value })
    const out = `Filter out ${text}`
    const hidden = isRedacted && 'Redacted: no row is found by it'
    const bar = el('i', { class: 'top-bar', 'aria-hidden': 'true' })
    bar.style.width = `${(100 * entries) / most}%`
    const rows = counted !== undefined && el('small', {}, rowsText(counted))
    return el(
      'li',
      {},
      topValue(text, hidden || `Filter for ${text}`, !hidden && filter('='), amount(entries, unit), rows),
      !hidden && button('≠', filter('!='), { title: out, 'aria-label': out }),
      bar,
    )
  }
  return el(
    'div',
    { class: 'top' },
    type !== 'JSON' && el('div', { class: 'measure' }, el('span', {}, 'Show'), measure.element),
    top === null ? el('p', { class: 'hint' }, 'Counting …') : el('ol', {}, ...few.map(line)),
    more &&
      few.length < all.length &&
      button('More', () => more(path), { class: 'quiet', title: 'More values' }),
    !more && all.length >= mostValues && el('p', { class: 'hint' }, `The first ${mostValues}.`),
    button(state.columns.includes(path) ? 'Remove the column' : 'Show as column', () => acts.column(path), {
      class: 'quiet',
    }),
  )
}

function topValue(
  text: string,
  title: string,
  press: false | (() => void),
  ...amounts: Child[]
): HTMLElement {
  const parts = [el('span', {}, text), el('b', {}, ...amounts)]
  const properties = { class: 'top-value', title }
  return press ? button(parts, press, properties) : el('span', properties, ...parts)
}

/** `1 row` */
export function rowsText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`
}
