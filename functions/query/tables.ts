import { blame } from '../../shared/run/blame.ts'
import { apiErrorOf } from '../../shared/run/engine-errors.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import type { Endpoint, Explore } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import { tableQueries } from '../../shared/sandbox/offered-tables.ts'
import type { Services } from '../../shared/services.ts'
import type { SqlType } from '../../shared/sql/types.ts'
import type { Call } from '../http/call.ts'
import { accessEndpoint } from './access.ts'
import { foundUpstream } from './answer.ts'

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
  const endpoint = await foundUpstream(services, declared)
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

/** What a dry run of an endpoint's SQL threw, as its callers are told: they can change nothing about it. */
export function dryRunError(error: unknown, endpoint: Endpoint, sql = endpoint.sql): unknown {
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
