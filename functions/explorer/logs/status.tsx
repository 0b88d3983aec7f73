/** The line above the rows: how many there are and what they cost, the filters, and what is done with them. */
import { useMemo } from 'preact/hooks'
import type { Row } from '../../../shared/engines/engine.ts'
import { keyText, palette } from '../shortcuts.ts'
import { Button, Copy, Menu, Popover } from '../controls.tsx'
import { Icon } from '../icon.tsx'
import { Failure } from '../problem.tsx'
import { Lists } from './pattern-list.tsx'
import { errorsInAll, isExact, mayRunFresh, saveCsv, saveJson } from './commands.ts'
import { backText, type Entries } from './entries.ts'
import { countHits, hitsOf } from './hits.ts'
import { columnsOf } from './rows.ts'
import { cleared, type Filter, type State } from './state.ts'
import { show, type Shown } from './shown.ts'
import type { Store } from './store.ts'

interface Props {
  store: Store
  entries: Entries
  shown: Shown
  /** Runs past the cache. */
  fresh(): void
}

const scopes = [
  ['message', 'in messages'],
  ['entry', 'in all fields'],
] as const

export function Status({ store, entries, shown, fresh }: Props) {
  const { state, notices } = store
  return (
    <>
      <div class="logs-line">
        <Lists store={store} />
        <Facts store={store} />
        <Back entries={entries} />
        <ErrorsElsewhere store={store} />
        {store.isNarrowed.value && (
          <Button
            class="quiet"
            title="Without search, filters, columns and sorting, the chart as at first; Back brings them back"
            press={() => store.change(cleared(state.value))}>
            Clear all
          </Button>
        )}
        <div class="chips">
          {state.value.filters.map(filter => (
            <Chip filter={filter} store={store} />
          ))}
        </div>
        <div class="logs-acts">
          <Toggle shown={shown} name="fields" text="Fields" />
          <Toggle shown={shown} name="chart" text="Chart" />
          <Toggle shown={shown} name="wrap" text="Wrap" />
          <Redaction store={store} />
          <More store={store} fresh={fresh} />
        </div>
      </div>
      <div class="notices">
        {notices.value.map(text => (
          <p class="notice" role="alert" key={text}>
            {text}
          </p>
        ))}
      </div>
    </>
  )
}

/** How many rows there are, of what search, and whether more come. */
function Facts({ store }: { store: Store }) {
  const { search, scope } = store.state.value
  const asked = store.found.value?.state
  const hits = useMemo(() => (asked ? hitsIn(store.rows.value, asked, store) : 0), [store.rows.value, asked])
  const newest = () => document.querySelector('.rows')!.scrollTo(0, 0)
  return (
    <>
      <span class="stale" role="status">
        {store.isOld.value && store.reading.value !== 'run' && 'Not yet run'}
      </span>
      <span class="logs-facts" role="status">
        {factsOf(store, hits)}
      </span>
      <Cost store={store} />
      {search !== '' && (
        <Menu
          label="Search in"
          choices={scopes}
          chosen={scope}
          act={to => store.change({ scope: to as State['scope'] })}
        />
      )}
      {/* Too often to be read aloud. */}
      <Button class="live" title="Show the newest rows" press={newest}>
        {store.following.value?.looked}
      </Button>
    </>
  )
}

/** From the entries around one to what was asked before. */
function Back({ entries }: { entries: Entries }) {
  const before = entries.before.value
  if (!before) return null
  return (
    <Button title="As it was before the entries around one" press={entries.back}>
      <Icon name="back" />
      {backText(before)}
    </Button>
  )
}

/** To what may be the cause of what is looked at. */
function ErrorsElsewhere({ store }: { store: Store }) {
  const press = errorsInAll(store)
  if (!press) return null
  return (
    <Button
      class="quiet errors-elsewhere"
      title="The errors of this range in all tables, by table; reads all of them"
      press={press}>
      Errors in all tables
    </Button>
  )
}

function More({ store, fresh }: Pick<Props, 'store' | 'fresh'>) {
  return (
    <Popover label="More actions" title="Links, files, a fresh run" face="More">
      {close => (
        <>
          <Leaving store={store} />
          {mayRunFresh(store) && (
            <Button title="Run now, past the cache" press={fresh}>
              Run fresh
            </Button>
          )}
          <Button
            press={() => {
              close()
              palette.open()
            }}>
            All commands <kbd>{keyText('All commands')}</kbd>
          </Button>
        </>
      )}
    </Popover>
  )
}

/** How often the search is in what the list shows. */
function hitsIn(rows: Row[], asked: State, store: Store): number {
  const hits = hitsOf(asked.search)
  const columns = columnsOf(store.shapeOf(asked.table), asked).filter(({ isSearched }) => isSearched)
  const names = columns.map(({ name }) => name)
  return hits ? countHits(rows, names, hits) : 0
}

function factsOf({ reading, problem, found, rows, total }: Store, hits: number): string {
  if (reading.value === 'run') return 'Running …'
  if (problem.value === 'stopped') return 'Stopped.'
  if (!found.value) return ''
  const { isAll, isCut } = found.value
  const count = rows.value.length
  const of = total.value === null || isAll ? '' : ` of ${total.value.toLocaleString('en')}`
  const hit = hits > 0 ? `, ${hits.toLocaleString('en')} ${hits === 1 ? 'hit' : 'hits'}` : ''
  const facts = `${count.toLocaleString('en')}${of} ${count === 1 && of === '' ? 'row' : 'rows'}${hit}`
  return isCut ? `${facts}; some of the new ones are left out: press Run` : facts
}

/** What the rows took, for those who ask. */
function Cost({ store: { found, reading, following } }: { store: Store }) {
  if (!found.value || reading.value === 'run' || following.value) return null
  return (
    <details class="cost">
      <summary>Cost</summary>
      {found.value.cost}
    </details>
  )
}

function Toggle({ shown, name, text }: { shown: Shown; name: keyof Shown; text: string }) {
  const on = shown[name].value
  return (
    <Button aria-pressed={on} title={text} press={() => show(shown, name, !on)}>
      <Icon name={name} />
      <span>{text}</span>
    </Button>
  )
}

/** The open entry stays, to be read again. */
function Redaction({ store }: { store: Store }) {
  const { isRedactionForced } = store
  const { redact, row } = store.state.value
  return (
    <label class="redact" title="Addresses, e-mails, tokens and the like become REDACTED; ids of users stay">
      <input
        type="checkbox"
        checked={redact || isRedactionForced.value}
        disabled={isRedactionForced.value}
        onChange={({ currentTarget }) => store.change({ redact: currentTarget.checked, row })}
      />
      Redact
    </label>
  )
}

/** A filter: a press takes it away. */
function Chip({ filter, store }: { filter: Filter; store: Store }) {
  const { path, operator, value } = filter
  const text = `${path.split('.').slice(-2).join('.')} ${operator} ${value === null ? 'none' : String(value)}`
  const without = () => store.change({ filters: store.state.value.filters.filter(other => other !== filter) })
  return (
    <Button class="chip" title={path} aria-label={`Remove the filter ${text}`} press={without}>
      <span>{text}</span>
      <Icon name="close" />
    </Button>
  )
}

/** What leaves the page goes with the rows that are shown, so only where these answer what is asked. */
function Leaving({ store }: { store: Store }) {
  const exact = isExact(store)
  return (
    <fieldset disabled={!store.isCurrent.value}>
      <Copy
        name="Copy link"
        text={() => location.href}
        title={exact ? '' : 'Its period goes back from when it is opened'}
      />
      <Copy name="Copy link to this period" text={() => store.exactLink()} hidden={exact} />
      <Button title="Save them for a spreadsheet, with times in UTC" press={() => saveCsv(store)}>
        CSV of rows shown
      </Button>
      <Button title="Save them as the service answers them" press={() => saveJson(store)}>
        JSON of rows shown
      </Button>
    </fieldset>
  )
}

/** Why there are no rows. */
export function Problem({ store: { problem } }: { store: Store }) {
  const error = problem.value
  if (error === null || error === 'stopped') return null
  const left = (error.problem.errors ?? []).filter(({ line }) => line === undefined)
  return <Failure error={error} others={left} />
}
