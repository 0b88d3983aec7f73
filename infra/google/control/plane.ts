/** What the stand-in for Google's control plane keeps, how it refuses, and how a service describes its methods. */
import { hash, randomUUID } from 'node:crypto'

export type Json = Record<string, unknown>

export interface Policy {
  bindings?: { role: string; members: string[]; condition?: unknown }[]
  etag?: string
  version?: number
}

interface Project {
  number: string
  /** Enabled APIs, as `run.googleapis.com`. */
  apis: string[]
  isBilled: boolean
  /**
   * Policies of the organization that are in force, by constraint: `iam.allowedPolicyMemberDomains` as version 1 of the API tells
   * it, `iam.managed.allowedPolicyMembers` a rule of version 2.
   */
  constraints: Record<string, Json>
  /** APIs and accounts so new that the next use of each is refused; `null`: all know of them at once. */
  news: string[] | null
}

/** All that it keeps, in plain JSON: `structuredClone` saves it. */
export class State {
  readonly projects: Record<string, Project>
  /** IAM policies by resource name. */
  readonly policies: Record<string, Policy>
  /** All else by resource name. */
  readonly resources: Record<string, Json> = {}
  /** `polls`: how often a client still hears that it is not done. `locks`: the resource that it is changing. */
  readonly operations: Record<string, { polls: number; locks: string; result: Json }> = {}
  /** Who was refused what, as `lqe-warm@... lacks run.routes.invoke`: why something failed that says less. */
  readonly refused: string[] = []

  /** A project as its owner has it after creating it and paying for it. */
  constructor(id: string) {
    // Of those that "Enabled services" of Service Usage lists the one that cannot be missing.
    const apis = ['serviceusage.googleapis.com']
    this.projects = { [id]: { number: '123456789012', apis, isBilled: true, constraints: {}, news: null } }
    const bindings = [{ role: 'roles/owner', members: ['user:owner@example.com'] }]
    this.policies = { [`projects/${id}`]: { bindings } }
  }

  /** Throws a Refusal, 404, where there is none. */
  get(name: string): Json {
    return this.resources[name] ?? refuse('NOT_FOUND', `Not found: ${name}`)
  }

  /** Throws a Refusal, 409, where there is one. */
  assertNew(name: string): void {
    if (this.resources[name]) refuse('ALREADY_EXISTS', `Already exists: ${name}`)
  }

  /** The resources directly below a collection, as `projects/p/serviceAccounts`; a part `-` stands for any. */
  list(collection: string): Json[] {
    const wanted = collection.split('/')
    const isBelow = (parts: string[]) =>
      parts.length === wanted.length + 1 && wanted.every((one, at) => one === '-' || one === parts[at])
    return Object.entries(this.resources).flatMap(([name, one]) => (isBelow(name.split('/')) ? [one] : []))
  }

  /** With what is inside it and with its policies; one that is not there is no error. */
  remove(name: string): void {
    for (const kept of [this.resources, this.policies])
      for (const other of Object.keys(kept)) if (`${other}/`.startsWith(`${name}/`)) delete kept[other]
  }

  /** Whether an operation that is not done is changing the resource; asking is a poll. */
  isLocked(name: string): boolean {
    return Object.values(this.operations).some(one => one.locks === name && one.polls-- > 0)
  }
}

export interface Call {
  /** `owner@example.com`, or the e-mail address of a service account. */
  caller: string
  /** Of the path: `project`, `location`, ... */
  params: Record<string, string>
  /** Name of the resource or the collection in the path: `projects/p/serviceAccounts/a@p.iam.gserviceaccount.com`. */
  name: string
  query: URLSearchParams
  body: Json
  state: State
  /** Address of the stand-in. */
  address: string
  /** Starts a revision of a function; without it revisions are taken to start. */
  start: (revision: Json) => Promise<unknown>
}

type Handle = (call: Call) => Json | Promise<Json>

export interface Route {
  method: string
  /** `{name}` matches a segment; the first segment is the API without `.googleapis.com`. */
  path: string
  /** Needed on the resource in the path, its parents or the project. */
  permission: string | null
  handle: Handle
}

/** A row of a service's table of methods; the first that fits a request counts. */
export function route(method: string, path: string, permission: string | null, handle: Handle): Route {
  return { method, path, permission, handle }
}

/** Status codes of Google's APIs: "API design guide", "Errors". */
const statuses = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  // Not 501, which gcloud takes for an outage and tries again for half a minute.
  UNIMPLEMENTED: 400,
} as const

/** How a method says no. */
export class Refusal extends Error {
  readonly status: number
  readonly body: Json
  /** @param reason of `google.rpc.ErrorInfo` */
  constructor(word: keyof typeof statuses, message: string, reason?: string) {
    super(message)
    this.status = statuses[word]
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' }
    this.body = { error: { code: this.status, status: word, message, details: reason ? [info] : [] } }
  }
}

/** Throws a Refusal. */
export function refuse(...said: ConstructorParameters<typeof Refusal>): never {
  throw new Refusal(...said)
}

/** Throws a Refusal, 400. */
export function invalid(message: string): never {
  return refuse('INVALID_ARGUMENT', message)
}

/** With its id, as the path may have the number. Throws a Refusal, 403, for an unknown one. */
export function projectOf({ params, state }: Pick<Call, 'params' | 'state'>): [string, Project] {
  const named = params['project'] ?? ''
  const found = Object.entries(state.projects).find(([id, { number }]) => id === named || number === named)
  return found ?? refuse('PERMISSION_DENIED', `Project '${named}' not found or permission denied.`)
}

/** Whether this is the use of something new that is refused. */
export function isNews({ news }: Project, name: string): boolean {
  const at = news?.indexOf(name) ?? -1
  if (at >= 0) news!.splice(at, 1)
  return at >= 0
}

/** `a_b.c` as its keys, `aB` and `c`. */
export function keysOf(mask: string): string[] {
  return mask.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()).split('.')
}

/** A copy of a resource with the fields that the call's mask names: one that the body has not is cleared. */
export function masked<T extends Json>({ query, body }: Call, present: T): T {
  const wanted = structuredClone(present)
  for (const path of query.get('updateMask')?.split(',') ?? invalid('update_mask is required')) {
    const [last = '', ...outer] = keysOf(path).reverse()
    let [to, from] = [wanted as Json, body]
    for (const key of outer.reverse()) [to, from] = [(to[key] ??= {}) as Json, (from[key] ?? {}) as Json]
    if (from[last] === undefined) delete to[last]
    else to[last] = from[last]
  }
  return wanted
}

/** 12 hexadecimal digits, equal for equal JSON; also for ids that must be the same in each run. */
export function etagOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value)).slice(0, 12)
}

/**
 * Starts a long-running operation: its effect is there at once, and its end after a poll.
 * @param result `response` or `error`, and `metadata`
 * @param locks a resource: changes to it are refused until it is done
 */
export function operate({ state }: Call, parent: string, result: Json, locks = ''): Json {
  const name = `${parent}/${parent === 'operations' ? 'acat.' : ''}${randomUUID()}`
  state.operations[name] = { polls: 1, locks, result }
  return { name, done: false, metadata: result['metadata'] }
}

/** An operation, done from the second question on. */
export function polled({ state, name }: Call): Json {
  const operation = state.operations[name] ?? refuse('NOT_FOUND', `Operation '${name}' was not found`)
  const done = operation.polls-- <= 0
  return { name, done, ...(done ? operation.result : { metadata: operation.result['metadata'] }) }
}

/** Page by page: "20" of IAM is the smallest default. @param key under which the list is answered */
export function pageOf(key: string, all: Json[], query: URLSearchParams): Json {
  const from = Number(query.get('pageToken') ?? 0)
  const to = from + Number(query.get('pageSize') ?? 20)
  return { [key]: all.slice(from, to), ...(to < all.length ? { nextPageToken: String(to) } : {}) }
}
