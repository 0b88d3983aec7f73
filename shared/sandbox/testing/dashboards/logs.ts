/** Flat log entries, from which the dashboards' expected rows are computed; times in microseconds since 1970. */
export interface Edge {
  id: string
  time: number
  message: string
  method: string
  path: string
  search: string | null
  host: string
  status: number
  /** Milliseconds that the origin took; not known for answers of the cache. */
  origin: number | null
  country: string | null
  agent: string
  ip: string
  cache: 'HIT' | 'MISS' | 'DYNAMIC' | null
  role: string | null
}

export interface Postgres {
  id: string
  time: number
  message: string
  severity: 'LOG' | 'WARNING' | 'ERROR' | 'FATAL'
  state: string
  user: string
  database: string
  application: string | null
  query: string | null
  pid: number
}

export interface FunctionEdge {
  id: string
  time: number
  message: string
  name: string
  version: string
  ms: number
  method: string
  path: string
  status: number
  region: string
  execution: string
}

export interface FunctionLog {
  id: string
  time: number
  message: string
  level: 'info' | 'error' | 'log'
  event: 'Boot' | 'Log' | 'Shutdown'
  name: string
  execution: string
}

export interface Auth {
  id: string
  time: number
  /** JSON, as GoTrue writes it. */
  message: string
  level: 'info' | 'error'
  path: string
  msg: string
  status: string
  error: string | null
  action: string | null
  actor: string | null
  provider: string | null
  args: string[]
}

export interface Realtime {
  id: string
  time: number
  message: string
  level: string
  tenant: string
  domain: string[]
  line: number
}

export interface Storage {
  id: string
  time: number
  message: string
  level: string
  tenant: string
  pid: number
}

export interface Plain {
  id: string
  time: number
  message: string
  host: string
}

export interface Logs {
  edge: Edge[]
  postgres: Postgres[]
  functionEdge: FunctionEdge[]
  functions: FunctionLog[]
  auth: Auth[]
  realtime: Realtime[]
  storage: Storage[]
  postgrest: Plain[]
  pgbouncer: Plain[]
}

export const second = 1_000_000
export const minute = 60 * second
export const hour = 60 * minute

/** 2026-03-14 09:00:00 UTC, a Saturday. */
export const start = Date.UTC(2026, 2, 14, 9) * 1000
