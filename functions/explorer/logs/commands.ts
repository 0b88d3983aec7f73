/** What can be done in the logs view, by name; and the files of rows that leave the page. */
import { spreadsheet } from '../../../shared/answers/csv.ts'
import type { Value } from '../../../shared/engines/engine.ts'
import { choosing, type Commands, where } from '../shortcuts.ts'
import { copy, download } from '../copy.ts'
import { now } from '../service.ts'
import { columnsOf } from '../value.ts'
import { comparisons, comparisonText, rankings } from './compare.ts'
import { plain } from './entries.ts'
import { fieldsOf, measureChoices, namesOf } from './measure.ts'
import { rangeBeside, ranges, timeIn } from './range.ts'
import { tableColumn, tableTitle } from './shape.ts'
import { show, type Shown } from './shown.ts'
import { cleared, everyTable, type State } from './state.ts'
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

export function commandsOf(store: Store, acts: Acts, shown: Shown): Commands {
  const state = store.state.value
  const change = (patch: Partial<State>) => () => store.change(patch)
  const range = ranges.find(({ from, to }) => from === state.from && to === state.to)
  const errors = errorsInAll(store)
  const measures = measureChoices(store.shape.value, state)
  const compared = comparisons.map(([compare, text]) => [text, change({ compare })] as const)
  return {
    ...where(store.isRunning.value, { Stop: acts.stop }),
    ...where(mayRunFresh(store), { 'Run fresh': acts.fresh }),
    [store.following.value ? 'Stop following new rows' : 'Follow new rows']: acts.follow,
    ...where(store.isNarrowed.value, { 'Clear all': change(cleared(state)) }),
    ...where(!store.isRedactionForced.value, {
      [state.redact ? 'Show personal data' : 'Redact personal data']: change({ redact: !state.redact }),
    }),
    ...partsOf(shown),
    ...choosing('List', listNames[state.list], [
      ['entries', change({ list: '' })],
      ['patterns', change({ list: 'patterns' })],
      ['new patterns', change({ list: 'new' })],
    ]),
    ...choosing(
      'Table',
      tableTitle(state.table),
      store.tables.map(table => [tableTitle(table), () => acts.toTable(table)]),
    ),
    ...where(errors !== null, { 'Errors in all tables': errors! }),
    ...besides(store),
    ...choosing(
      'Range',
      range?.text,
      ranges.map(({ from, to, text }) => [text, change({ from, to })]),
    ),
    ...choosing('Compare with', comparisonText(state.compare) ?? 'nothing', [
      ['nothing', change({ compare: '' })],
      ...compared,
    ]),
    ...choosing(
      'Show in the chart',
      measures.find(({ measure }) => measure === state.measure)?.text,
      measures.map(({ text, patch }) => [text, change(patch)]),
    ),
    ...where(
      isRanked(state),
      choosing(
        'Order of values and patterns',
        rankings.find(([rank]) => rank === state.rank)?.[1],
        rankings.map(([rank, text]) => [text, change({ rank })]),
      ),
    ),
    ...leaving(store),
    'Continue in SQL': () => acts.editSql(store.sql.value),
    ...fieldsIn(store, acts),
  }
}

/** Whether values or patterns are listed that are compared. */
function isRanked({ list, by, compare }: State): boolean {
  return list !== '' || (by !== '' && compare !== '')
}

const listNames = { '': 'entries', patterns: 'patterns', new: 'new patterns' }

/** Whether the endpoint keeps answers, and the key may go past them. */
export function mayRunFresh({ endpoint }: Pick<Store, 'endpoint'>): boolean {
  return endpoint.cacheSeconds > 0 && endpoint.mayRunFresh
}

const partNames = { fields: 'the fields', chart: 'the chart', wrap: 'wrapped messages' }

function partsOf(shown: Shown): Commands {
  const parts = (Object.keys(partNames) as (keyof Shown)[]).map(name => {
    const isOn = shown[name].value
    return [`${isOn ? 'Hide' : 'Show'} ${partNames[name]}`, () => show(shown, name, !isOn)] as const
  })
  return Object.fromEntries(parts)
}

/**
 * From one table to the errors of all in the range, by table; `null` where there is no way. How many there are is not known before:
 * to count them takes a scan of each table, so it waits for a press.
 */
export function errorsInAll(store: Store): (() => void) | null {
  const all = store.hasAllTables && store.shapeOf(everyTable)
  if (!all || !all.severity || store.shape.value.parts) return null
  const errors: Partial<State> = { severity: ['error'], by: tableColumn, measure: 'rows', list: '' }
  return () => void store.toTable(everyTable, { ...plain, search: '', ...errors })
}

/** The ranges before this one and behind it, where there are some. */
function besides(store: Store): Commands {
  const beside = (by: 1 | -1) => rangeBeside(store.state.value, store.range.value, by, now())
  const [earlier, later] = [beside(-1), beside(1)]
  return {
    ...where(earlier !== null, { 'Range: earlier': () => store.change(earlier!) }),
    ...where(later !== null, { 'Range: later': () => store.change(later!) }),
  }
}

function fieldsIn(store: Store, acts: Acts): Commands {
  const state = store.state.value
  const fields = namesOf(fieldsOf(store.shape.value, state))
  const each = fields.flatMap(({ field: { path }, label }) => [
    [`${state.columns.includes(path) ? 'Remove' : 'Show'} the column: ${label}`, () => store.column(path)],
    [`Values of: ${label}`, () => acts.values(path)],
  ])
  return Object.fromEntries(each)
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
  const time = (value: Value) => timeIn(value, zone)?.text ?? null
  const csv = spreadsheet(rows.value, columnsOf(rows.value), zoneName(zone), time)
  download(`${nameOf(store)}.csv`, csv, 'text/csv')
}

export function saveJson(store: Store): void {
  download(`${nameOf(store)}.json`, JSON.stringify(store.rows.value, null, 2), 'application/json')
}

function nameOf({ found, state }: Store): string {
  return tableTitle(found.value?.state.table ?? state.value.table)
}
