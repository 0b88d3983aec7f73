/** What is said where a search or the filters find little or nothing, with the ways on. */
import { button, el } from '../dom.ts'
import type { Current } from './current.ts'
import { filterIn, nameOf } from './shape.ts'
import { type State, withFilter } from './state.ts'

/** As many rows may be fewer than a person looks for: the same value may stand in a field of many more. */
const few = 10

/** @param count of all rows that are found @returns `null` where nothing needs to be said */
export function foundText(view: Current, count: number, openFields: () => void): HTMLElement | null {
  if (count === 0) return nothing(view, openFields)
  if (view.state.search === '' || count >= few) return null
  const words = 'Only messages are searched. A value may stand in a field of more rows: '
  return el('p', { class: 'hint sought' }, words, wayOn(view, openFields))
}

/** Says that there are no rows, with ways to find some. */
function nothing(view: Current, openFields: () => void): HTMLElement {
  const { from, search, filters, severity } = view.state
  const isNarrowed = filters.length > 0 || severity.length > 0
  const isFiltered = search !== '' || isNarrowed
  const words = search
    ? `No message holds ${search} in this range${isNarrowed ? ' and with these filters' : ''}. Only messages are searched.`
    : isFiltered
      ? 'Nothing in this range passes the filters.'
      : 'Nothing was logged in this range.'
  const act = (name: string, patch: Partial<State>) => button(name, () => view.change(patch))
  const sought = search !== '' && wayOn(view, openFields)
  const unfiltered = isFiltered && act('Without filters', { search: '', filters: [], severity: [] })
  const allTime = from !== '' && act('All time', { from: '', to: '' })
  const acts = el('div', { class: 'actions' }, sought, unfiltered, allTime)
  return el('div', { class: 'card empty' }, el('h3', {}, 'No rows'), el('p', {}, words), acts)
}

/** The filter that the search stands for, or else the fields. */
function wayOn({ state, shape, change }: Current, openFields: () => void): HTMLElement {
  const filter = filterIn(state.search, shape())
  if (!filter) return button('Fields', openFields)
  return button(`Filter ${nameOf(filter)} = ${String(filter.value)}`, () =>
    change({ search: '', ...withFilter(state, filter) }),
  )
}
