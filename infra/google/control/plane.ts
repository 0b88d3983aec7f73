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
  constructor(status: keyof typeof statuses, message: string, details: Json[] = []) {
    super(message)
    this.code = statuses[status]
    // BigQuery's clients read `errors[0].reason`, all others `status` and `details`.
    const reason = { ALREADY_EXISTS: 'duplicate', NOT_FOUND: 'notFound', PERMISSION_DENIED: 'accessDenied' }
    const errors = [{ message, domain: 'global', reason: (reason as Json)[status] ?? 'invalid' }]
    this.body = { error: { code: this.code, status, message, errors, details } }
  }
}

/** Throws a Refusal, 400. */
export function invalid(message: string): never {
  throw new Refusal('INVALID_ARGUMENT', message)
}

/** With its id, as the path may have the number. Throws a Refusal, 403, for an unknown one. */
export function projectOf({ params, state }: Pick<Call, 'params' | 'state'>): [string, Project] {
  const named = params['project'] ?? ''
  const found = Object.entries(state.projects).find(([id, { number }]) => id === named || number === named)
  if (!found) throw new Refusal('PERMISSION_DENIED', `Project '${named}' not found or permission denied.`)
  return found
}

/** Whether this is the use of something new that is refused. */
export function isNews({ news }: Project, name: string): boolean {
  const at = news?.indexOf(name) ?? -1
  if (at >= 0) news!.splice(at, 1)
  return at >= 0
}

/** Throws a Refusal, 404, where there is none. */
export function get(state: State, name: string): Json {
  const found = state.resources[name]
  if (!found) throw new Refusal('NOT_FOUND', `Resource '${name}' was not found`)
  return found
}

/** Throws a Refusal, 409, where there is one. */
export function create(state: State, name: string, resource: Json): Json {
  if (state.resources[name]) throw new Refusal('ALREADY_EXISTS', `Resource '${name}' already exists`)
  return (state.resources[name] = resource)
}

/** The resources directly below a collection, as `projects/p/serviceAccounts`. */
export function list(state: State, collection: string): Json[] {
  return Object.entries(state.resources)
    .filter(([name]) => name.startsWith(`${collection}/`) && !name.slice(collection.length + 1).includes('/'))
    .map(([, resource]) => resource)
}

/** With its policy, but not what is inside it. Throws a Refusal, 404, where there is none. @returns what it was */
export function remove(state: State, name: string): Json {
  const resource = get(state, name)
  delete state.resources[name]
  delete state.policies[name]
  return resource
}

/** Fields of a resource that an update mask names, from `changes`; a missing one is cleared. */
export function patch(resource: Json, changes: Json, mask: string[]): void {
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

/** Throws a Refusal, 400, where there is none: what a method does without it differs from method to method. */
export function maskOf({ query }: Call): string[] {
  return query.get('updateMask')?.split(',') ?? invalid('update_mask is required')
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
  const operation = state.operations[name]
  if (!operation) throw new Refusal('NOT_FOUND', `Operation '${name}' was not found`)
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

/** The methods that are alike for all resources. */
export const read = ({ state, name }: Call) => get(state, name)
/** Page by page: "20" of IAM is the smallest default. @param key under which the list is answered */
export const listed =
  (key: string) =>
  ({ state, name, query }: Call) => {
    const all = list(state, name)
    const from = Number(query.get('pageToken') ?? 0)
    const to = from + Number(query.get('pageSize') ?? 20)
    return { [key]: all.slice(from, to), ...(to < all.length ? { nextPageToken: String(to) } : {}) }
  }
/** An operation, done from the second question on. */
export const polled = ({ state, name }: Call) => poll(state, name)

/**
 * Those of a collection, as `a/v1/projects/{project}/things`: list, get and delete.
 * @param key under which the list is answered
 * @param permissions what those of the kind begin with
 */
export function collection(path: string, key: string, permissions: string): Route[] {
  const one = `${path}/{id}`
  return [
    route('GET', path, `${permissions}.list`, listed(key)),
    route('GET', one, `${permissions}.get`, read),
    route('DELETE', one, `${permissions}.delete`, ({ state, name }) => (remove(state, name), {})),
  ]
}
