/** What is said where a search or the filters find little or nothing, with the ways on. */
import { Button } from '../controls.tsx'
import { filterIn, nameOf } from './shape.ts'
import { everyTable, type State, withFilter } from './state.ts'
import type { Store } from './store.ts'

/** As many rows may be fewer than a person looks for: the same value may stand in a field of many more. */
const few = 10

/** Nothing where there are more rows, or enough of them. */
export function EmptyState({ store }: { store: Store }) {
  const { found, rows, isCurrent } = store
  if (!found.value?.isAll || !isCurrent.value) return null
  const count = rows.value.length
  if (count === 0) return <Nothing store={store} />
  if (count >= few || waysOn(store).length === 0) return null
  return (
    <p class="hint empty-state">
      More rows may have it elsewhere: <Ways store={store} />
    </p>
  )
}

function Nothing({ store }: { store: Store }) {
  const { from, search, scope, filters, severity, values } = store.state.value
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
  const unfiltered: Partial<State> = { search: '', filters: [], severity: [] }
  return (
    <div class="card empty">
      <h3>No rows</h3>
      <p>{words}</p>
      <div class="actions">
        <Ways store={store} />
        {isFiltered && <Button press={() => store.change(unfiltered)}>Without filters</Button>}
        {from !== '' && <Button press={() => store.change({ from: '', to: '' })}>All time</Button>}
      </div>
    </div>
  )
}

function Ways({ store }: { store: Store }) {
  return waysOn(store).map(({ name, press }) => (
    <Button key={name} press={press}>
      {name}
    </Button>
  ))
}

/** Where else a search may find something: in the field that it names, in all fields, in all tables. */
function waysOn(store: Store): { name: string; press(): void }[] {
  const { state, shape, hasAllTables } = store
  const { search, scope } = state.value
  if (search === '') return []
  const filter = filterIn(search, shape.value)
  const ways = [
    filter && {
      name: `Filter ${nameOf(filter)} ${filter.operator} ${String(filter.value)}`,
      press: () => store.change({ search: '', ...withFilter(state.value, filter) }),
    },
    scope === 'message' && { name: 'Look in all fields', press: () => store.change({ scope: 'entry' }) },
    hasAllTables &&
      !shape.value.parts && { name: 'Look in all tables', press: () => void store.toTable(everyTable) },
  ]
  return ways.flatMap(way => way || [])
}
