/** The page: a key first, then the endpoints it may call, and the one that is open, as logs or as a form. */
import { button, el, menu, show } from './dom.ts'
import { openEndpoint } from './endpoint.ts'
import { helpButton } from './help.ts'
import { forgetKey, keyForm, shareKey, storedKey, storeKey } from './key.ts'
import { isShared } from './kept.ts'
import { type Link, readLink, writeLink } from './link.ts'
import { allOf, type Shape, shapeOf } from './logs/shape.ts'
import { logsView } from './logs/view.ts'
import { type Endpoint, listEndpoints, listTables, parametersOf, ServiceError } from './service.ts'
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
    show(
      switches,
      endpointMenu(endpoints, endpoint, chosen => choose(chosen, lastView.get(chosen.name))),
      first && views(endpoint, first, asForm),
    )
    show(main, unknown && el('p', { class: 'notice', role: 'alert' }, unknown), open.element)
  }
  /** By its place: what was asked there when it was left, and the values that it handed on. */
  const left = new Map<string, Pick<Open, 'values'> & { link: Link }>()
  /** By the endpoint's name: its view that was open last. */
  const lastView = new Map<string, string>()
  const follow = (link: Link) => {
    const now = readLink(location.hash)
    if (now && open) {
      const handed = open.values()
      left.set(open.place, { link: now, values: () => handed })
      lastView.set(now.endpoint, open.place)
    }
    remember(link, true)
    void visit(link)
  }
  /**
   * As it was left. Parameters that the endpoints share keep their values, and times their zone. What is redacted stays so.
   * @param place of the view to go back to; without one it is `fresh`, words of an address
   */
  const choose = (endpoint: Endpoint, place = '', fresh: Link['view'] = []) => {
    const now = readLink(location.hash)
    const isSame = now?.endpoint === endpoint.name
    const goesOn = ([name, value]: [string, string]) =>
      name === 'zone' || (name === 'redact' && (isSame || value === 'true'))
    const before = left.get(place)
    const values = Object.entries(open?.values() ?? {})
    const isShared = (name: string) => endpoint.parameters.some(parameter => parameter.name === name)
    const shared = values.filter(([name, value]) => value !== '' && isShared(name))
    const { start } = parametersOf(endpoint)
    const plain = (time = '') => time.replace(/^now-/, '-') // as others write it
    const given = shared.find(([name]) => name === start)
    const isMoved = given && plain(given[1]) !== plain(before?.values()[start!])
    const stale = ['zone', 'redact', ...(isMoved ? ['from', 'to'] : [])]
    const own = (before?.link.view ?? fresh).filter(([name]) => !stale.includes(name))
    follow({
      endpoint: endpoint.name,
      values: { ...before?.link.values, ...Object.fromEntries(shared) },
      sql: before?.link.sql ?? null,
      view: [...own, ...(now?.view.filter(goesOn) ?? [])],
    })
  }
  const views = (endpoint: Endpoint, first: string, asForm: boolean) =>
    el(
      'span',
      { class: 'views', role: 'group', 'aria-label': 'View' },
      button(first, () => choose(endpoint, asForm ? `${endpoint.name} ${first}` : ''), {
        'aria-pressed': String(!asForm),
      }),
      button(
        endpoint.sandbox ? 'Query and SQL' : 'Query',
        () => choose(endpoint, `${endpoint.name} query`, [['view', 'query']]),
        {
          'aria-pressed': String(asForm),
        },
      ),
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
