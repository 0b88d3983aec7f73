/** Jobs, pages of results, values and types in the forms of BigQuery's REST interface, and parameters from them. */
import type { Binding, Result, Row, RunResult, Value } from '../../../shared/engines/engine.ts'
import type {
  Cell,
  Job,
  JobConfiguration,
  JobReference,
  Table,
  ParameterType,
  ParameterValue,
  QueryParameter,
  ResultsPage,
  Wire,
} from '../../../shared/engines/bigquery/client.ts'
import type { FieldSchema } from '../../../shared/engines/schema.ts'
import { fieldName } from '../../../shared/engines/values.ts'
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'
import { BigQueryError, type Caller } from './errors.ts'
import type { TableCatalog } from './tables.ts'

export interface RunningJob {
  reference: Required<JobReference>
  configuration: JobConfiguration
  /** Of who has started it. */
  token: string | null
  createdAt: number
  bytes: number
  outcome: Promise<RunResult | BigQueryError>
  /** The outcome, once the job is done. */
  ended: RunResult | BigQueryError | null
  endedAt: number | null
  stop: AbortController
}

/** "Job" of the REST reference: numbers are texts, times milliseconds since 1970. */
export function jobResource(job: RunningJob): Job {
  const { reference: jobReference, configuration, createdAt, ended, endedAt } = job
  const error = ended instanceof BigQueryError && { reason: ended.reason, message: ended.message }
  const state = ended ? ('DONE' as const) : ('RUNNING' as const)
  const status = { state, ...(error && { errorResult: error, errors: [error] }) }
  const slots = endedAt ? { totalSlotMs: String(endedAt - createdAt) } : {}
  return { jobReference, configuration, status, statistics: { creationTime: String(createdAt), ...slots } }
}

/** "Table". @param real its full name */
export function tableResource(catalog: TableCatalog, real: string, caller: Caller): Table {
  caller.demand('bigquery.tables.get', real)
  const { unit, partition } = catalog.find(real)
  return unit ? { timePartitioning: { type: unit, field: partition } } : {}
}

/** The response of jobs.getQueryResults where `timeoutMs` is over before the job is. */
export const incompletePage = (jobReference: JobReference) => ({ jobReference, jobComplete: false })

/** Of a page, whatever the request says. */
export interface PageLimits {
  pageRows: number
  /** One row comes in any case. */
  pageBytes: number
}

/** A result that was cut (`truncated`) has one row more in `totalRows` than come. */
export function resultsPage(
  job: RunningJob,
  { columns, rows, truncated }: Result,
  query: URLSearchParams,
  { pageRows, pageBytes }: PageLimits,
): ResultsPage {
  const from = Number((query.get('pageToken') ?? 'row-0').slice('row-'.length))
  const most = Math.min(Number(query.get('maxResults') ?? pageRows), pageRows)
  // Microseconds; else seconds as a float, which loses precision.
  const int64 = query.get('formatOptions.useInt64Timestamp') === 'true'
  const all = rows.slice(from, from + most).map(row => toWireRow(row, columns, int64))
  let bytes = 0
  const page = all.filter((row, at) => (bytes += JSON.stringify(row).length) <= pageBytes || at === 0)
  const to = from + page.length
  return {
    jobReference: job.reference,
    jobComplete: true,
    schema: schemaOf(columns),
    totalRows: String(rows.length + (truncated ? 1 : 0)),
    totalBytesProcessed: String(job.bytes),
    rows: page,
    ...(to < rows.length ? { pageToken: `row-${to}` } : {}),
  }
}

const legacyNames: Partial<Record<ScalarName, string>> = {
  BOOL: 'BOOLEAN',
  FLOAT64: 'FLOAT',
  INT64: 'INTEGER',
}

/** "TableSchema" with the names of legacy SQL (INTEGER, FLOAT, BOOLEAN, RECORD), in which BigQuery answers. */
export function schemaOf(columns: Column[]): { fields: FieldSchema[] } {
  return { fields: columns.map(({ name, type }) => fieldSchema(name, type)) }
}

function fieldSchema(name: string, type: SqlType): FieldSchema {
  if (type.kind === 'ARRAY') return { ...fieldSchema(name, type.element), mode: 'REPEATED' }
  if (type.kind !== 'STRUCT') return { name, type: legacyNames[type.kind] ?? type.kind, mode: 'NULLABLE' }
  const fields = type.fields.map((field, at) => fieldSchema(fieldName(field.name, at), field.type))
  return { name, type: 'RECORD', mode: 'NULLABLE', fields }
}

function toWireRow(row: Row, columns: Column[], int64: boolean): { f: Cell[] } {
  return { f: columns.map(({ name, type }) => ({ v: toWire(row[name] ?? null, type, int64) })) }
}

function toWire(value: Value, type: SqlType, int64: boolean): Wire {
  if (value === null) return null
  if (type.kind === 'ARRAY') return (value as Value[]).map(item => ({ v: toWire(item, type.element, int64) }))
  if (type.kind === 'STRUCT') {
    const columns = type.fields.map((field, at) => ({ name: fieldName(field.name, at), type: field.type }))
    return toWireRow(value as Row, columns, int64)
  }
  if (type.kind === 'TIMESTAMP' && !int64) return (Number(value) / 1e6).toExponential()
  return type.kind === 'JSON' || typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A value without text is NULL. Texts stay texts, but JSON is parsed. */
export function toBinding({ name, parameterType, parameterValue }: QueryParameter): Binding {
  const type = toType(parameterType)
  return { name, type, value: toValue(parameterValue, type) }
}

function toType({ type, arrayType, structTypes = [] }: ParameterType): SqlType {
  if (arrayType) return { kind: 'ARRAY', element: toType(arrayType) }
  if (type !== 'STRUCT') return { kind: type as ScalarName }
  const fields = structTypes.map(field => ({ name: field.name ?? null, type: toType(field.type) }))
  return { kind: 'STRUCT', fields }
}

function toValue({ value = null, arrayValues, structValues }: ParameterValue, type: SqlType): Value {
  if (type.kind === 'ARRAY') return arrayValues?.map(item => toValue(item, type.element)) ?? null
  if (type.kind === 'STRUCT') {
    if (!structValues) return null
    const fields = type.fields.map(
      field => [field.name!, toValue(structValues[field.name!] ?? {}, field.type)] as const,
    )
    return Object.fromEntries(fields)
  }
  return value !== null && type.kind === 'JSON' ? (JSON.parse(value) as Value) : value
}
