/** What can be done in the logs view, by name; and the files of rows that leave the page. */
import { spreadsheet } from '../../../shared/answers/csv.ts'
import { choosing, type Commands, where } from '../commands.ts'
import { copy, download } from '../copy.ts'
import { now } from '../service.ts'
import { columnsOf } from '../value.ts'
import { comparisons } from './compare.ts'
import { fieldsOf, namesOf } from './measure.ts'
import { rangeBeside, ranges, timeIn } from './range.ts'
import { tableTitle } from './shape.ts'
import { show, type Shown } from './shown.ts'
import { cleared, lists, type State } from './state.ts'
import type { Store } from './store.ts'
import { zoneName } from './zone.ts'

interface Acts {
  stop(): void
  fresh(): void
  follow(): void
  toTable(table: string): void
  values(path: string): void
  editSql(sql: string): void
}

const listNames = { '': 'entries', patterns: 'patterns', new: 'new patterns' }
const partNames = { fields: 'the fields', chart: 'the chart', wrap: 'wrapped messages' }

export function commandsOf(store: Store, acts: Acts, shown: Shown): Commands {
  const state = store.state.value
  const change = (patch: Partial<State>) => () => store.change(patch)
  const parts = Object.entries(partNames).map(([part, text]) => {
    const [name, isOn] = [part as keyof Shown, shown[part as keyof Shown].value]
    return [`${isOn ? 'Hide' : 'Show'} ${text}`, () => show(shown, name, !isOn)] as const
  })
  return {
    ...where(store.isRunning.value, { Stop: acts.stop }),
    ...where(mayRunFresh(store), { 'Run fresh': acts.fresh }),
    [store.following.value ? 'Stop following new rows' : 'Follow new rows']: acts.follow,
    ...where(store.isNarrowed.value, { 'Clear all': change(cleared(state)) }),
    ...where(!store.isRedactionForced.value, {
      [state.redact ? 'Show personal data' : 'Redact personal data']: change({ redact: !state.redact }),
    }),
    ...Object.fromEntries(parts),
    ...choosing(
      'List',
      lists.map(list => [list, listNames[list]] as const),
      state.list,
      list => store.change({ list }),
    ),
    ...choosing(
      'Table',
      store.tables.map(table => [table, tableTitle(table)] as const),
      state.table,
      acts.toTable,
    ),
    ...rangesOf(store),
    ...choosing('Compare with', [['', 'nothing'], ...comparisons], state.compare, compare =>
      store.change({ compare }),
    ),
    ...leaving(store),
    'Continue in SQL': () => acts.editSql(store.sql.value),
    ...fieldsIn(store, acts),
  }
}

/** Whether the endpoint keeps answers, and the key may go past them. */
export function mayRunFresh({ endpoint }: Pick<Store, 'endpoint'>): boolean {
  return endpoint.cacheSeconds > 0 && endpoint.mayRunFresh
}

function rangesOf(store: Store): Commands {
  const state = store.state.value
  const nameOf = ({ from, to }: Pick<State, 'from' | 'to'>) => `${from} ${to}`
  const beside = (
    [
      ['earlier', -1],
      ['later', 1],
    ] as const
  ).flatMap(([text, by]) => {
    const next = rangeBeside(state, store.range.value, by, now())
    return next ? [[`Range: ${text}`, () => store.change(next)] as const] : []
  })
  const named = ranges.map(range => [nameOf(range), range.text] as const)
  return {
    ...Object.fromEntries(beside),
    ...choosing('Range', named, nameOf(state), name => {
      const { from, to } = ranges.find(range => nameOf(range) === name)!
      store.change({ from, to })
    }),
  }
}

function fieldsIn(store: Store, acts: Acts): Commands {
  const state = store.state.value
  const fields = namesOf(fieldsOf(store.shape.value, state))
  const columns = fields.map(({ field: { path }, label }) => {
    const isShown = state.columns.includes(path)
    return [`${isShown ? 'Remove' : 'Show'} the column: ${label}`, () => store.column(path)] as const
  })
  const values = fields.map(
    ({ field: { path }, label }) => [`Values of: ${label}`, () => acts.values(path)] as const,
  )
  return Object.fromEntries([...columns, ...values])
}

/** What leaves the page goes with the rows that are shown, so only where these answer what is asked. */
function leaving(store: Store): Commands {
  return where(store.isCurrent.value, {
    'Copy link': () => void copy(location.href),
    ...where(!isExact(store), { 'Copy link to this period': () => void copy(store.exactLink()) }),
    'CSV of rows shown': () => saveCsv(store),
    'JSON of rows shown': () => saveJson(store),
  })
}

/** Whether the address names the same period at any time. */
export function isExact({ state }: Store): boolean {
  return [state.value.from, state.value.to].every(bound => /^\d/.test(bound))
}

/** With times as the list shows them. */
export function saveCsv(store: Store): void {
  const { rows, state } = store
  const { zone } = state.value
  const timed = spreadsheet(
    rows.value,
    columnsOf(rows.value),
    zoneName(zone),
    value => timeIn(value, zone)?.text ?? null,
  )
  download(`${nameOf(store)}.csv`, timed, 'text/csv')
}

export function saveJson(store: Store): void {
  download(`${nameOf(store)}.json`, JSON.stringify(store.rows.value, null, 2), 'application/json')
}

function nameOf({ found, state }: Store): string {
  return tableTitle(found.value?.state.table ?? state.value.table)
}
