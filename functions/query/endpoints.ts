/** Endpoints as a key sees them: their list, the tables that its SQL may read, and the SQL behind an answer. */
import type { Call } from '../http/call.ts'
import { accessEndpoint, accessibleEndpoints } from './access.ts'
import { resolveUpstream } from './answer.ts'
import { type Endpoint, type Explore, typeOf } from '../../shared/endpoints/definition.ts'
import { limitOf } from '../../shared/endpoints/saved-query.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import { apiErrorOf, blame } from '../../shared/run/blame.ts'
import { tableQueries } from '../../shared/sandbox/offered-tables.ts'
import type { Services } from '../../shared/services.ts'
import type { SqlType } from '../../shared/sql/types.ts'

/** `GET /api/endpoints`: the endpoints that the caller's key may call, by name, and the key's rights. */
export async function listEndpoints(call: Call): Promise<void> {
  const { caller, endpoints } = await accessibleEndpoints(call)
  call.res.setHeader('Cache-Control', 'private, no-cache')
  call.res.status(200).json({
    result: endpoints.map(({ id, name, description, sandbox, redact, cacheSeconds, ...endpoint }) => ({
      id,
      name,
      description,
      url: `/api/endpoints/query/${name}`,
      parameters: Object.entries(endpoint.parameters).map(([parameter, definition]) => ({
        name: parameter,
        required: endpoint.required.includes(parameter),
        boundAs: typeOf(definition).kind,
        ...definition,
        ...(Object.hasOwn(caller.pins, parameter) ? { pinned: caller.pins[parameter] } : {}),
      })),
      maxRows: endpoint.maxRows,
      limit: limitOf(endpoint),
      maxResultBytes: endpoint.maxResultBytes,
      cacheSeconds,
      sandbox,
      redact,
      chart: endpoint.chart,
      version: endpoint.version,
    })),
    meta: { rights: caller.rights },
  })
}

export interface TableDescription {
  name: string
  columns: ColumnDescription[]
  /** How the page shows it as log entries, where the definition says so. */
  explore?: Explore
}

export interface ColumnDescription {
  /** `null` for an unnamed field of a STRUCT. */
  name: string | null
  /** GoogleSQL's name of the type, of the elements where it is an array. */
  type: string
  /** An array: use UNNEST to read its elements. */
  repeated: boolean
  /** The fields of a STRUCT. */
  fields?: ColumnDescription[]
}

/** `GET /api/endpoints/<name>/tables`: the tables that a caller's own SQL may read, with their columns. */
export async function describeTables(call: Call): Promise<void> {
  const { endpoint } = await accessEndpoint(call)
  if (!endpoint.sandbox)
    throw new ApiError('sandbox_disabled', 'This endpoint takes no SQL, so it offers no tables.')
  const result = await tablesOf(endpoint, call.services)
  call.res.vary('X-API-KEY, Authorization, SVC-ENDPOINT-VERSION, LF-ENDPOINT-VERSION')
  call.res.setHeader('Cache-Control', 'private, max-age=30')
  call.res.status(200).json({ result })
}

/** The tables of an endpoint that takes SQL, as it is declared. @throws ApiError */
export async function tablesOf(
  declared: Endpoint,
  services: Pick<Services, 'columnsOf' | 'findUpstream'>,
): Promise<TableDescription[]> {
  const endpoint = await resolveUpstream(services, declared)
  const tables = tableQueries(endpoint).map(async ({ name, sql }) => {
    const columns = await services.columnsOf(endpoint, sql).catch((error: unknown) => {
      throw dryRunError(error, endpoint, sql)
    })
    const described = columns.map(column => describe(column.name, column.type))
    const explore = Object.hasOwn(endpoint.explore, name) ? { explore: endpoint.explore[name]! } : {}
    return { name, columns: described, ...explore }
  })
  return Promise.all(tables)
}

/** An error of a dry run of the endpoint's own SQL, as callers get it: 500, since they cannot correct it. */
function dryRunError(error: unknown, endpoint: Endpoint, sql = endpoint.sql): unknown {
  if (!(error instanceof EngineError)) return error
  return blame(apiErrorOf(error, endpoint), {
    endpoint,
    statement: { sql, bindings: [] },
    sql: null,
    sent: [],
  })
}

function describe(name: string | null, type: SqlType): ColumnDescription {
  if (type.kind === 'ARRAY') return { ...describe(name, type.element), repeated: true }
  if (type.kind !== 'STRUCT') return { name, type: type.kind, repeated: false }
  const fields = type.fields.map(field => describe(field.name, field.type))
  return { name, type: 'STRUCT', repeated: false, fields }
}

/** `GET /api/endpoints/<name>/explain`: the SQL that answers its calls, for keys with the right `definitions:read`. */
export async function explainEndpoint(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  if (!caller.rights.includes('definitions:read'))
    throw new ApiError(
      'right_missing',
      'The SQL of endpoints is for API keys with the right definitions:read.',
    )
  // Imported here: what makes batches and levels would slow down every cold start.
  const { explain } = await import('../../shared/warm/explain.ts')
  const found = await resolveUpstream(call.services, endpoint)
  const result = await explain(found, call.services.engine).catch((error: unknown) => {
    throw dryRunError(error, found)
  })
  call.res.setHeader('Cache-Control', 'no-store')
  call.res.status(200).json({ result })
}
