/** The page: a key first, then the endpoints it may call, and the one that is open, as logs, as usage or as a form. */
import { signal } from '@preact/signals'
import { type ComponentChildren, Fragment, render } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { listenTo, palette } from './shortcuts.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Header, leave, openPalette, openShortcuts } from './header.tsx'
import { KeyForm } from './key.tsx'
import { shareKey, storedKey, storeKey } from './stored-key.ts'
import { Failure } from './problem.tsx'
import type { Link } from './address.ts'
import { allOf, type Shape, shapeOf } from './logs/shape.ts'
import { type First, Places, type View } from './places.ts'
import { queryView } from './query/view.tsx'
import { type Endpoint, listEndpoints, listTables, type Opening, ServiceError } from './service.ts'

/** Where one is: at the form for a key, perhaps with what was wrong with the last one; on the way; or in. */
type Stage = { problem: string; refused: string } | 'opening' | { key: string; places: Places }

const stage = signal<Stage>({ problem: '', refused: '' })

/** Shows the explorer where the key is good, else the form for a key. @param remembered whether this device keeps the key */
async function enter(key: string | null, remembered?: boolean): Promise<void> {
  if (!key) return
  try {
    const endpoints = await listEndpoints(key)
    storeKey(key, remembered)
    stage.value = { key, places: placesOf(key, endpoints) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { status, title, detail } = error.problem
    const problem = status === 401 ? 'The service does not know this key.' : `${title}. ${detail}`
    stage.value = { problem, refused: key }
  }
}

/** Shows its rows as usage. */
const usageEndpoint = 'service.usage'

/** Its scripts come when it is first opened: a chart needs neither logs nor usage. */
async function loaded(name: First['name'], load: () => Promise<First['open']>): Promise<First> {
  const body = <p class="problem">This part of the page could not be loaded: reload the page.</p>
  return { name, open: await load().catch(() => () => unopened(body)) }
}

/** In place of a view: the address stays as it is. */
function unopened(body: ComponentChildren): View {
  return { body, values: () => ({}), close: () => {} }
}

function Unread({ error, again }: { error: ServiceError; again(): Promise<void> }) {
  return (
    <>
      <Failure error={error} />
      <Button press={() => void again()}>Try again</Button>
    </>
  )
}

function placesOf(key: string, endpoints: Endpoint[]): Places {
  const firsts = new Map<Endpoint, Promise<First | null>>()
  /** What can be shown is not known; it is asked again. */
  const unread = (endpoint: Endpoint, error: unknown): First => {
    if (!(error instanceof ServiceError)) throw error
    firsts.delete(endpoint)
    return { name: 'Logs', open: () => unopened(<Unread error={error} again={places.visit} />) }
  }
  const firstOf = async (endpoint: Endpoint): Promise<First | null> => {
    if (endpoint.name === usageEndpoint)
      return loaded('Usage', async () => (await import('./usage.tsx')).usageView)
    const shapes = await readShapes(key, endpoint)
    if (shapes.length === 0) return null
    const logs = await loaded('Logs', async () => {
      const { LogsView } = await import('./logs/view.tsx')
      return opening => new LogsView({ ...opening, shapes, continueInSql: places.follow })
    })
    const watched = async (link: Link) =>
      (await import('./logs/as-alert.ts')).watchedOf({ endpoint, shapes }, link)
    return { ...logs, watched }
  }
  /** On the view of alerts one may make one of what was asked before it. */
  const watchedBefore = async ({ endpoint, link }: Opening) => {
    const first = await firsts.get(endpoint)
    return first?.watched?.(places.leftIn(endpoint, first) ?? link) ?? null
  }
  const places = new Places({
    key,
    endpoints,
    firstOf(endpoint) {
      const known = firsts.get(endpoint) ?? firstOf(endpoint).catch(error => unread(endpoint, error))
      firsts.set(endpoint, known)
      return known
    },
    openForm,
    alerts: () =>
      loaded('Alerts', async () => {
        const { alertsView } = await import('./alerts.tsx')
        return opening =>
          alertsView({ ...opening, follow: places.follow, watched: () => watchedBefore(opening) })
      }),
  })
  onpopstate = () => void places.visit()
  if (endpoints.length > 0) void places.visit()
  return places
}

/** The browser's note beside an address that ran: Back, Forward and a reload run it again. A link that is sent comes without. */
const hasRun = 'has run'

function openForm(opening: Opening & { hasView: boolean }): View {
  const remember: Opening['remember'] = (link, step) => opening.remember(link, step, hasRun)
  return queryView({ ...opening, remember, hasRun: history.state === hasRun })
}

/** Tables of the endpoint that can be shown as logs. */
async function readShapes(key: string, endpoint: Endpoint): Promise<Shape[]> {
  const tables = endpoint.sandbox ? await listTables(key, endpoint).catch(noneFor) : []
  const [first, ...others] = tables.map(shapeOf).filter(shape => shape !== null)
  if (!first) return []
  return others.length === 0 ? [first] : [allOf([first, ...others]), first, ...others]
}

/** A refusal is for good; what fails to come now may come later. */
function noneFor(error: unknown): [] {
  const { status = 0 } = error instanceof ServiceError ? error.problem : {}
  if (status >= 400 && status < 500 && status !== 429) return []
  throw error
}

function Page() {
  const now = stage.value
  if (now !== 'opening' && 'key' in now) return <Workroom apiKey={now.key} places={now.places} />
  return (
    <>
      <Header />
      <main class="workroom">
        {now === 'opening' ? (
          <p class="hint" role="status">
            Opening with the key of another tab …
          </p>
        ) : (
          <KeyForm key={now} enter={enter} {...now} />
        )}
      </main>
    </>
  )
}

function Workroom({ apiKey, places }: { apiKey: string; places: Places }) {
  useLayoutEffect(() => {
    palette.open = () => openPalette(apiKey, places)
    return listenTo({ 'All commands': palette.open, 'Keyboard shortcuts': openShortcuts })
  }, [])
  const open = places.open.value
  const isWide = open?.kind === 'first' && open.first?.name === 'Logs'
  return (
    <>
      <Header opened={{ apiKey, places, open }} />
      <main
        class={`workroom${isWide ? ' wide' : ''}`}
        inert={places.isLeaving.value}
        aria-busy={places.isLeaving.value || undefined}>
        {places.endpoints.length === 0 && <NoEndpoints />}
        {places.unknown.value !== '' && (
          <p class="notice" role="alert">
            There is no endpoint {places.unknown.value} for this key. Here is another.
          </p>
        )}
        {open && <Fragment key={open.number}>{open.view.body}</Fragment>}
      </main>
      <Dialog />
    </>
  )
}

function NoEndpoints() {
  return (
    <section class="card empty">
      <h2>Nothing to call yet</h2>
      <p>This key is good, but may call no endpoint. Its issuer can add endpoints to it.</p>
    </section>
  )
}

// At the end, as a key that is there is used at once, and what is above has to be.
shareKey(key => {
  stage.value = 'opening'
  void enter(key)
}, leave)
await enter(storedKey())
render(<Page />, document.body)
