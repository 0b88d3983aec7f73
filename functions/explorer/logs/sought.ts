/** What is said where a search or the filters find little or nothing, with the ways on. */
import { button, el } from '../dom.ts'
import type { Current } from './current.ts'
import { filterIn, nameOf } from './shape.ts'
import { type State, withFilter } from './state.ts'

/** As many rows may be fewer than a person looks for: the same value may stand in a field of many more. */
const few = 10

/** @param count of all rows that are found @returns `null` where nothing needs to be said */
export function foundText(view: Current, count: number): HTMLElement | null {
  if (count === 0) return nothing(view)
  const ways = waysOn(view)
  if (ways.length === 0 || count >= few) return null
  return el('p', { class: 'hint sought' }, 'More rows may have it elsewhere: ', ...ways)
}

/** Says that there are no rows, with ways to find some. */
function nothing(view: Current): HTMLElement {
  const { from, search, scope, filters, severity, values } = view.state
  const isNarrowed = filters.length > 0 || severity.length > 0
  const given = Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(pair => pair.join(' '))
    .join(' and ')
  const isFiltered = search !== '' || isNarrowed
  const words = search
    ? `No ${scope} holds ${search} in this range${isNarrowed ? ' and with these filters' : ''}.`
    : isFiltered
      ? 'Nothing in this range passes the filters.'
      : `Nothing was logged in this range${given && ` for ${given}`}.`
  const act = (name: string, patch: Partial<State>) => button(name, () => view.change(patch))
  const unfiltered = isFiltered && act('Without filters', { search: '', filters: [], severity: [] })
  const allTime = from !== '' && act('All time', { from: '', to: '' })
  const acts = el('div', { class: 'actions' }, ...waysOn(view), unfiltered, allTime)
  return el('div', { class: 'card empty' }, el('h3', {}, 'No rows'), el('p', {}, words), acts)
}

/** Where else a search may find something: in the field that it names, in all fields, in all tables. */
function waysOn({ state, shape, change, everywhere }: Current): HTMLElement[] {
  if (state.search === '') return []
  const filter = filterIn(state.search, shape())
  const filterBy = filter && {
    name: `Filter ${nameOf(filter)} = ${String(filter.value)}`,
    press: () => change({ search: '', ...withFilter(state, filter) }),
  }
  const ways = [
    filterBy,
    state.scope === 'message' && { name: 'Look in all fields', press: () => change({ scope: 'entry' }) },
    everywhere && !shape().parts && { name: 'Look in all tables', press: () => everywhere() },
  ]
  return ways.flatMap(way => (way ? [button(way.name, way.press)] : []))
}
