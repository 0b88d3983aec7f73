/** The results of a run: facts about the answer and its rows as a chart or a table, or a failure; before one, what is missing. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { spreadsheet } from '../../../shared/answers/csv.ts'
import { Chart, Ranked } from '../chart.tsx'
import { Button, Choice, Copy } from '../controls.tsx'
import { download } from '../copy.ts'
import type { Zone } from '../logs/zone.ts'
import { Failure } from '../problem.tsx'
import { rankingOf, series } from '../series.ts'
import { type Answer, asCurl, type Query } from '../service.ts'
import { Table } from '../table.tsx'
import { columnsOf } from '../value.ts'
import { axisOf, boundsOf, type Fact, factsOf, timingsOf } from './answer.ts'
import type { QueryStore } from './store.ts'

/** What is old cannot be pressed while other rows are on their way. */
export function Outcome({ store }: { store: QueryStore }) {
  const { outcome, otherProblems, isRunning, isOld, zone } = store
  const found = outcome.value
  return (
    <div
      class={`outcome${isOld.value ? ' old' : ''}`}
      aria-busy={isRunning.value || undefined}
      inert={isRunning.value}>
      {store.isIdle.value && <Invitation store={store} />}
      {found && 'error' in found && <Failure error={found.error} others={otherProblems.value} />}
      {found && 'answer' in found && (
        <Results key={found} {...found} zone={zone} unbind={() => store.runFrom('')} />
      )}
    </div>
  )
}

/** What has to be given first, with examples. */
function Invitation({ store }: { store: QueryStore }) {
  const { missing } = store
  const text =
    missing.length === 0
      ? 'This link brings a query of its own. Read it, then press Run.'
      : `Fill in ${missing.map(({ name }) => name).join(' and ')}, then press Run.`
  const examples = missing.flatMap(({ name, examples: some = [] }) =>
    some.map(value => [name, String(value)] as const),
  )
  return (
    <div class="card empty">
      <h3>Nothing asked yet</h3>
      <p>{text}</p>
      {examples.length > 0 && (
        <div class="actions">
          For example
          {examples.map(([name, value]) => (
            <Button key={`${name} ${value}`} press={() => store.write(name, value)}>
              {name} {value}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}

/** Rows with the question that they answer, of which all that leaves the page is made. */
interface Answered {
  query: Query
  answer: Answer
  /** Part of the address that asks it. */
  link: string
}

interface ResultsProps extends Answered {
  /** Of the time as of which the answer is. */
  zone: Zone
  /** Asks again without bounds of time. */
  unbind(): void
}

/** With a chart before the table where the rows are a series, or names and numbers. */
function Results({ query, answer, link, zone, unbind }: ResultsProps) {
  const { rows } = answer
  const { range, starts } = useMemo(() => axisOf(query, answer), [answer])
  const lines = useMemo(() => series(rows, starts), [answer])
  const ranking = useMemo(() => rankingOf(rows), [answer])
  const views: Record<string, ComponentChildren> = {
    ...(lines && { Chart: <Chart series={lines} range={range} /> }),
    ...(ranking && { Bars: <Ranked ranking={ranking} /> }),
    Table: <Table rows={rows} label={`Rows of ${query.endpoint.name}`} />,
  }
  const names = Object.keys(views)
  const shown = useSignal(names[0]!)
  return (
    <section class="results" aria-label="Results">
      <Facts query={query} answer={answer} zone={zone} />
      <Bounds query={query} unbind={unbind} />
      {rows.length === 0 ? (
        <div class="card empty">
          <h3>No rows</h3>
          <p>
            The query ran and found nothing. Try a longer time, or look at how the parameters are written.
          </p>
        </div>
      ) : (
        <>
          <div class="bar">
            <Choice
              aria-label="Shown as"
              choices={names.map(name => [name, name])}
              chosen={shown.value}
              act={name => (shown.value = name)}
            />
            <Leaving query={query} answer={answer} link={link} />
          </div>
          <div key={shown.value}>{views[shown.value]}</div>
        </>
      )}
    </section>
  )
}

/** From the rows on the screen, without a second run. */
function Leaving({ query, answer: { rows }, link }: Answered) {
  const save = () => download(`${query.endpoint.name}.csv`, spreadsheet(rows, columnsOf(rows)), 'text/csv')
  return (
    <div class="actions">
      <Copy name="Copy link" text={() => new URL(link, location.href).href} />
      <Copy name="Copy as curl" text={() => asCurl(query)} />
      <Button press={save}>Download CSV</Button>
    </div>
  )
}

/** SQL of one's own may name other times than the form, which cuts the tables before that SQL reads them. */
function Bounds({ query, unbind }: { query: Query; unbind(): void }) {
  const bounds = boundsOf(query)
  if (bounds.length === 0) return null
  const said = bounds.map(({ name }) => `${name} ${query.values[name]}`).join(' and ')
  const isFree = bounds.every(({ required, pinned }) => !required && pinned === undefined)
  return (
    <p class="notice">
      Your SQL sees only the entries within {said}, as the form says, whatever times it names itself.{' '}
      {isFree && <Button press={unbind}>Run for all time</Button>}
    </p>
  )
}

function FactList({ facts }: { facts: Fact[] }) {
  return (
    <dl>
      {facts.map(({ name, value, raw }) => (
        <div key={name} title={raw}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** How an answer came about. */
function Facts({ query, answer, zone }: { query: Query; answer: Answer; zone: Zone }) {
  const ignored = answer.headers.get('x-ignored-parameters')
  return (
    <div class="facts">
      <FactList facts={factsOf(answer, zone)} />
      <details>
        <summary>Timings</summary>
        <FactList facts={timingsOf(answer)} />
      </details>
      {answer.truncated && (
        <p class="notice">There were more rows; the endpoint gives {query.endpoint.maxRows} at most.</p>
      )}
      {ignored && <p class="notice">Ignored, as the endpoint does not declare it: {ignored}.</p>}
    </div>
  )
}
