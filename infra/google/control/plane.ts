/** What the stand-in for Google's control plane keeps, how it refuses, and how a service describes its methods. */
import { createHash, randomUUID } from 'node:crypto'

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

interface Operation {
  /** How often a client still hears that it is not done, or a change beside it that it has to wait. */
  polls: number
  /** Names of the resources that are being changed: changes to them are refused until it is done. */
  locks: string[]
  body: Json
}

/** Plain JSON: `structuredClone` saves it. */
export interface State {
  projects: Record<string, Project>
  /** IAM policies by resource name. */
  policies: Record<string, Policy>
  /** All else by resource name. */
  resources: Record<string, Json>
  operations: Record<string, Operation>
  /** Who was refused what, as `lqe-warm@... lacks run.routes.invoke`: why something failed that says less. */
  refused: string[]
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
}

export interface Route {
  method: string
  /** `{name}` matches a segment; the first segment is the API without `.googleapis.com`. */
  path: string
  /** Needed on the resource in the path, its parents or the project. */
  permission: string | null
  handle: (call: Call) => Json
}

/** A row of a service's table of methods; the first that fits a request counts. */
export function route(
  method: string,
  path: string,
  permission: Route['permission'],
  handle: Route['handle'],
): Route {
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
  readonly code: number
  readonly body: Json
  /** @param info reason, domain and metadata of `google.rpc.ErrorInfo` */
  constructor(status: keyof typeof statuses, message: string, info?: [string, string, Json]) {
    super(message)
    this.code = statuses[status]
    // BigQuery's clients read `errors[0].reason`, all others `status` and `details`.
    const reason = { ALREADY_EXISTS: 'duplicate', NOT_FOUND: 'notFound', PERMISSION_DENIED: 'accessDenied' }
    const errors = [{ message, domain: 'global', reason: (reason as Json)[status] ?? 'invalid' }]
    const [said, domain, metadata] = info ?? []
    const type = 'type.googleapis.com/google.rpc.ErrorInfo'
    const details = info ? [{ '@type': type, reason: said, domain, metadata }] : []
    this.body = { error: { code: this.code, status, message, errors, details } }
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

/** Throws a Refusal, 404, where there is none. */
export function get(state: State, name: string): Json {
  return state.resources[name] ?? refuse('NOT_FOUND', `Not found: ${name}`)
}

/** Throws a Refusal, 409, where there is one. */
export function assertNew(state: State, name: string): void {
  if (state.resources[name]) refuse('ALREADY_EXISTS', `Already exists: ${name}`)
}

/** The resources directly below a collection, as `projects/p/serviceAccounts`; a part `-` stands for any. */
export function list(state: State, collection: string): Json[] {
  const wanted = [...collection.split('/'), '-']
  const isBelow = (parts: string[]) =>
    parts.length === wanted.length && wanted.every((one, at) => one === '-' || one === parts[at])
  const found = Object.entries(state.resources).filter(([name]) => isBelow(name.split('/')))
  return found.map(([, resource]) => resource)
}

/** With what is inside it and with its policies; one that is not there is no error. */
export function remove({ resources, policies }: State, name: string): void {
  for (const other of Object.keys(resources))
    if (`${other}/`.startsWith(`${name}/`)) {
      delete resources[other]
      delete policies[other]
    }
}

/** Fields of a resource that an update mask names, from `changes`; a missing one is cleared. */
function patch(resource: Json, changes: Json, mask: string[]): void {
  for (const path of mask) {
    const [head = '', ...rest] = path
      .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
      .split('.')
    if (rest.length > 0)
      patch((resource[head] ??= {}) as Json, (changes[head] ?? {}) as Json, [rest.join('.')])
    else if (changes[head] === undefined) delete resource[head]
    else resource[head] = changes[head]
  }
}

/** A copy of a resource with the fields that the call's mask names; what a method does without a mask differs from method to method. */
export function masked<T extends Json>({ query, body }: Call, present: T): T {
  const wanted = structuredClone(present)
  patch(wanted, body, query.get('updateMask')?.split(',') ?? invalid('update_mask is required'))
  return wanted
}

/** 12 hexadecimal digits, equal for equal JSON; also for ids that must be the same in each run. */
export function etagOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)
}

/** Starts a long-running operation: its effect is there at once, and its end after a poll. */
export function operate(
  { state }: Call,
  parent: string,
  body: { response?: Json; error?: Json; metadata?: Json },
  locks: string[] = [],
): Json {
  const name = `${parent}/${parent.startsWith('operations') ? 'acat.' : ''}${randomUUID()}`
  state.operations[name] = { polls: 1, locks, body: { ...body } }
  return { name, done: false, ...(body.metadata ? { metadata: body.metadata } : {}) }
}

function poll(state: State, name: string): Json {
  const operation = state.operations[name] ?? refuse('NOT_FOUND', `Operation '${name}' was not found`)
  const done = isDone(operation)
  const { metadata, ...result } = operation.body
  return { name, done, ...(metadata ? { metadata } : {}), ...(done ? result : {}) }
}

/** From the second question on. */
function isDone(operation: Operation): boolean {
  return operation.polls-- <= 0
}

/** Whether an operation that is not done is changing the resource. */
export function isLocked(state: State, name: string): boolean {
  return Object.values(state.operations).some(one => one.locks.includes(name) && !isDone(one))
}

/** An operation, done from the second question on. */
export const polled = ({ state, name }: Call) => poll(state, name)

/** Page by page: "20" of IAM is the smallest default. @param key under which the list is answered */
export function pageOf(key: string, all: Json[], query: URLSearchParams): Json {
  const from = Number(query.get('pageToken') ?? 0)
  const to = from + Number(query.get('pageSize') ?? 20)
  return { [key]: all.slice(from, to), ...(to < all.length ? { nextPageToken: String(to) } : {}) }
}

/** What a kind of resource has of its own. Its shape is checked by `shapes.ts`. */
interface Kind {
  /** Under which a list is answered; by default the last word of the path. */
  key?: string
  /** Of a new one; by default that of its name or a number that depends on what it is. */
  id?: (call: Call) => string
  /** The verb of a change, and what the resource is after it; by default as an update mask says. */
  verb?: string
  change?: (call: Call, present: Json) => Json
  /** Whether a change may say which version it was made to. */
  hasEtag?: boolean
  /** Refuses what Google refuses. @returns what is kept */
  check?: (call: Call, wanted: Json, present?: Json) => Json
  /** Refuses to delete it. */
  release?: (call: Call, present: Json) => void
  /** What a change answers: by default the resource. */
  answer?: (call: Call, resource: Json) => Json
}

/** A change without a mask: the new one, with the old one's name. */
export const whole = ({ body }: Call, { name }: Json): Json => ({ ...body, name })

function idOf({ body }: Call): string {
  const { name } = body as { name?: string }
  return name?.split('/').at(-1) ?? String(parseInt(etagOf(body), 16))
}

/**
 * The methods of a collection, as `a/v1/projects/{project}/things`: list, get, create, change and delete.
 * @param permissions what those of the kind begin with
 */
export function collection(path: string, permissions: string, kind: Kind = {}): Route[] {
  const { key = path.split('/').at(-1)!, id = idOf, verb = 'PATCH', change = masked, hasEtag = false } = kind
  const { check = (_, wanted) => wanted, release = () => {}, answer = (_, one) => one } = kind
  const told = (one: Json) => (hasEtag ? { ...one, etag: etagOf(one) } : one)
  const method = (verb: string, path: string, right: string, handle: Route['handle']) =>
    route(verb, path, `${permissions}.${right}`, handle)
  const one = `${path}/{id}`
  return [
    method('GET', path, 'list', ({ state, name, query }) => pageOf(key, list(state, name), query)),
    method('GET', one, 'get', ({ state, name }) => told(get(state, name))),
    method('POST', path, 'create', call => {
      const name = `${call.name}/${id(call)}`
      assertNew(call.state, name)
      return answer(call, told((call.state.resources[name] = check(call, { name, ...call.body }))))
    }),
    method(verb, one, 'update', call => {
      const present = get(call.state, call.name)
      const { etag, ...wanted } = change(call, present)
      if (hasEtag && etag !== undefined && etag !== etagOf(present))
        refuse('ABORTED', 'Precondition Failed: the etag is not the current one')
      return answer(call, told((call.state.resources[call.name] = check(call, wanted, present))))
    }),
    method('DELETE', one, 'delete', call => {
      release(call, get(call.state, call.name))
      remove(call.state, call.name)
      return answer(call, {})
    }),
  ]
}
