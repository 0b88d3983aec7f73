/** Which endpoint is open and in which view, how one goes to another, and what each takes over from the last. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Commands } from './shortcuts.ts'
import { type Link, readLink, writeLink } from './address.ts'
import { noteRecent } from './recent.ts'
import type { Watched } from './alerts.ts'
import type { Savable } from './logs/as-endpoint.ts'
import { type Endpoint, type Opening, parametersOf } from './service.ts'

/** An endpoint as it is open: its logs, its usage, or its form. */
export interface View {
  body: ComponentChildren
  /** Its parameters, for another endpoint that shares them. */
  values(): Record<string, string>
  /** What is asked now, also where it has not run; without it, the address says so. */
  link?(): Link
  /** What can be done in it, by name. */
  commands?(): Commands
  /** What of it can be saved as an endpoint. */
  savable?(): Promise<Savable[]>
  /** What of it an alert can look at. */
  watched?(): Promise<Watched[]>
  /** Back and Forward within it; without it, it is opened afresh. */
  revisit?(link: Link): void
  /** Gives up what is on its way. */
  close(): void
}

/** Its first view, which may be its form; its form; its alerts. */
export type Kind = 'first' | 'form' | 'alerts'

/** The view that an endpoint has beside its form, and shows first. */
export interface First {
  name: 'Logs' | 'Usage' | 'Alerts'
  open(opening: Opening): View
  /** What of it an alert can look at, as a link asks for it, also where it is not open. */
  watched?(link: Link): Promise<Watched[]>
}

interface Setup {
  key: string
  endpoints: Endpoint[]
  /** `null` = there is only the form. */
  firstOf(endpoint: Endpoint): Promise<First | null>
  openForm(opening: Opening & { hasView: boolean }): View
  alerts(): Promise<First>
}

/** A view, with the endpoint and the kind of view that it is of. */
export interface Open {
  endpoint: Endpoint
  first: First | null
  kind: Kind
  /** Of the endpoint and the kind of view. */
  place: string
  view: View
  /** Tells the views apart that were opened one after the other. */
  number: number
}

/** A view that was left: what was asked there, and the values that it handed on. */
interface Left {
  link: Link
  values: Record<string, string>
}

export class Places {
  readonly endpoints: Endpoint[]
  readonly open = signal<Open | null>(null)
  /** An endpoint that a link names, and that there is none of. */
  readonly unknown = signal('')
  /** Whether one is on the way to another endpoint: the address is its own already, the view still the one before. */
  readonly isLeaving = signal(false)
  readonly #setup: Setup
  readonly #left = new Map<string, Left>()
  /** By the endpoint's name: the place of its view that was open last. */
  readonly #last = new Map<string, string>()
  #visits = 0

  constructor(setup: Setup) {
    this.#setup = setup
    this.endpoints = setup.endpoints
  }

  /** Opens what the address says; without a word of it, an endpoint where one can look around. */
  readonly visit = async (): Promise<void> => {
    const link = readLink(location.hash)
    const endpoint = this.endpoints.find(({ name }) => name === link?.endpoint) ?? plainest(this.endpoints)
    const isKnown = link?.endpoint === endpoint.name
    const sought = isKnown ? link : { endpoint: endpoint.name, values: {}, sql: null, view: [] }
    const number = ++this.#visits
    this.isLeaving.value = this.open.value !== null && this.open.value.endpoint !== endpoint
    const kind = kindOf(sought)
    const [first, alerts] = await Promise.all([
      this.#setup.firstOf(endpoint),
      kind === 'alerts' ? this.#setup.alerts() : null,
    ])
    if (number !== this.#visits) return // one went on meanwhile
    this.isLeaving.value = false
    const place = placeOf(endpoint, first, kind)
    const now = this.open.value
    document.title = `${endpoint.name} · Log explorer`
    this.unknown.value = link && !isKnown ? link.endpoint : ''
    if (now?.view.revisit && now.place === place && this.unknown.value === '') return now.view.revisit(sought)
    now?.view.close()
    const asks: Opening['remember'] = (asked, ...how) => {
      if (this.isLeaving.value) return // an answer that is late is of the view that is left
      noteRecent(asked)
      remember(asked, ...how)
    }
    const opening = { key: this.#setup.key, endpoint, link: sought, remember: asks }
    const chosen = { first, alerts, form: null }[kind]
    const view = chosen?.open(opening) ?? this.#setup.openForm({ ...opening, hasView: first !== null })
    this.open.value = { endpoint, first, kind, place, view, number }
  }

  /** A step to another address; what is left here is known when one comes back. */
  readonly follow = (link: Link): void => {
    const [now, open] = [readLink(location.hash), this.open.value]
    if (now && open && !this.isLeaving.value) {
      this.#left.set(open.place, { link: now, values: open.view.values() })
      this.#last.set(now.endpoint, open.place)
    }
    remember(link, true)
    void this.visit()
  }

  /** What was asked in the endpoint's first view when it was left; `null` = it was not open yet. */
  leftIn(endpoint: Endpoint, first: First): Link | null {
    return this.#left.get(placeOf(endpoint, first, 'first'))?.link ?? null
  }

  /** Another endpoint, in the view that was open last. */
  choose(name: string): void {
    this.#goTo(
      this.endpoints.find(endpoint => endpoint.name === name)!,
      this.#last.get(name),
    )
  }

  /** Another view of the open endpoint. */
  chooseView(kind: Kind): void {
    const { endpoint, first, kind: now } = this.open.value!
    const word = { first: '', form: first ? 'query' : '', alerts: 'alerts' }[kind]
    const place = kind === 'first' && now === 'first' ? '' : placeOf(endpoint, first, kind)
    this.#goTo(endpoint, place, word === '' ? [] : [['view', word]])
  }

  #goTo(endpoint: Endpoint, place = '', fresh: Link['view'] = []): void {
    const before = this.#left.get(place)
    const values = this.open.value?.view.values() ?? {}
    this.follow(linkTo(endpoint, { now: readLink(location.hash), values, before, fresh }))
  }
}

function kindOf({ sql, view }: Link): Kind {
  const named = view.findLast(([name]) => name === 'view')?.[1]
  if (named === 'alerts') return 'alerts'
  return sql !== null || named === 'query' ? 'form' : 'first'
}

function placeOf({ name }: Endpoint, first: First | null, kind: Kind): string {
  return `${name} ${kind === 'alerts' ? kind : kind === 'first' && first ? first.name : 'query'}`
}

/** The endpoint with tables of its own, where one can look around. */
function plainest(endpoints: Endpoint[]): Endpoint {
  return endpoints.find(({ sandbox, name }) => sandbox && /log/i.test(name)) ?? endpoints[0]!
}

interface Leaving {
  /** The address that is left, and the values of its view. */
  now: Link | null
  values: Record<string, string>
  /** How the view to go to was left; `undefined` = it was not open yet. */
  before: Left | undefined
  /** What its address has then. */
  fresh: Link['view']
}

/** As it was left. Parameters that the endpoints share keep their values, and times their zone. What is redacted stays so. */
export function linkTo(endpoint: Endpoint, { now, values, before, fresh }: Leaving): Link {
  const isSame = now?.endpoint === endpoint.name
  const goesOn = ([name, value]: [string, string]) =>
    name === 'zone' || (name === 'redact' && (isSame || value === 'true'))
  const isShared = (name: string) => endpoint.parameters.some(parameter => parameter.name === name)
  const shared = Object.entries(values).filter(([name, value]) => value !== '' && isShared(name))
  const { start, end } = parametersOf(endpoint)
  const plain = (time = '') => time.replace(/^now-/, '-') // as others write it
  const given = shared.find(([name]) => name === start)
  const isOther = (name = '') => plain(values[name]) !== plain(before?.values[name])
  const isMoved = given && (isOther(start) || isOther(end))
  const stale = ['zone', 'redact', ...(isMoved ? ['from', 'to'] : [])]
  const own = (before?.link.view ?? fresh).filter(([name]) => !stale.includes(name))
  const taken = { ...before?.link.values, ...Object.fromEntries(shared) }
  if (given && end && !values[end]) delete taken[end] // a range goes along whole, also one that ends now
  return {
    endpoint: endpoint.name,
    values: taken,
    sql: before?.link.sql ?? null,
    view: [...own, ...(now?.view.filter(goesOn) ?? [])],
  }
}

function remember(link: Link, step: boolean, note?: string): void {
  const hash = writeLink(link)
  const isThere = hash === location.hash
  if (isThere && note === undefined) return
  if (step && !isThere) history.pushState(note, '', hash)
  else history.replaceState(note, '', hash)
}
