/**
 * Google's reference implementation of GoogleSQL (ZetaSQL) as a server on this machine. It is a binary of 354 MB and no
 * dependency: install it in a folder outside the repository and name that folder.
 *
 *     npm install --prefix <folder> @fivetrandevelopers/zetasql@1.13.0
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Column } from '../../../sql/types.ts'
import { type Binding, EngineError, type Row } from '../../engine.ts'
import type { Table } from './tables.ts'
import { columnOf, encode, type ProtoColumn, protoType, rowOf, type ValueProto } from './zetasql-values.ts'

/** What the reference makes of a query: its rows, its error, or nothing where it cannot judge. */
export type Verdict = { columns: Column[]; rows: Row[] } | { error: string } | { unjudged: string }

/** A client of gRPC, with the calls that are used here. */
interface Service {
  waitForReady(deadline: number, done: (error?: Error) => void): void
  close(): void
  GetLanguageOptions: Call<object, LanguageOptions>
  RegisterCatalog: Call<object, { registeredId: string }>
  EvaluateQuery: Call<object, Evaluated>
  ExtractTableNamesFromStatement: Call<object, { tableName?: { tableNameSegment: string[] }[] }>
}

type Call<Request, Response> = (
  request: Request,
  options: { deadline: number },
  done: (error: RpcError | null, response: Response) => void,
) => void

interface RpcError extends Error {
  code: number
  details: string
}

interface LanguageOptions {
  enabledLanguageFeatures: string[]
}

interface Evaluated {
  content: { tableData?: { row?: { cell: ValueProto[] }[] } }
  prepared: { columns: ProtoColumn[] }
}

/** Milliseconds for one call. */
const callMs = 10_000

/** Of gRPC: what the reference refuses is one of the others. */
const codes = { deadlineExceeded: 4, unimplemented: 12, internal: 13, unavailable: 14 }

/** Where BigQuery differs from "all features": https://cloud.google.com/bigquery/docs/reference/standard-sql */
const notInBigQuery = [
  'FEATURE_TIMESTAMP_NANOS',
  'FEATURE_V_1_1_ARRAY_EQUALITY',
  'FEATURE_V_1_3_ARRAY_ORDERING',
  'FEATURE_V_1_3_ARRAY_GREATEST_LEAST',
]

/** Features that BigQuery has and the reference calls unfinished. */
const inBigQuery = [
  'FEATURE_INTERVAL_TYPE',
  'FEATURE_V_1_4_GROUPING_SETS',
  'FEATURE_V_1_4_GROUPING_BUILTIN',
  'FEATURE_V_1_4_LIKE_ANY_SOME_ALL_ARRAY',
]

/** What the evaluator does not run itself and has to be rewritten first. */
const rewrites =
  `FLATTEN ARRAY_FILTER_TRANSFORM UNPIVOT PIVOT ARRAY_INCLUDES TYPEOF_FUNCTION WITH_EXPR NULLIFERROR_FUNCTION
  LIKE_ANY_ALL BUILTIN_FUNCTION_INLINER SET_OPERATION_CORRESPONDING GROUPING_SET`
    .split(/\s+/)
    .map(name => `REWRITE_${name}`)

export class ZetaSql {
  private readonly folder: string
  private readonly port: number
  private tables: Record<string, Table> = {}
  private server: ChildProcess | null = null
  private service!: Service
  private language!: object
  private catalog = ''

  /** `folder` is the one in which the package was installed. */
  constructor(folder: string, port = 50_791) {
    this.folder = resolve(folder)
    this.port = port
  }

  /** Starts the server, or starts it again after a crash, with these tables. */
  async start(tables = this.tables): Promise<void> {
    this.stop()
    this.tables = tables
    const load = createRequire(join(this.folder, 'x.js'))
    const library = join(load.resolve('@fivetrandevelopers/zetasql'), '../zetasql')
    const binary = `remote_server${process.arch.startsWith('arm') ? '_arm' : ''}${process.platform === 'darwin' ? '' : '.so'}`
    this.server = spawn(join(library, binary), ['localhost', String(this.port)], { stdio: 'ignore' })
    this.service = connect(load, join(library, 'protos'), this.port)
    await this.ready()
    const all = await this.call<LanguageOptions>('GetLanguageOptions', { maximumFeatures: true })
    const features = all.enabledLanguageFeatures.filter(feature => !notInBigQuery.includes(feature))
    this.language = {
      ...all,
      productMode: 'PRODUCT_EXTERNAL',
      enabledLanguageFeatures: [...new Set([...features, ...inBigQuery])],
      supportedStatementKinds: ['RESOLVED_QUERY_STMT'],
      reservedKeywords: ['QUALIFY'],
    }
    await this.load()
  }

  /** Answers of these tables from here on. */
  async load(tables = this.tables): Promise<void> {
    this.tables = tables
    this.catalog = await this.register()
  }

  stop(): void {
    this.service?.close()
    this.server?.kill('SIGKILL')
    this.server = null
  }

  /** Runs a query over the tables. A crash or a time-out of the server is no verdict. */
  async evaluate(sql: string, bindings: Binding[] = []): Promise<Verdict> {
    const types = bindings.map(({ name, type }) => ({ name, type: protoType(type) }))
    try {
      const { content, prepared } = await this.call<Evaluated>('EvaluateQuery', {
        sql,
        options: {
          languageOptions: this.language,
          defaultTimezone: 'UTC',
          errorMessageMode: 'ERROR_MESSAGE_WITH_PAYLOAD',
          queryParameters: types,
          enabledRewrites: rewrites,
        },
        params: bindings.map(({ name, type, value }) => ({ name, value: encode(type, value) })),
        registeredCatalogId: this.catalog,
      })
      const columns = prepared.columns.map(columnOf)
      return { columns, rows: (content.tableData?.row ?? []).map(({ cell }) => rowOf(columns, cell ?? [])) }
    } catch (error) {
      return await this.verdictOf(error as RpcError | EngineError)
    }
  }

  /** The tables that a statement names. Throws for one that does not parse. */
  async tableNames(sql: string): Promise<string[]> {
    const response = await this.call<{ tableName?: { tableNameSegment: string[] }[] }>(
      'ExtractTableNamesFromStatement',
      // Attacks are other statements than queries too.
      { sqlStatement: sql, options: { ...this.language, supportedStatementKinds: [] } },
    )
    return (response.tableName ?? []).map(({ tableNameSegment }) => tableNameSegment.join('.'))
  }

  private async verdictOf(error: RpcError | EngineError): Promise<Verdict> {
    // A value that BigQuery's results cannot hold, such as a NULL in an array.
    if (error instanceof EngineError) return { error: error.message }
    if (error.code === undefined) throw error
    const { code, details } = error
    if (code === codes.unimplemented) return { unjudged: details.split('\n', 1)[0]! }
    if (code === codes.internal || code === codes.unavailable || code === codes.deadlineExceeded) {
      await this.start()
      return { unjudged: `the server broke: ${details}` }
    }
    return { error: details }
  }

  private async register(): Promise<string> {
    const entries = Object.entries(this.tables)
    const { registeredId } = await this.call<{ registeredId: string }>('RegisterCatalog', {
      simpleCatalog: {
        name: 'reference',
        builtinFunctionOptions: { languageOptions: this.language },
        table: entries.map(([name, { columns }]) => ({
          name,
          column: columns.map(column => ({ name: column.name, type: protoType(column.type) })),
        })),
      },
      tableContent: Object.fromEntries(
        entries.map(([name, { columns, rows }]) => {
          const cells = (row: Row) => columns.map(column => encode(column.type, row[column.name] ?? null))
          return [name, { tableData: { row: rows.map(row => ({ cell: cells(row) })) } }]
        }),
      ),
    })
    return registeredId
  }

  private async ready(): Promise<void> {
    for (let attempt = 0; ; attempt++)
      try {
        await new Promise<void>((done, fail) => {
          this.service.waitForReady(Date.now() + callMs, error => (error ? fail(error) : done()))
        })
        return
      } catch (error) {
        if (attempt === 3) throw error
        await sleep(500)
      }
  }

  private call<Response>(
    name: Exclude<keyof Service, 'waitForReady' | 'close'>,
    request: object,
  ): Promise<Response> {
    return new Promise((done, fail) => {
      const call = this.service[name].bind(this.service) as Call<object, unknown>
      call(request, { deadline: Date.now() + callMs }, (error, response) =>
        error ? fail(error) : done(response as Response),
      )
    })
  }
}

interface Grpc {
  loadPackageDefinition(definition: object): {
    zetasql: { local_service: { ZetaSqlLocalService: new (...args: unknown[]) => Service } }
  }
  credentials: { createInsecure(): object }
}

interface ProtoLoader {
  loadSync(file: string, options: object): object
}

function connect(load: NodeJS.Require, protos: string, port: number): Service {
  const grpc = load('@grpc/grpc-js') as Grpc
  const loader = load('@grpc/proto-loader') as ProtoLoader
  const definition = loader.loadSync('local_service.proto', {
    includeDirs: [protos],
    enums: String,
    longs: String,
    oneofs: true,
  })
  const { ZetaSqlLocalService } = grpc.loadPackageDefinition(definition).zetasql.local_service
  return new ZetaSqlLocalService(`localhost:${port}`, grpc.credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
  })
}
