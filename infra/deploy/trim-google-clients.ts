/**
 * What Google's clients bring along that this service never calls, left out of the bundle: at each cold start it took as
 * long to load as what is called. Firestore's store is tested as it is bundled, see build.test.ts.
 */
import { readFileSync } from 'node:fs'
import type { Plugin } from 'esbuild'

/** A client that Firestore's own makes beside itself, with the calls that begin and end it. */
const idleClient = (name: string) => `exports.${name} = class { async initialize() {} async close() {} }`

/** By the end of the path: what stands there instead. */
const unused: [RegExp, string][] = [
  [/firestore-api\/build\/src\/v1\/firestore_admin_client\.js$/, idleClient('FirestoreAdminClient')],
  [/google-gax\/build\/src\/iamService\.js$/, idleClient('IamClient')],
  [/google-gax\/build\/src\/locationService\.js$/, idleClient('LocationsClient')],
  [/google-gax\/build\/src\/operationsClient\.js$/, idleClient('OperationsClient')],
  // Classes of messages, of which only a name is read: the client makes its own from protos.json.
  [/firestore-api\/build\/protos\/protos\.js$/, 'exports.google = { firestore: { v1: {} } }'],
  [/google-gax\/build\/protos\/(?:iam_service|locations|operations)\.js$/, ''],
]

export const withoutUnused: Plugin = {
  name: 'without-unused-parts-of-clients',
  setup({ onLoad }) {
    for (const [filter, contents] of unused) onLoad({ filter }, () => ({ contents }))
    onLoad({ filter: /firestore-api\/build\/protos\/protos\.json$/ }, ({ path }) => ({
      contents: JSON.stringify(withoutUnusedMessages(JSON.parse(readFileSync(path, 'utf8')) as Namespace)),
      loader: 'json',
    }))
  },
}

/** What the store calls: reading by reference, searching, and writing with and without a transaction. */
const called = /^(?:BatchGetDocuments|RunQuery|Commit|BeginTransaction|Rollback)$/

interface Namespace {
  nested?: Record<string, Namespace>
  methods?: Record<string, unknown>
}

/** Only messages that are sent or answered in those calls: from each the client makes classes as it starts. */
function withoutUnusedMessages(root: Namespace): Namespace {
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
