/** The alerts of an endpoint, or of all, as the page knows them, asked for again and again, and what makes a new one. */
import { signal } from '@preact/signals'
import { iso } from '../../shared/answers/times.ts'
import type { AlertStatus } from '../../shared/alerts/list.ts'
import type { AlertWish } from '../../shared/alerts/draft.ts'
import type { Link } from './address.ts'
import type { Made } from './logs/as-endpoint.ts'
import {
  type Endpoint,
  listAlerts,
  listAllAlerts,
  now,
  type Opening,
  parametersOf,
  type Query,
  ServiceError,
} from './service.ts'

const refreshMs = 15_000

/** Asks at once, and while the page is seen. What is there stays until the next answer, also where none comes. */
export class Alerts {
  readonly all = signal<AlertStatus[] | null>(null)
  readonly problem = signal('')
  /** Whether they are those of all endpoints that the key may call. */
  readonly areOfAll = signal(false)
  /** The service's present at the last answer, milliseconds. */
  readonly at = signal(0)
  readonly #opening: Opening
  readonly #ending = new AbortController()

  constructor(opening: Opening) {
    this.#opening = opening
    void this.#keepAsking()
  }

  readonly close = (): void => this.#ending.abort()

  /** Those of all endpoints, or of the open one. */
  show(ofAll: boolean): void {
    if (ofAll === this.areOfAll.value) return
    this.areOfAll.value = ofAll
    this.all.value = null
    void this.#ask()
  }

  async #keepAsking(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      if (document.visibilityState === 'visible' || this.all.peek() === null) await this.#ask()
      await nextTurn(signal)
    }
  }

  async #ask(): Promise<void> {
    const { key, endpoint } = this.#opening
    const { signal } = this.#ending
    const ofAll = this.areOfAll.value
    try {
      const all = await (ofAll ? listAllAlerts(key, signal) : listAlerts(key, endpoint, signal))
      if (ofAll !== this.areOfAll.value) return
      this.all.value = inOrder(all)
      this.at.value = now() / 1000
      this.problem.value = ''
    } catch (error) {
      if (signal.aborted || ofAll !== this.areOfAll.value) return
      if (!(error instanceof ServiceError)) throw error
      this.problem.value = `${error.problem.title}. ${error.problem.detail}`
    }
  }
}

/** Ends after a while, where one comes back to the page, and with `signal`. */
async function nextTurn(signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  await new Promise(resolve => {
    const timer = setTimeout(resolve, refreshMs)
    document.addEventListener('visibilitychange', resolve, { signal: over.signal })
    signal.addEventListener('abort', resolve, { signal: over.signal })
    over.signal.addEventListener('abort', () => clearTimeout(timer))
  })
  over.abort()
}

/** What of each state is said and drawn; those that need a person come first. */
export const states = {
  firing: 'firing',
  failing: 'failing',
  'no data': 'no data',
  pending: 'pending',
  new: 'not evaluated yet',
  calm: 'calm',
} as const

export type ShownState = keyof typeof states

export function stateOf({ state }: Pick<AlertStatus, 'state'>): ShownState {
  if (state === null) return 'new'
  return state === 'ok' || state === 'resolved' ? 'calm' : state
}

/** The service lists each alert's sets as its file has them, and so they stay among those of a state. */
function inOrder(all: AlertStatus[]): AlertStatus[] {
  const ranks = Object.keys(states)
  const rank = (alert: AlertStatus) => ranks.indexOf(stateOf(alert))
  return all.toSorted((a, b) => rank(a) - rank(b))
}

/** `3 alerts: 1 firing, 2 calm` */
export function summaryOf(all: AlertStatus[]): string {
  const counts = Map.groupBy(all, stateOf)
  const parts = [...counts].map(([state, some]) => `${some.length} ${states[state]}`)
  return `${all.length === 1 ? '1 alert' : `${all.length} alerts`}: ${parts.join(', ')}`
}

/** Such as `3 min`, `2 h`, `5 days`, of a time that is past or to come. @param at the present, milliseconds */
export function distance(time: string, at: number): string {
  return lengthText(Math.abs(Date.parse(time) - at) / 1000)
}

function lengthText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  return seconds < 36 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}

/** `entries more than 600`, `failed / calls more than 2 times 3 h before` */
export function conditionText({ value, of, above, below, beforeMs }: AlertStatus['condition']): string {
  const number = of === undefined ? value : `${value} / ${of}`
  const bound = above === undefined ? `less than ${below}` : `more than ${above}`
  return `${number} ${bound}${beforeMs === undefined ? '' : ` times ${lengthText(beforeMs / 1000)} before`}`
}

/** When it is evaluated next, in words. @param at the present, milliseconds */
export function nextOf({ nextAt }: Pick<AlertStatus, 'nextAt'>, at: number): string {
  if (nextAt === null || Date.parse(nextAt) <= at) return 'with the next call of the warm function'
  return `in ${distance(nextAt, at)}`
}

/** The rows that an alert looks at; `null` where redaction has taken a value out of its parameters. */
export function rowsOf({ endpoint, parameters }: Pick<AlertStatus, 'endpoint' | 'parameters'>): Link | null {
  const isWhole = Object.values(parameters).every(value => !value.includes('REDACTED'))
  return isWhole ? { endpoint, values: parameters, sql: null, view: [] } : null
}

/** What an alert can look at: a number of the rows of an endpoint, or of one that is made for it. */
export interface Watched {
  title: string
  /** Which rows that is of, in words; empty = all that come of `values`. */
  about: string
  /** `null` = the endpoint is there. */
  made: Made | null
  /** A column, or `rows` for their count. */
  value: string
  of?: string
  /** Whether 0 of it is what comes of nothing. */
  isCount: boolean
  /** What the number is in; empty = not known. */
  unit: string
  values: Record<string, string>
  /** The parameters that bound the time, by their names. */
  window: { start?: string | undefined; end?: string | undefined }
  /** What gives the rows of a window now, of its beginning and its end in microseconds. */
  query(from: number, to: number): Omit<Query, 'endpoint'>
}

/** The rows of an endpoint, or of the caller's own SQL over it. */
export function rowsWatched(endpoint: Endpoint, values: Record<string, string>, made: Made | null): Watched {
  const { start, end } = parametersOf(endpoint)
  return {
    title: 'Rows',
    about: made ? 'your SQL' : endpoint.name,
    made,
    value: 'rows',
    isCount: true,
    unit: 'rows',
    values,
    window: { start, end },
    query: (from, to) => ({
      sql: made?.sql ?? null,
      values: { ...values, ...(start && { [start]: iso(from) }), ...(end && { [end]: iso(to) }) },
      redact: made?.redact ?? endpoint.redact,
    }),
  }
}

/** What a person chooses and writes. */
export interface Chosen {
  title: string
  name: string
  side: 'above' | 'below' | 'none'
  bound: string
  /** Whether a person wrote it. */
  isOwnBound: boolean
  /** Another window that it is compared with, as a duration of ISO 8601; empty = the bound itself. */
  before: string
  /** Column by which it is divided; empty = none. */
  of: string
  /** How long the window is, as the service reads times: `15m`. */
  window: string
  every: string
  for: string
  severity: AlertWish['severity']
  /** Empty = of what is looked at. */
  text: string
  channels: string[]
}

export const firstChoice: Omit<Chosen, 'title' | 'name'> = {
  side: 'above',
  bound: '0',
  isOwnBound: false,
  before: '',
  of: '',
  window: '15m',
  every: 'PT5M',
  for: '',
  severity: 'warning',
  text: '',
  channels: [],
}

/** Whether its bound is written in percent. */
export function isShare({ of }: Watched, chosen: Pick<Chosen, 'of' | 'before' | 'side'>): boolean {
  return Boolean(of ?? chosen.of) && chosen.before === '' && chosen.side !== 'none'
}

/** What is told where no text is written. */
export function textOf({ title }: Watched): string {
  return `${title}: {{ value }}`
}

/** The alert, as the service drafts it. */
export function alertOf(watched: Watched, chosen: Chosen): AlertWish {
  const { value, of = chosen.of, values, window } = watched
  const { side, bound, before, name, every, severity, channels } = chosen
  const number = bound.trim() === '' ? Number.NaN : Number(bound)
  const limit = isShare(watched, chosen) ? Number((number / 100).toPrecision(12)) : number
  const compared = {
    ...(of === '' ? {} : { of }),
    ...(before === '' ? {} : { before }),
    [side]: limit,
  }
  const times = {
    ...(window.start && { [window.start]: `-${chosen.window}` }),
    ...(window.end && { [window.end]: 'now' }),
  }
  const given = Object.entries({ ...values, ...times }).filter(([, text]) => text !== '')
  return {
    name: name.trim(),
    parameters: Object.fromEntries(given),
    condition: { value, ...(side === 'none' ? { below: 1 } : compared) },
    every,
    ...(chosen.for === '' ? {} : { for: chosen.for }),
    severity,
    text: chosen.text.trim() || textOf(watched),
    channels,
  }
}
