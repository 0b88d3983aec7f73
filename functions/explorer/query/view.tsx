/** One endpoint as a form: its parameters, perhaps SQL, the run, and its results. */
import { useEffect, useMemo } from 'preact/hooks'
import { Button } from '../controls.tsx'
import { onPhone } from '../logs/shown.ts'
import type { View } from '../places.ts'
import { asCurl, type Endpoint, explainEndpoint, parametersOf } from '../service.ts'
import { choosing, type Commands, where } from '../shortcuts.ts'
import { copy } from '../copy.ts'
import { Form, Redaction } from './form.tsx'
import { Outcome } from './results.tsx'
import { Modes, Statement } from './statement.tsx'
import { type QueryOpening, QueryStore, quickRanges } from './store.ts'
import type { ExplainedPart } from '../../../shared/warm/explain.ts'
import { format } from '../../../shared/sql/format.ts'
import { Failure } from '../problem.tsx'
import { Resource } from '../resource.ts'

/** Asks at once where the link says all that is needed. */
export function queryView(opening: QueryOpening): View {
  const store = new QueryStore(opening)
  return {
    body: <Query store={store} />,
    values: () => store.query.value.values,
    link: () => store.link(),
    commands: () => commandsOf(store),
    savable: async () => store.savable(),
    watched: async () => store.watched(),
    close: store.stop,
  }
}

function Query({ store }: { store: QueryStore }) {
  const { key, endpoint } = store
  return (
    <article class="form-view" onKeyDown={event => runOnEnter(event, store)}>
      <div class="form-title">
        <h2>{endpoint.name}</h2>
        {endpoint.sandbox && <Modes store={store} />}
      </div>
      <p class="description" tabIndex={0} title={endpoint.description}>
        {endpoint.description}
      </p>
      <Controls store={store} />
      <Run store={store} />
      <Outcome store={store} />
      {endpoint.mayReadSql && <Explained apiKey={key} endpoint={endpoint} />}
    </article>
  )
}

/** They fold on a phone, so that the results come first there; `form.css` hides the heading elsewhere. */
function Controls({ store }: { store: QueryStore }) {
  const { isFolded, endpoint } = store
  useEffect(() => {
    const unfold = () => (isFolded.value = false)
    onPhone().addEventListener('change', unfold)
    return () => onPhone().removeEventListener('change', unfold)
  }, [])
  return (
    <details
      class="controls"
      open={!isFolded.value || !onPhone().matches}
      onToggle={({ currentTarget }) => (isFolded.value = !currentTarget.open)}>
      <summary>{endpoint.sandbox ? 'Parameters and SQL' : 'Parameters'}</summary>
      <Form store={store} />
      {endpoint.sandbox && <Statement store={store} />}
    </details>
  )
}

/** The button that runs and stops, and what comes of it. */
function Run({ store }: { store: QueryStore }) {
  const { endpoint, isRunning, status } = store
  return (
    <div class="run">
      <Button class="primary" press={isRunning.value ? store.stop : () => void store.run()}>
        {isRunning.value ? 'Stop' : 'Run'}
      </Button>
      {mayRunFresh(endpoint) && (
        <Button title="Run now, past the cache" press={() => void store.run({ fresh: true })}>
          Run fresh
        </Button>
      )}
      <span class="hint">or Ctrl-Enter</span>
      <p class="status" role="status">
        {status}
      </p>
      <Redaction store={store} />
    </div>
  )
}

/** Whether there is a cache, and the key may have queries run past it. */
function mayRunFresh(endpoint: Endpoint): boolean {
  return endpoint.cacheSeconds > 0 && endpoint.mayRunFresh
}

/** What can be done in the form, by name. */
function commandsOf(store: QueryStore): Commands {
  const { endpoint, isOwn, text, redact, outcome } = store
  const { query, link } = outcome.value ?? {}
  return {
    Run: () => void store.run(),
    ...where(store.isRunning.value, { Stop: store.stop }),
    ...where(mayRunFresh(endpoint), { 'Run fresh': () => void store.run({ fresh: true }) }),
    ...where(endpoint.sandbox, {
      ...where(isOwn.value, { 'Query: the saved one': () => store.setMode('saved') }),
      ...where(!isOwn.value, { 'Query: SQL of your own': () => store.setMode('own') }),
      ...where(isOwn.value, { 'Format the SQL': () => (text.value = format(text.value)) }),
    }),
    ...where(parametersOf(endpoint).start !== undefined, {
      ...choosing(
        'Range',
        undefined,
        quickRanges.map(([from, text]) => [text, () => store.runFrom(from)]),
      ),
    }),
    [redact.value ? 'Show personal data' : 'Redact personal data']: () => store.setRedact(!redact.value),
    ...(query && link
      ? {
          'Copy link': () => void copy(new URL(link, location.href).href),
          'Copy as curl': () => void copy(asCurl(query)),
        }
      : {}),
  }
}

/** Ctrl-Enter runs from anywhere, Enter from a field. */
function runOnEnter(event: KeyboardEvent, store: QueryStore): void {
  const { key, ctrlKey, metaKey, target } = event
  if (key !== 'Enter' || event.defaultPrevented) return
  if (!ctrlKey && !metaKey && !(target instanceof HTMLInputElement)) return
  event.preventDefault()
  void store.run()
}

/** Folded; read each time that it is opened. For keys that may see SQL. */
function Explained({ apiKey, endpoint }: { apiKey: string; endpoint: Endpoint }) {
  const parts = useMemo(() => new Resource<ExplainedPart[]>(), [])
  const read = () => parts.read(endpoint.name, () => explainEndpoint(apiKey, endpoint))
  const { data, problem } = parts.answer.value ?? {}
  return (
    <details class="sql-fold" onToggle={({ currentTarget }) => currentTarget.open && read()}>
      <summary>How it is answered</summary>
      <section>
        {parts.isRunning.value && 'Reading …'}
        {problem && problem !== 'stopped' && <Failure error={problem} />}
        {data?.map(part => (
          <Part key={part.title} {...part} />
        ))}
      </section>
    </details>
  )
}

function Part({ title, sql, made, notes }: ExplainedPart) {
  return (
    <>
      <h3>{title}</h3>
      {notes.map(note => (
        <p key={note}>{note}</p>
      ))}
      <pre tabIndex={0} aria-label={`SQL: ${title}`}>
        {made ? format(sql) : sql}
      </pre>
    </>
  )
}
