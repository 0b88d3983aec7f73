/**
 * Every address of the query function. Requests are routed by this table (`../routes.ts`), and the OpenAPI document is made of it
 * (`../query/openapi.ts`). Each has the forms that Logflare and hosted Supabase have for it: `infra/docs/moving-in.md`, "Callers".
 */
import { LRUCache } from 'lru-cache'

/** The handlers, by the name that the table has for them. */
export type Handler =
  | 'answer'
  | 'list'
  | 'tables'
  | 'explain'
  | 'draft'
  | 'views'
  | 'view'
  | 'alerts'
  | 'alertsOfEndpoint'
  | 'none'
  | 'mcp'
  | 'resource'
  | 'openApi'
  | 'health'
  | 'page'
  | 'file'

export interface Address {
  /** `{name}`, `{ref}` and `{view}` stand for a segment each. A slash may follow. */
  path: string
  /** Other paths for the same, beside those of `pathsOf`. */
  also?: string[]
  /** GET brings HEAD, and each address takes OPTIONS. */
  methods: ('GET' | 'POST' | 'PUT' | 'DELETE')[]
  handler: Handler
  /** Whether it takes an API key. */
  key: boolean
  /** Whether times that a call leaves out are those of hosted Supabase (`../query/hosted.ts`). */
  hosted?: true
  /** How the OpenAPI document tells it; absent for what it tells otherwise, or not. */
  operation?: { id: string; summary: string; result: string }
}

/** Endpoints are in the OpenAPI document by this path, each with its name. */
export const endpointPath = '/api/endpoints/query/{name}'

const ofProject = '/projects/{ref}/analytics/endpoints/{name}'
const rows = { methods: ['GET', 'POST'], handler: 'answer', key: true } satisfies Partial<Address>
const statesOfAlerts = 'Each alert and set of parameters with its state, last value and history'

export const addresses: Address[] = [
  { path: endpointPath, also: ['/api/endpoints/query/name/{name}'], ...rows },
  {
    path: `/v1${ofProject}`,
    also: [`/v0${ofProject}`],
    ...rows,
    hosted: true,
    operation: {
      id: 'projectLogs',
      summary: 'The same of one project, as Supabase’s Management API has it: without times the last minute',
      result: 'The rows',
    },
  },
  {
    path: `/platform${ofProject}`,
    ...rows,
    operation: {
      id: 'platformLogs',
      summary: 'The same of one project, as Supabase’s Studio asks for it',
      result: 'The rows',
    },
  },
  {
    path: '/api/endpoints',
    methods: ['GET'],
    handler: 'list',
    key: true,
    operation: { id: 'listEndpoints', summary: 'The endpoints that the key may call', result: 'By name' },
  },
  {
    path: '/api/endpoints/{name}/tables',
    methods: ['GET'],
    handler: 'tables',
    key: true,
    operation: {
      id: 'listTables',
      summary: 'The tables and columns that a caller’s own SQL may read',
      result: 'In the order of the definition',
    },
  },
  {
    path: '/api/endpoints/{name}/explain',
    methods: ['GET'],
    handler: 'explain',
    key: true,
    operation: {
      id: 'explainEndpoint',
      summary: 'The SQL that answers an endpoint’s calls, for keys with the right definitions:read',
      result: 'The queries, the first that takes a call answers it, and the roll-ups',
    },
  },
  { path: '/api/endpoints/{name}/draft', methods: ['POST'], handler: 'draft', key: true },
  {
    path: '/api/endpoints/{name}/views',
    methods: ['GET', 'POST'],
    handler: 'views',
    key: true,
    operation: {
      id: 'listViews',
      summary: 'The views of an endpoint that people have saved on the page',
      result: 'By name',
    },
  },
  { path: '/api/endpoints/{name}/views/{view}', methods: ['PUT', 'DELETE'], handler: 'view', key: true },
  {
    path: '/api/alerts',
    methods: ['GET'],
    handler: 'alerts',
    key: true,
    operation: {
      id: 'listAlerts',
      summary: 'The alerts on the endpoints that the key may call, for the parameters that it fixes',
      result: statesOfAlerts,
    },
  },
  {
    path: '/api/endpoints/{name}/alerts',
    methods: ['GET'],
    handler: 'alertsOfEndpoint',
    key: true,
    operation: {
      id: 'listAlertsOfEndpoint',
      summary: 'The alerts on an endpoint, for the parameters that the key fixes',
      result: statesOfAlerts,
    },
  },
  // What Logflare manages there, and Studio's page of log drains lists.
  {
    path: '/api/backends',
    also: ['/api/sources', '/api/rules'],
    methods: ['GET'],
    handler: 'none',
    key: true,
  },
  { path: '/mcp', methods: ['POST'], handler: 'mcp', key: true },
  {
    path: '/.well-known/oauth-protected-resource',
    also: ['/.well-known/oauth-protected-resource/mcp'],
    methods: ['GET'],
    handler: 'resource',
    key: false,
  },
  { path: '/openapi.json', methods: ['GET'], handler: 'openApi', key: false },
  {
    path: '/health',
    methods: ['GET'],
    handler: 'health',
    key: false,
    operation: { id: 'health', summary: 'Whether the process serves, and its version', result: 'It does' },
  },
  { path: '/', methods: ['GET'], handler: 'page', key: false },
  { path: '/explorer/{name}', methods: ['GET'], handler: 'file', key: false },
]

/** All paths of an address: Logflare has those of endpoints without `/api`, too. */
export function pathsOf({ path, also = [] }: Address): string[] {
  const short = path.startsWith('/api/endpoints') ? [path.slice('/api'.length)] : []
  return [path, ...short, ...also]
}

/** Before any path: where the gateway of a self-hosted Supabase has Logflare. */
export const gatewayPath = '/analytics/v1'

/** A path's address, with the segments that it captures, decoded. */
export interface Match {
  address: Address
  name: string
  /** Of a project; `null` where the address has none. */
  ref: string | null
  /** Of a saved view; `null` where the address has none. */
  view: string | null
}

/** Characters of a path that is remembered. */
const longest = 200

/**
 * Finds the address of a path by its shape: its segments without those that are captured. Recent paths are remembered, as the
 * search would be a hundredth of a hot answer's CPU.
 * @returns throws URIError where the percent-escapes of the path are not UTF-8
 */
export function finderOf(all: Address[]): (path: string) => Match | null {
  const known = new LRUCache<string, Match>({ max: 1000 })
  const patterns = all.flatMap(address =>
    pathsOf(address).map(path => {
      const segments = segmentsOf(path)
      return { address, segments, captured: segments.map(segment => segment.startsWith('{')) }
    }),
  )
  const byShape = new Map(
    patterns.map(({ address, segments, captured }) => [shapeOf(segments, captured), { address, segments }]),
  )
  // A path that is written out, such as /api/endpoints/query/name/x, goes before one that captures more.
  const captures = [
    ...new Map(patterns.map(({ captured }) => [captured.join(), captured])).values(),
  ].toSorted((a, b) => a.filter(Boolean).length - b.filter(Boolean).length)
  return path => {
    const before = known.get(path)
    if (before) return before
    decodeURIComponent(path) // throws for a bad escape, also at an unknown address
    const segments = segmentsOf(path.startsWith(`${gatewayPath}/`) ? path.slice(gatewayPath.length) : path)
    if (segments.includes('')) return null
    for (const captured of captures.filter(({ length }) => length === segments.length)) {
      const pattern = byShape.get(shapeOf(segments, captured))
      if (!pattern) continue
      const valueOf = (name: string) => {
        const at = pattern.segments.indexOf(`{${name}}`)
        return at < 0 ? null : decodeURIComponent(segments[at]!)
      }
      const { address } = pattern
      const found = { address, name: valueOf('name') ?? '', ref: valueOf('ref'), view: valueOf('view') }
      if (path.length <= longest) known.set(path, found)
      return found
    }
    return null
  }
}

function segmentsOf(path: string): string[] {
  return path === '/' ? [] : (path.endsWith('/') ? path.slice(1, -1) : path.slice(1)).split('/')
}

/** Without the segments that are captured. */
function shapeOf(segments: string[], captured: boolean[]): string {
  return segments.map((segment, at) => (captured[at] ? '' : segment)).join('/')
}
