/**
 * Who asks Firestore and BigQuery, and may. Each account has addresses of its own for them. Firestore's emulator asks nobody for a
 * right, so what comes in for it is checked here as Google checks it, by what set-up has granted, before it goes on.
 */
import { createServer } from 'node:http'
import http2 from 'node:http2'
import { createRequire } from 'node:module'
import type { AddressInfo, Server } from 'node:net'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { BigQueryServer } from '../bigquery/server.ts'
import { isPermitted } from './access.ts'
import type { Json, State } from './plane.ts'

export interface Behind {
  /** Of the backends without gates: their addresses. */
  env: Record<string, string>
  bigQuery: BigQueryServer
  state: State
  project: string
}

/**
 * Opens them for an account, as `lqe-query@my-project.iam.gserviceaccount.com`.
 * @returns settings of a process that runs as the account, and what closes them
 */
export async function openGates(account: string, behind: Behind) {
  const onward = http2.connect(`http://${behind.env['FIRESTORE_EMULATOR_HOST']!}`)
  const documents = http2.createServer()
  documents.on('stream', (stream, headers) => void pass(stream, headers, onward, account, behind))
  const metadata = metadataServer(account)
  const addressOf = async (server: Server) => {
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  return {
    env: {
      ...behind.env,
      FIRESTORE_EMULATOR_HOST: await addressOf(documents),
      BIGQUERY_EMULATOR_HOST: await behind.bigQuery.urlOf(account),
      GCE_METADATA_HOST: await addressOf(metadata),
    },
    close: () => {
      documents.close()
      onward.destroy()
      metadata.close()
      metadata.closeAllConnections()
    },
  }
}

/** "About VM metadata": what a service of Cloud Run knows of the account that it runs as. */
function metadataServer(account: string) {
  const token = JSON.stringify({ access_token: account, expires_in: 3600, token_type: 'Bearer' })
  const answers = new Map([
    ['token', token],
    ['email', account],
    ['project-id', account.split(/[@.]/)[1]!],
    ['instance', ''],
  ])
  return createServer((req, res) => {
    const found = answers.get(req.url!.split('?')[0]!.split('/').at(-1)!)
    const type = found === token ? 'application/json' : 'text/plain'
    res.writeHead(found === undefined ? 404 : 200, { 'Metadata-Flavor': 'Google', 'Content-Type': type })
    res.end(found)
  })
}

// ---- Firestore

/** "Server client libraries", "Roles and permissions" of Firestore; a method that is not here is refused. */
const permissionOf: Record<string, string> = {
  BatchGetDocuments: 'datastore.entities.get',
  BatchWrite: 'datastore.entities.update',
  BeginTransaction: 'datastore.databases.get',
  Commit: 'datastore.entities.update',
  ListDocuments: 'datastore.entities.list',
  Rollback: 'datastore.databases.get',
  RunAggregationQuery: 'datastore.entities.list',
  RunQuery: 'datastore.entities.list',
}

/** On to the emulator, or refused: "gRPC over HTTP2", an answer of trailers alone. */
async function pass(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  onward: http2.ClientHttp2Session,
  account: string,
  { env, state, project }: Behind,
): Promise<void> {
  const method = headers[':path']!.split('/').at(-1)!
  const permission = permissionOf[method] ?? `the permission of ${method}, which the stand-in does not know`
  const refuse = (code: number, message: string) => {
    const status = { 'grpc-status': String(code), 'grpc-message': message }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true })
  }
  if (!isPermitted(state, account, permission, `projects/${project}`))
    return refuse(7, `Missing or insufficient permissions: ${account} lacks ${permission}`)
  stream.on('error', () => {})
  const body = await buffer(stream)
  const missing = method === 'RunQuery' ? missingIndex(body, state) : null
  if (missing === null)
    return forward(stream, onward.request({ ...headers, ':authority': env['FIRESTORE_EMULATOR_HOST'] }), body)
  state.refused.push(`there is no index of ${missing}`)
  refuse(9, `The query requires an index: ${missing}`)
}

function forward(stream: http2.ServerHttp2Stream, answer: http2.ClientHttp2Stream, body: Buffer): void {
  let trailers: http2.OutgoingHttpHeaders = {}
  answer.on('response', (headers, flags) => {
    if (stream.destroyed) return
    if (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) return stream.respond(headers, { endStream: true })
    stream.respond(headers, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    answer.pipe(stream)
  })
  answer.on('trailers', found => (trailers = found))
  answer.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR))
  stream.on('close', () => answer.close())
  answer.end(body)
}

interface Filter {
  field: { fieldPath: string }
}

interface Query {
  from: { collectionId: string }[]
  where?: { fieldFilter?: Filter; compositeFilter?: { filters: { fieldFilter: Filter }[] } }
  orderBy?: (Filter & { direction: number })[]
}

const require = createRequire(import.meta.url)
/** Messages as the client itself has them; its package does not offer them by name. */
const { google } = require(
  join(
    dirname(require.resolve('@google-cloud/firestore/package.json')),
    'build/protos/firestore_v1_proto_api.js',
  ),
) as { google: { firestore: { v1: { RunQueryRequest: { decode(bytes: Buffer): RunQueryRequest } } } } }

interface RunQueryRequest {
  parent: string
  structuredQuery: Query
}

/** @returns what a query needs and has not, as `answers by endpoint ASCENDING, usedAt DESCENDING` */
function missingIndex(body: Buffer, state: State): string | null {
  const { parent, structuredQuery } = google.firestore.v1.RunQueryRequest.decode(body.subarray(5))
  const { from, where, orderBy = [] } = structuredQuery
  const filters = where?.compositeFilter?.filters ?? (where?.fieldFilter ? [where] : [])
  const orders = new Map(filters.map(({ fieldFilter }) => [fieldFilter!.field.fieldPath, 'ASCENDING']))
  for (const { field, direction } of orderBy)
    orders.set(field.fieldPath, direction === 2 ? 'DESCENDING' : 'ASCENDING')
  orders.delete('__name__')
  const group = from[0]?.collectionId ?? ''
  const at = `${parent.replace(/\/documents.*/, '')}/collectionGroups/${group}`
  const fields = [...orders].map(([fieldPath, order]) => ({ fieldPath, order }))
  if (fields.length === 0 || hasIndex(state, at, fields)) return null
  return `${group} by ${fields.map(({ fieldPath, order }) => `${fieldPath} ${order}`).join(', ')}`
}

/** "Index types": several fields need their composite index; one has those that it was given, those of `*`, or both orders. */
function hasIndex(state: State, group: string, wanted: { fieldPath: string; order: string }[]): boolean {
  if (wanted.length > 1)
    return state
      .list(`${group}/indexes`)
      .some(one => JSON.stringify(one['fields']) === JSON.stringify(wanted))
  const configOf = (field: string) => state.resources[`${group}/fields/${field}`]?.['indexConfig']
  const own = configOf(wanted[0]!.fieldPath) ?? configOf('*') ?? {}
  const { indexes } = own as { indexes?: { fields: Json[] }[] }
  return !indexes || indexes.some(({ fields }) => fields[0]!['order'] === wanted[0]!.order)
}
