/**
 * Who asks Firestore and BigQuery, and may. Each account has addresses of its own for them. Firestore's emulator asks nobody for a
 * right, so what comes in for it is checked here as Google checks it, by what set-up has granted, before it goes on.
 */
import { createServer } from 'node:http'
import http2 from 'node:http2'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { BigQueryServer } from '../bigquery/server.ts'
import { isPermitted } from './permissions.ts'
import type { Json, State } from './plane.ts'

export interface Gates {
  /** Settings of a process that runs as the account. */
  env: Record<string, string>
  close(): void
}

export interface Behind {
  /** Of the backends without gates: their addresses. */
  env: Record<string, string>
  bigQuery: BigQueryServer
  state: State
  project: string
}

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

/** Opens them for an account, as `lqe-query@my-project.iam.gserviceaccount.com`. */
export async function openGates(account: string, behind: Behind): Promise<Gates> {
  const documents = await gateOfFirestore(account, behind)
  const metadata = await metadataServer(account)
  return {
    env: {
      ...behind.env,
      FIRESTORE_EMULATOR_HOST: documents.address,
      BIGQUERY_EMULATOR_HOST: await behind.bigQuery.urlOf(account),
      GCE_METADATA_HOST: metadata.address,
    },
    close: () => {
      documents.close()
      metadata.close()
    },
  }
}

interface Gate {
  /** host:port */
  address: string
  close(): void
}

// ---- Firestore

async function gateOfFirestore(account: string, { env, state, project }: Behind): Promise<Gate> {
  const onward = http2.connect(`http://${env['FIRESTORE_EMULATOR_HOST']!}`)
  const server = http2.createServer()
  server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    const method = headers[':path']!.split('/').at(-1)!
    const permission = permissionOf[method] ?? `the permission of ${method}, which the stand-in does not know`
    if (!isPermitted(state, account, permission, [`projects/${project}`]))
      return refuse(stream, 7, `Missing or insufficient permissions: ${account} lacks ${permission}`)
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const body = Buffer.concat(chunks)
      const missing = method === 'RunQuery' ? missingIndex(body, state) : null
      if (missing) state.refused.push(`there is no index of ${missing}`)
      if (missing) refuse(stream, 9, `The query requires an index: ${missing}`)
      else forward(stream, onward.request({ ...headers, ':authority': env['FIRESTORE_EMULATOR_HOST'] }), body)
    })
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    close: () => {
      server.close()
      onward.destroy()
    },
  }
}

/** "gRPC over HTTP2": an answer of trailers alone. */
function refuse(stream: http2.ServerHttp2Stream, code: number, message: string): void {
  const headers = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-status': String(code),
    'grpc-message': message,
  }
  stream.respond(headers, { endStream: true })
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
  stream.on('error', () => {})
  answer.end(body)
}

const require = createRequire(import.meta.url)
/** Messages as the client itself has them; its package does not offer them by name. */
const { google } = require(
  join(
    dirname(require.resolve('@google-cloud/firestore/package.json')),
    'build/protos/firestore_v1_proto_api.js',
  ),
) as {
  google: {
    firestore: {
      v1: { RunQueryRequest: { decode(bytes: Buffer): { parent: string; structuredQuery?: Query } } }
    }
  }
}

interface Path {
  fieldPath?: string
}

interface Filter {
  fieldFilter?: { field: Path }
}

interface Query {
  from?: { collectionId: string }[]
  where?: Filter & { compositeFilter?: { filters: Filter[] } }
  orderBy?: { field: Path; direction: number }[]
}

interface Order {
  fieldPath: string
  order: string
}

/** "Index types": a query by several fields needs their composite index, one by a single field its own. */
function missingIndex(body: Buffer, state: State): string | null {
  const { parent, structuredQuery = {} } = google.firestore.v1.RunQueryRequest.decode(body.subarray(5))
  const { from, where, orderBy = [] } = structuredQuery
  const group = from?.[0]?.collectionId ?? ''
  const wanted = new Map<string, string>()
  const add = ({ fieldPath = '__name__' }: Path = {}, order: string) => {
    if (fieldPath !== '__name__') wanted.set(fieldPath, order)
  }
  for (const { fieldFilter } of where?.compositeFilter?.filters ?? [where ?? {}])
    add(fieldFilter?.field, 'ASCENDING')
  for (const { field, direction } of orderBy) add(field, direction === 2 ? 'DESCENDING' : 'ASCENDING')
  if (wanted.size === 0) return null
  const fields = [...wanted].map(([fieldPath, order]): Order => ({ fieldPath, order }))
  const at = `${parent.replace(/\/documents.*/, '')}/collectionGroups/${group}`
  const isThere = fields.length > 1 ? hasComposite(state, at, fields) : hasSingle(state, at, fields[0]!)
  return isThere
    ? null
    : `${group} by ${fields.map(({ fieldPath, order }) => `${fieldPath} ${order}`).join(', ')}`
}

function hasComposite(state: State, group: string, wanted: Order[]): boolean {
  const indexes = Object.entries(state.resources).filter(([name]) => name.startsWith(`${group}/indexes/`))
  return indexes.some(([, { fields }]) => JSON.stringify(fields) === JSON.stringify(wanted))
}

/** A field has the indexes that it was given, or those of `*`, or both orders. */
function hasSingle(state: State, group: string, { fieldPath, order }: Order): boolean {
  const own = [fieldPath, '*']
    .map(name => state.resources[`${group}/fields/${name}`]?.['indexConfig'])
    .find(Boolean)
  const { indexes } = (own ?? {
    indexes: [{ fields: [{ order: 'ASCENDING' }] }, { fields: [{ order: 'DESCENDING' }] }],
  }) as {
    indexes: { fields: Json[] }[]
  }
  return indexes.some(({ fields }) => fields[0]!['order'] === order)
}

// ---- where a service gets its tokens

/** "About VM metadata": what a service of Cloud Run knows of the account that it runs as. */
async function metadataServer(account: string): Promise<Gate> {
  const answers: [end: RegExp, answer: string][] = [
    [/\/token(\?|$)/, JSON.stringify({ access_token: account, expires_in: 3600, token_type: 'Bearer' })],
    [/\/email$/, account],
    [/\/project-id$/, account.split(/[@.]/)[1]!],
    [/\/instance$/, ''],
  ]
  const server = createServer((req, res) => {
    const found = answers.find(([end]) => end.test(req.url ?? ''))?.[1]
    const type = found?.startsWith('{') ? 'application/json' : 'text/plain'
    res.writeHead(found === undefined ? 404 : 200, { 'Metadata-Flavor': 'Google', 'Content-Type': type })
    res.end(found)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
