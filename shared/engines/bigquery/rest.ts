/**
 * BigQuery's REST resources, as far as they are used here. In JSON every 64-bit integer is text.
 * Reference: https://cloud.google.com/bigquery/docs/reference/rest/v2
 */

export interface Job {
  jobReference: JobReference
  configuration?: JobConfiguration
  status?: { state: 'PENDING' | 'RUNNING' | 'DONE'; errorResult?: ErrorProto; errors?: ErrorProto[] }
  statistics?: { creationTime?: string; query?: QueryStatistics }
}

export interface JobReference {
  projectId: string
  /** Absent in the request for a dry run, which makes no job. */
  jobId?: string
  location?: string
}

export interface JobConfiguration {
  query: {
    query: string
    useLegacySql: boolean
    useQueryCache?: boolean
    parameterMode?: 'NAMED'
    queryParameters?: QueryParameter[]
    maximumBytesBilled?: string
  }
  dryRun?: boolean
  jobTimeoutMs?: string
  labels?: Record<string, string>
}

export interface QueryParameter {
  name: string
  parameterType: ParameterType
  parameterValue: ParameterValue
}

export interface ParameterType {
  type: string
  arrayType?: ParameterType
  structTypes?: { name?: string; type: ParameterType }[]
}

export interface ParameterValue {
  value?: string | null
  arrayValues?: ParameterValue[]
  structValues?: Record<string, ParameterValue>
}

/** What a dry run tells. */
export interface QueryStatistics {
  statementType?: string
  totalBytesProcessed?: string
  referencedTables?: { projectId: string; datasetId: string; tableId: string }[]
  referencedRoutines?: { projectId: string; datasetId: string; routineId: string }[]
  schema?: { fields?: FieldSchema[] }
}

export interface FieldSchema {
  name: string
  /** The legacy names: INTEGER, FLOAT, BOOLEAN, RECORD. */
  type: string
  mode?: 'NULLABLE' | 'REQUIRED' | 'REPEATED'
  fields?: FieldSchema[]
}

/** A page of `jobs.getQueryResults`. */
export interface ResultsPage {
  jobReference: JobReference
  jobComplete?: boolean
  schema?: { fields?: FieldSchema[] }
  rows?: { f: Cell[] }[]
  totalRows?: string
  pageToken?: string
  totalBytesProcessed?: string
}

export interface Cell {
  v: Wire
}

/** A value: text for every scalar, cells for an array, a record's cells under `f`. */
export type Wire = null | string | Cell[] | { f: Cell[] }

export interface ErrorProto {
  reason?: string
  message?: string
  location?: string
}
