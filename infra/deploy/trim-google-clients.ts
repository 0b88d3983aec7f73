/**
 * Leaves out of the bundle the parts of Google's clients that this service never calls: it would load them at each cold
 * start, see infra/docs/surgery.md, "Firestore's client in the bundle".
 */
import { readFileSync } from 'node:fs'
import type { Plugin } from 'esbuild'

/** A client that Firestore's opens and closes with itself. */
const idleClient = (name: string) => `exports.${name} = class { async initialize() {} async close() {} }`

/** Modules by the end of their path, and the code in their place. */
export const unused: [path: RegExp, code: string][] = [
  [/firestore-api\/build\/src\/v1\/firestore_admin_client\.js$/, idleClient('FirestoreAdminClient')],
  [/google-gax\/build\/src\/iamService\.js$/, idleClient('IamClient')],
  [/google-gax\/build\/src\/locationService\.js$/, idleClient('LocationsClient')],
  [/google-gax\/build\/src\/operationsClient\.js$/, idleClient('OperationsClient')],
  // Classes of messages. The client reads no more than this name, and makes classes of its own from protos.json.
  [/firestore-api\/build\/protos\/protos\.js$/, 'exports.google = { firestore: { v1: {} } }'],
  [/google-gax\/build\/protos\/(?:iam_service|locations|operations)\.js$/, ''],
  // Descriptors of all messages, which only a server that lists its methods would send.
  [
    /protobufjs\/ext\/descriptor\/index\.js$/,
    `const { Root, Type, Enum } = require('../..')
    const none = { file: [], $type: { toObject() {} } }
    for (const { prototype } of [Root, Type, Enum]) prototype.toDescriptor = () => none`,
  ],
]

/** Definitions of all messages of the Firestore API. */
export const messages = /firestore-api\/build\/protos\/protos\.json$/

export const trimGoogleClients: Plugin = {
  name: 'trim-google-clients',
  setup({ onLoad }) {
    for (const [filter, contents] of unused) onLoad({ filter }, () => ({ contents }))
    onLoad({ filter: messages }, ({ path }) => ({
      contents: JSON.stringify(usedMessages(JSON.parse(readFileSync(path, 'utf8')) as Namespace)),
      loader: 'json',
    }))
  },
}

/** The store's calls: reads by reference, queries, and writes with and without a transaction. */
const called = /^(?:BatchGetDocuments|RunQuery|Commit|BeginTransaction|Rollback)$/

interface Namespace {
  nested?: Record<string, Namespace>
  methods?: Record<string, unknown>
}

/** The messages of those calls alone: the client makes a class of each as it starts. */
function usedMessages(root: Namespace): Namespace {
  const { google } = root.nested!
  const { firestore, longrunning, api, ...packages } = google!.nested!
  const v1 = firestore!.nested!['v1']!
  const { methods } = v1.nested!['Firestore']!
  for (const name of Object.keys(methods!)) if (!called.test(name)) delete methods![name]
  const all = [v1, ...Object.values(packages)].map(({ nested }) => nested!)
  const names = namesFrom('Firestore', all)
  for (const messages of all)
    for (const name of Object.keys(messages)) if (!names.has(name)) delete messages[name]
  return { nested: { google: { nested: { firestore: { nested: { v1 } }, ...packages } } } }
}

/** The names of messages that `first` mentions, and those that they mention. */
function namesFrom(first: string, all: Record<string, Namespace>[]): Set<string> {
  const names = new Set([first])
  for (const name of names)
    for (const messages of all)
      for (const [, type] of JSON.stringify(messages[name] ?? {}).matchAll(/"(?:\w+T|t)ype":"([\w.]+)"/g))
        for (const part of type!.split('.')) names.add(part)
  return names
}
