/** The line above the open view: what is open, what else can be, and the windows that all views have. */
import type { VNode } from 'preact'
import { choosing, type Commands } from './shortcuts.ts'
import { Button, Choice, Menu } from './controls.tsx'
import { openDialog } from './dialog.tsx'
import { forgetKey } from './stored-key.ts'
import { readLink } from './address.ts'
import { plainAddress } from './recent.ts'
import { isShared } from './local-storage.ts'
import type { Kind, Open, Places, View } from './places.ts'
import type { Endpoint } from './service.ts'
import { setTheme, theme, themes } from './theme.ts'

/** What is open, with the key that it is open to. */
export interface Opened {
  apiKey: string
  places: Places
  /** `null` = nothing yet. */
  open: Open | null
}

/** Nothing that the key has shown stays. */
export function leave(): void {
  onpopstate = null
  location.reload()
}

function forgetAndLeave(): void {
  forgetKey()
  leave()
}

/** @param opened absent where a key is asked for */
export function Header({ opened }: { opened?: Opened }) {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length]!
  const others = isShared ? '' : ', in all tabs'
  return (
    <header>
      <h1>Log explorer</h1>
      {opened && (
        <nav aria-label="Endpoint and view">{opened.open && <Switches {...opened} open={opened.open} />}</nav>
      )}
      <span class="header-end">
        {opened && (
          <Button class="quiet help" press={openShortcuts}>
            Shortcuts
          </Button>
        )}
        <Button class="quiet" press={() => setTheme(next)}>
          Theme: {theme.value}
        </Button>
        {opened && (
          <Button class="quiet" title={`${opened.apiKey.slice(0, 8)}…${others}`} press={forgetAndLeave}>
            Change key
          </Button>
        )}
      </span>
    </header>
  )
}

type OpenProps = Opened & { open: Open }

/** The endpoints that the key may call, the views of the open one, and what is kept of them. */
function Switches({ apiKey, places, open }: OpenProps) {
  const { endpoint } = open
  return (
    <>
      <Menu
        label="Endpoint"
        choices={places.endpoints.map(({ name }) => [name, name])}
        chosen={endpoint.name}
        act={name => places.choose(name)}
      />
      <Choice
        aria-label="View"
        choices={viewsOf(open)}
        chosen={shownKind(open)}
        act={kind => places.chooseView(kind as Kind)}
      />
      <Button
        aria-haspopup="dialog"
        title="Saved and recent views"
        press={() => openViews({ apiKey, places, open })}>
        Views
      </Button>
      {makersFor(open).map(([name, { title }]) => (
        <Button
          key={name}
          aria-haspopup="dialog"
          title={title}
          class="save-as-open"
          press={() => openMaker(name, apiKey, open)}>
          {name}
        </Button>
      ))}
    </>
  )
}

function viewsOf({ first, endpoint }: Open): (readonly [Kind, string])[] {
  return [
    ...(first ? [['first', first.name] as const] : []),
    ['form', endpoint.sandbox ? 'Query and SQL' : 'Query'],
    ['alerts', 'Alerts'],
  ]
}

/** The first view of an endpoint may be its form. */
function shownKind({ kind, first }: Open): Kind {
  return kind === 'first' && !first ? 'form' : kind
}

/** What a window is opened with. */
interface Given {
  apiKey: string
  endpoint: Endpoint
  close(): void
}

/** A window that makes files of what is asked. */
interface Maker {
  title: string
  /** Whether the view has something to make it of; the key may see SQL. */
  isFor(open: Open): boolean
  load(view: View, given: Given): Promise<VNode>
}

const makers: Record<string, Maker> = {
  'New alert': {
    title: 'Make an alert of what is asked here',
    isFor: ({ view }) => view.watched !== undefined,
    async load(view, given) {
      const [{ MakeAlert }, all] = await Promise.all([import('./make-alert.tsx'), view.watched!()])
      return <MakeAlert all={all} {...given} />
    },
  },
  'Save as endpoint': {
    title: 'Make a saved query of what is asked here',
    isFor: ({ view, endpoint }) => view.savable !== undefined && endpoint.sandbox,
    async load(view, given) {
      const [{ SaveAs }, all] = await Promise.all([import('./save-as.tsx'), view.savable!()])
      return <SaveAs all={all} {...given} />
    },
  },
}

function makersFor(open: Open): [name: string, maker: Maker][] {
  return open.endpoint.mayReadSql ? Object.entries(makers).filter(([, { isFor }]) => isFor(open)) : []
}

function openMaker(name: string, apiKey: string, { endpoint, view }: Open): void {
  void openDialog(name, close => makers[name]!.load(view, { apiKey, endpoint, close }))
}

function openViews({ apiKey, places, open: { endpoint, view } }: OpenProps): void {
  const address = () => {
    const link = view.link?.() ?? readLink(location.hash)
    // Before anything was asked, the address may be empty.
    const own = link?.endpoint === endpoint.name
    return plainAddress(own ? link : { endpoint: endpoint.name, values: {}, sql: null, view: [] })
  }
  void openDialog('Views', async close => {
    const { ViewsMenu } = await import('./views-menu.tsx')
    const open = (chosen: string) => {
      close()
      places.follow({ ...readLink(chosen)!, endpoint: endpoint.name })
    }
    return <ViewsMenu apiKey={apiKey} endpoint={endpoint} address={address} open={open} />
  })
}

export function openShortcuts(): void {
  void openDialog('Keyboard shortcuts', async () => {
    const { Shortcuts } = await import('./palette.tsx')
    return <Shortcuts />
  })
}

export function openPalette(apiKey: string, places: Places): void {
  const open = places.open.value
  if (!open) return
  void openDialog('All commands', async close => {
    const { Palette } = await import('./palette.tsx')
    const commands = commandsOf({ apiKey, places, open })
    return <Palette {...{ apiKey, places, commands, close }} endpoint={open.endpoint} />
  })
}

/** What the open view can do, and then the page. */
function commandsOf(of: OpenProps): Commands {
  const { apiKey, places, open } = of
  const { view, endpoint } = open
  return {
    ...view.commands?.(),
    ...choosing(
      'View',
      viewsOf(open).find(([kind]) => kind === shownKind(open))?.[1],
      viewsOf(open).map(([kind, text]) => [text, () => places.chooseView(kind)]),
    ),
    ...choosing(
      'Endpoint',
      endpoint.name,
      places.endpoints.map(({ name }) => [name, () => places.choose(name)]),
    ),
    Views: () => openViews(of),
    ...Object.fromEntries(makersFor(open).map(([name]) => [name, () => openMaker(name, apiKey, open)])),
    ...choosing(
      'Theme',
      theme.value,
      themes.map(name => [name, () => setTheme(name)]),
    ),
    'Keyboard shortcuts': openShortcuts,
    'Change key': forgetAndLeave,
  }
}
