/** The page: a key first, then the endpoints it may call, and the one that is open, as logs or as a form. */
import { button, el, menu, show } from './dom.ts'
import { openEndpoint } from './endpoint.ts'
import { helpButton } from './help.ts'
import { forgetKey, keyForm, shareKey, storedKey, storeKey } from './key.ts'
import { isShared } from './kept.ts'
import { type Link, readLink, writeLink } from './link.ts'
import { allOf, type Shape, shapeOf } from './logs/shape.ts'
import { logsView } from './logs/view.ts'
import { type Endpoint, listEndpoints, listTables, ServiceError } from './service.ts'
import { themeButton } from './theme.ts'
import { usageEndpoint, usageView } from './usage.ts'

const header = el('header')
const main = el('main')
document.body.append(header, main)
shareKey(key => {
  show(main, el('p', { class: 'hint', role: 'status' }, 'Opening with the key of another tab …'))
  void enter(key)
}, leave)
await enter(storedKey())

/** Shows the explorer where the key is good, else the form for a key. @param remembered whether this device keeps the key */
async function enter(key: string | null, remembered?: boolean): Promise<void> {
  if (!key) return askForKey()
  try {
    const endpoints = await listEndpoints(key)
    storeKey(key, remembered)
    explore(key, endpoints)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { status, title, detail } = error.problem
    askForKey(status === 401 ? 'The service does not know this key.' : `${title}. ${detail}`, key)
  }
}

function askForKey(problem: string | null = null, refused = ''): void {
  show(header, title(), el('span', { class: 'header-end' }, themeButton()))
  const card = keyForm(enter, problem, refused)
  main.className = 'lobby'
  show(main, card.element)
  card.focus()
}

/** What is open in the page: the logs view of an endpoint, its usage view, or its form. */
interface Open {
  element: HTMLElement
  values(): Record<string, string>
  /** Back and Forward within it; without it, it is opened afresh. */
  revisit?(link: Link): void
  close(): void
}

function explore(key: string, endpoints: Endpoint[]): void {
  const leave = button('Change key', forgetAndLeave, {
    class: 'quiet',
    title: `${key.slice(0, 8)}…${isShared ? '' : ', in all tabs'}`,
  })
  const switches = el('nav', { 'aria-label': 'Endpoint and view' })
  show(header, title(), switches, el('span', { class: 'header-end' }, helpButton(), themeButton(), leave))
  main.className = 'workroom'
  if (endpoints.length === 0) return show(main, noEndpoints())

  let open: (Open & { place: string }) | null = null
  const shapes = new Map<Endpoint, Promise<Shape[]>>()

  /** Tables of the endpoint that can be shown as logs. */
  const shapesOf = (endpoint: Endpoint) => {
    const known = shapes.get(endpoint) ?? (endpoint.sandbox ? readShapes(key, endpoint) : Promise.resolve([]))
    shapes.set(endpoint, known)
    return known
  }

  const visit = async (link: Link | null) => {
    const endpoint = endpoints.find(({ name }) => name === link?.endpoint) ?? firstOf(endpoints)
    const sought =
      link?.endpoint === endpoint.name ? link : { endpoint: endpoint.name, values: {}, sql: null, view: [] }
    const logs = await shapesOf(endpoint)
    const first = endpoint.name === usageEndpoint ? 'Usage' : logs.length > 0 ? 'Logs' : null
    const asForm =
      first === null ||
      sought.sql !== null ||
      sought.view.some(([name, value]) => name === 'view' && value === 'query')
    const place = `${endpoint.name} ${asForm ? 'query' : first}`
    document.title = `${endpoint.name} · Log explorer`
    const unknown =
      link && link !== sought && `There is no endpoint ${link.endpoint} for this key. Here is another.`
    main.querySelector(':scope > .notice')?.remove()
    if (open?.revisit && open.place === place && !unknown) return open.revisit(sought)
    open?.close()
    const opening = { key, endpoint, link: sought, remember }
    open = asForm
      ? { ...openEndpoint({ ...opening, hasView: first !== null }), place }
      : first === 'Usage'
        ? { ...usageView(opening), place }
        : { ...logsView({ ...opening, shapes: logs, continueInSql: follow }), place }
    main.classList.toggle('wide', !asForm && first === 'Logs')
    show(switches, endpointMenu(endpoints, endpoint, choose), first && views(endpoint, first, asForm))
    show(main, unknown && el('p', { class: 'notice', role: 'alert' }, unknown), open.element)
  }
  /** By the endpoint's name: how its logs were when they were left. */
  const left = new Map<string, Link['view']>()
  const follow = (link: Link) => {
    const now = readLink(location.hash)
    if (now && open?.place === `${now.endpoint} Logs`) left.set(now.endpoint, now.view)
    remember(link, true)
    void visit(link)
  }
  /**
   * Parameters that the endpoints share keep their values, and times their zone. What is redacted stays so.
   * @param own words of the address
   */
  const choose = (endpoint: Endpoint, own: Link['view'] = []) => {
    const now = readLink(location.hash)
    const isSame = now?.endpoint === endpoint.name
    const goesOn = ([name, value]: [string, string]) =>
      name === 'zone' || (name === 'redact' && (isSame || value === 'true'))
    const others = own.filter(([name]) => name !== 'zone' && name !== 'redact')
    const view = [...others, ...(now?.view.filter(goesOn) ?? [])]
    const values = Object.entries(open?.values() ?? {})
    const shared = values.filter(([name]) => endpoint.parameters.some(parameter => parameter.name === name))
    follow({ endpoint: endpoint.name, values: Object.fromEntries(shared), sql: null, view })
  }
  const views = (endpoint: Endpoint, first: string, asForm: boolean) =>
    el(
      'span',
      { class: 'views', role: 'group', 'aria-label': 'View' },
      button(first, () => choose(endpoint, asForm ? left.get(endpoint.name) : []), {
        'aria-pressed': String(!asForm),
      }),
      button(endpoint.sandbox ? 'Query and SQL' : 'Query', () => choose(endpoint, [['view', 'query']]), {
        'aria-pressed': String(asForm),
      }),
    )
  onpopstate = () => void visit(readLink(location.hash))
  void visit(readLink(location.hash))
}

/** Without a link: the endpoint with tables of its own, where one can look around. */
function firstOf(endpoints: Endpoint[]): Endpoint {
  return endpoints.find(({ sandbox, name }) => sandbox && /log/i.test(name)) ?? endpoints[0]!
}

async function readShapes(key: string, endpoint: Endpoint): Promise<Shape[]> {
  const tables = await listTables(key, endpoint).catch(() => [])
  const [first, ...others] = tables.map(shapeOf).filter(shape => shape !== null)
  if (!first) return []
  return others.length === 0 ? [first] : [allOf([first, ...others]), first, ...others]
}

/** @param step whether it is a person's step, which Back goes back by; else it takes the place of the last */
function remember(link: Link, step: boolean): void {
  const hash = writeLink(link)
  if (hash === location.hash) return
  if (step) history.pushState(null, '', hash)
  else history.replaceState(null, '', hash)
}

function forgetAndLeave(): void {
  forgetKey()
  leave()
}

/** Nothing that the key has shown stays. */
function leave(): void {
  onpopstate = null
  location.reload()
}

function title(): HTMLElement {
  return el('h1', {}, 'Log explorer')
}

function noEndpoints(): HTMLElement {
  const text = 'This key is good, but may call no endpoint. Its issuer can add endpoints to it.'
  return el('section', { class: 'card empty' }, el('h2', {}, 'Nothing to call yet'), el('p', {}, text))
}

/** The endpoints that the key may call. */
function endpointMenu(
  endpoints: Endpoint[],
  open: Endpoint,
  choose: (endpoint: Endpoint) => void,
): HTMLElement {
  const { element, set } = menu('Endpoint', chosen => choose(endpoints.find(({ name }) => name === chosen)!))
  set(
    endpoints.map(({ name }) => [name, name]),
    open.name,
  )
  return element
}
