/** The page: a key first, then the endpoints it may call, and the one that is open. */
import { el, show } from './dom.ts'
import { openEndpoint, type OpenEndpoint } from './endpoint.ts'
import { forgetKey, keyForm, storedKey, storeKey } from './key.ts'
import { type Link, readLink, writeLink } from './link.ts'
import { type Endpoint, listEndpoints, ServiceError } from './service.ts'

const header = el('header')
const main = el('main')
document.body.append(header, main)
await enter(storedKey())

/** Shows the explorer where the key is good, else the form for a key. */
async function enter(key: string | null): Promise<void> {
  if (key === null) return askForKey()
  try {
    const endpoints = await listEndpoints(key)
    storeKey(key)
    explore(key, endpoints)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    askForKey(error.problem.status === 401 ? 'The service does not know this key.' : error.problem.detail)
  }
}

function askForKey(problem: string | null = null): void {
  show(header, title())
  const card = keyForm(enter, problem)
  main.className = 'lobby'
  show(main, card.element)
  card.focus()
}

function explore(key: string, endpoints: Endpoint[]): void {
  const leave = el('button', { type: 'button', class: 'quiet', onclick: forgetAndLeave }, 'Change key')
  const shown = el('code', {}, `${key.slice(0, 8)}…`)
  show(header, title(), el('span', { class: 'key-shown' }, 'Key ', shown, leave))
  main.className = 'workroom'
  if (endpoints.length === 0) return show(main, noEndpoints())

  let open: OpenEndpoint | null = null
  const place = el('div', { class: 'bench' })
  const list = endpointList(endpoints, endpoint => {
    const values = Object.entries(open?.values() ?? {}) // of the last endpoint; shared parameters keep them
    const shared = values.filter(([name]) => endpoint.parameters.some(parameter => parameter.name === name))
    follow({ endpoint: endpoint.name, values: Object.fromEntries(shared), sql: null })
  })
  show(main, list.element, place)

  const visit = (link: Link | null) => {
    const endpoint = endpoints.find(({ name }) => name === link?.endpoint) ?? endpoints[0]!
    const sought = link?.endpoint === endpoint.name ? link : null
    list.mark(endpoint.name)
    document.title = `${endpoint.name} · Log explorer`
    open?.close()
    open = openEndpoint({ key, endpoint, link: sought, remember })
    const unknown = link && !sought && `There is no endpoint ${link.endpoint} for this key. Here is another.`
    show(place, unknown && el('p', { class: 'notice', role: 'alert' }, unknown), open.element)
  }
  const follow = (link: Link) => {
    remember(link)
    visit(link)
  }
  onpopstate = () => visit(readLink(location.hash))
  visit(readLink(location.hash))
}

/** One step back in the browser is one query back. */
function remember(link: Link): void {
  const hash = writeLink(link)
  if (hash !== location.hash) history.pushState(null, '', hash)
}

function forgetAndLeave(): void {
  forgetKey()
  onpopstate = null
  askForKey()
}

function title(): HTMLElement {
  return el('h1', {}, 'Log explorer')
}

function noEndpoints(): HTMLElement {
  const text = 'This key is good, but may call no endpoint. Its issuer can add endpoints to it.'
  return el('section', { class: 'card' }, el('h2', {}, 'Nothing to call yet'), el('p', {}, text))
}

/** The endpoints that the key may call. */
function endpointList(endpoints: Endpoint[], choose: (endpoint: Endpoint) => void) {
  const buttons = endpoints.map(endpoint => {
    const words = [el('strong', {}, endpoint.name), el('span', {}, endpoint.description)]
    return el('button', { type: 'button', onclick: () => choose(endpoint) }, ...words)
  })
  const list = el('ul', {}, ...buttons.map(button => el('li', {}, button)))
  const element = el('nav', { 'aria-label': 'Endpoints' }, el('h2', {}, 'Endpoints'), list)
  const mark = (chosen: string) => {
    for (const [i, { name }] of endpoints.entries()) buttons[i]!.ariaCurrent = name === chosen ? 'true' : null
  }
  return { element, mark }
}
