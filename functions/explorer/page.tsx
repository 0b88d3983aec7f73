/** The page: a key first, then the endpoints it may call, and the one that is open, as logs, as usage or as a form. */
import { signal } from '@preact/signals'
import { type ComponentChildren, Fragment, render } from 'preact'
import { Button, Menu } from './controls.tsx'
import { DialogButton } from './dialog.tsx'
import { Help } from './help.tsx'
import { forgetKey, KeyForm, shareKey, storedKey, storeKey } from './key.tsx'
import { type Link, readLink } from './link.ts'
import { isShared } from './local-storage.ts'
import { allOf, type Shape, shapeOf } from './logs/shape.ts'
import { type First, type Open, Places, type View } from './places.ts'
import { queryView } from './query/view.tsx'
import { plainAddress } from './recent.ts'
import { type Endpoint, listEndpoints, listTables, type Opening, ServiceError } from './service.ts'
import { Theme } from './theme.tsx'

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
  const unloaded = () => ({ body, values: () => ({}), close: () => {} })
  return { name, open: await load().catch(() => unloaded) }
}

function placesOf(key: string, endpoints: Endpoint[]): Places {
  const firsts = new Map<Endpoint, Promise<First | null>>()
  const firstOf = async (endpoint: Endpoint): Promise<First | null> => {
    if (endpoint.name === usageEndpoint)
      return loaded('Usage', async () => (await import('./usage.tsx')).usageView)
    const shapes = await readShapes(key, endpoint)
    if (shapes.length === 0) return null
    return loaded('Logs', async () => {
      const { LogsView } = await import('./logs/view.tsx')
      return opening => new LogsView({ ...opening, shapes, continueInSql: places.follow })
    })
  }
  const places = new Places({
    key,
    endpoints,
    firstOf(endpoint) {
      const known = firsts.get(endpoint) ?? firstOf(endpoint)
      firsts.set(endpoint, known)
      return known
    },
    openForm,
  })
  onpopstate = () => void places.visit()
  if (endpoints.length > 0) void places.visit()
  return places
}

/** The browser's note beside an address that ran: Back, Forward and a reload run it again. A link that is sent comes without. */
const hasRun = 'has run'

function openForm(opening: Opening & { hasView: boolean }): View {
  const remember: Opening['remember'] = (link, step) => {
    opening.remember(link, step)
    history.replaceState(hasRun, '')
  }
  return queryView({ ...opening, remember, hasRun: history.state === hasRun })
}

/** Tables of the endpoint that can be shown as logs. */
async function readShapes(key: string, endpoint: Endpoint): Promise<Shape[]> {
  const tables = endpoint.sandbox ? await listTables(key, endpoint).catch(() => []) : []
  const [first, ...others] = tables.map(shapeOf).filter(shape => shape !== null)
  if (!first) return []
  return others.length === 0 ? [first] : [allOf([first, ...others]), first, ...others]
}

/** Nothing that the key has shown stays. */
function leave(): void {
  onpopstate = null
  location.reload()
}

function forgetAndLeave(): void {
  forgetKey()
  leave()
}

function Page() {
  const now = stage.value
  if (now === 'opening')
    return (
      <Frame room="lobby">
        <p class="hint" role="status">
          Opening with the key of another tab …
        </p>
      </Frame>
    )
  if ('problem' in now)
    return (
      <Frame room="lobby">
        <KeyForm key={now} enter={enter} {...now} />
      </Frame>
    )
  return <Workroom apiKey={now.key} places={now.places} />
}

interface FrameProps {
  room: string
  /** Of the header. */
  middle?: ComponentChildren
  end?: ComponentChildren
  children: ComponentChildren
}

function Frame({ room, middle, end, children }: FrameProps) {
  return (
    <>
      <header>
        <h1>Log explorer</h1>
        {middle}
        <span class="header-end">
          {end && <Help />}
          <Theme />
          {end}
        </span>
      </header>
      <main class={room}>{children}</main>
    </>
  )
}

function Workroom({ apiKey, places }: { apiKey: string; places: Places }) {
  const open = places.open.value
  const isWide = open !== null && !open.isForm && open.first?.name === 'Logs'
  const others = isShared ? '' : ', in all tabs'
  return (
    <Frame
      room={`workroom${isWide ? ' wide' : ''}`}
      middle={
        <nav aria-label="Endpoint and view">
          {open && <Switches apiKey={apiKey} places={places} open={open} />}
        </nav>
      }
      end={
        <Button class="quiet" title={`${apiKey.slice(0, 8)}…${others}`} press={forgetAndLeave}>
          Change key
        </Button>
      }>
      {places.endpoints.length === 0 && <NoEndpoints />}
      {places.unknown.value !== '' && (
        <p class="notice" role="alert">
          There is no endpoint {places.unknown.value} for this key. Here is another.
        </p>
      )}
      {open && <Fragment key={open.number}>{open.view.body}</Fragment>}
    </Frame>
  )
}

function linkOf({ name }: Endpoint): Link {
  return { endpoint: name, values: {}, sql: null, view: [] }
}

function NoEndpoints() {
  return (
    <section class="card empty">
      <h2>Nothing to call yet</h2>
      <p>This key is good, but may call no endpoint. Its issuer can add endpoints to it.</p>
    </section>
  )
}

interface SwitchesProps {
  apiKey: string
  places: Places
  open: Open
}

/** The endpoints that the key may call, the views of the open one, and what is kept of them. */
function Switches({ apiKey, places, open: { endpoint, first, isForm, view } }: SwitchesProps) {
  const address = () => {
    const link = view.link?.() ?? readLink(location.hash)
    // Before anything was asked, the address may be empty.
    return plainAddress(link?.endpoint === endpoint.name ? link : linkOf(endpoint))
  }
  const choices = places.endpoints.map(({ name }) => [name, name] as const)
  return (
    <>
      <Menu label="Endpoint" choices={choices} chosen={endpoint.name} act={name => places.choose(name)} />
      {first && (
        <span class="views" role="group" aria-label="View">
          <Button aria-pressed={!isForm} press={() => places.chooseView(false)}>
            {first.name}
          </Button>
          <Button aria-pressed={isForm} press={() => places.chooseView(true)}>
            {endpoint.sandbox ? 'Query and SQL' : 'Query'}
          </Button>
        </span>
      )}
      <DialogButton
        key={`views ${endpoint.name}`}
        name="Views"
        title="Saved and recent views"
        content={async close => {
          const { ViewsMenu } = await import('./views-menu.tsx')
          const open = (chosen: string) => {
            close()
            places.follow({ ...readLink(chosen)!, endpoint: endpoint.name })
          }
          return <ViewsMenu apiKey={apiKey} endpoint={endpoint} address={address} open={open} />
        }}
      />
      {view.savable && endpoint.sandbox && endpoint.mayReadSql && (
        <DialogButton
          name="Save as endpoint"
          title="Make a saved query of what is asked here"
          class="save-as-open"
          content={async close => {
            const [{ SaveAs }, all] = await Promise.all([import('./save-as.tsx'), view.savable!()])
            return <SaveAs apiKey={apiKey} endpoint={endpoint} all={all} close={close} />
          }}
        />
      )}
    </>
  )
}

// At the end, as a key that is there is used at once, and what is above has to be.
shareKey(key => {
  stage.value = 'opening'
  void enter(key)
}, leave)
await enter(storedKey())
render(<Page />, document.body)
