/** Firestore's admin API, where it is more than resources: locks, copies of databases, indexes and expiry of fields. */
import { type Call, type Json, invalid, masked, operate, pageOf, polled, refuse, route } from './plane.ts'

const databases = 'firestore/v1/projects/{project}/databases'
const fields = `${databases}/{database}/collectionGroups/{group}/fields`

export const firestoreRoutes = [
  route('POST', `${databases}:clone`, 'datastore.databases.clone', call => {
    const { database, snapshotTime } = call.body['pitrSnapshot'] as Record<string, string>
    const source = call.state.get(database!)
    const age = Date.now() - Date.parse(snapshotTime!)
    const days = source['pointInTimeRecoveryEnablement'] === 'POINT_IN_TIME_RECOVERY_ENABLED' ? 7 : 1 / 24
    if (!(age > 0 && age < days * 86_400_000) || !snapshotTime!.endsWith(':00Z'))
      invalid(`The snapshot time ${snapshotTime} is not within the version retention period`)
    return copied(call, source)
  }),
  route('POST', `${databases}:restore`, 'datastore.backups.restoreDatabase', call =>
    copied(call, call.state.get(String(call.state.get(String(call.body['backup']))['database']))),
  ),
  route('GET', `${databases}/{of}/operations/{operation}`, null, polled),
  route('GET', fields, 'datastore.indexes.list', listFields),
  route('PATCH', `${fields}/{field}`, 'datastore.indexes.update', updateField),
]

/** What a change of a database, or of an index or a field in it, answers. */
export function firestoreOperation(call: Call, response: Json, name: string): Json {
  const database = name.split('/').slice(0, 4).join('/')
  const kind = { indexes: 'Index', fields: 'Field' }[name.split('/').at(-2)!]
  const type = `type.googleapis.com/google.firestore.admin.v1.${kind}OperationMetadata`
  const metadata = kind && { '@type': type, [kind.toLowerCase()]: name, state: 'PROCESSING' }
  return operate(call, `${database}/operations`, { response, metadata }, database)
}

/** The documents are copied by who rehearses it. */
function copied(call: Call, { type, locationId }: Json): Json {
  const name = `${call.name}/${String(call.body['databaseId'])}`
  call.state.assertNew(name)
  return firestoreOperation(call, (call.state.resources[name] = { name, type, locationId }), name)
}

/** "Back up and restore data": kept for 14 weeks at most. */
export function checkedSchedule(_: Call, schedule: Json): Json {
  const seconds = parseInt(String(schedule['retention']))
  return seconds > 0 && seconds <= 14 * 7 * 86_400 ? schedule : invalid('retention is at most 14 weeks')
}

export function checkedIndex(call: Call, index: Json): Json {
  assertReady(call)
  return { ...index, state: 'READY' }
}

/** "projects.databases.collectionGroups.fields.list": these are the filters that it takes. */
function listFields({ state, name, query }: Call): Json {
  const filter = query.get('filter') ?? ''
  const part = { 'ttlConfig:*': 'ttlConfig', 'indexConfig.usesAncestorConfig:false': 'indexConfig' }[filter]
  const found = state
    .list(name)
    .filter(field => field[part ?? invalid(`The filter ${filter} is not supported`)])
  return pageOf('fields', found, query)
}

function updateField(call: Call): Json {
  assertReady(call)
  const { state, name } = call
  const { indexConfig, ttlConfig } = masked(call, { ...state.resources[name] })
  const field = {
    name,
    ...(indexConfig ? { indexConfig: { indexes: (indexConfig as Json)['indexes'] ?? [] } } : {}),
    ...(ttlConfig ? { ttlConfig: { state: 'ACTIVE' } } : {}),
  }
  // "TTL policies": one field of a collection group.
  const others = state.list(name.replace(/\/[^/]+$/, '')).filter(one => one['name'] !== name)
  if (ttlConfig && others.some(one => one['ttlConfig']))
    invalid('Only one field of a collection group may expire')
  return firestoreOperation(call, (state.resources[name] = field), name)
}

/**
 * Changes of indexes and fields run one at a time in a database: a second one answers 409 while the first is under way
 * (terraform-provider-google #16329 and #16664; both speak of any two fields or indexes of a database).
 */
function assertReady({ state, name }: Call): void {
  if (state.isLocked(name.split('/').slice(0, 4).join('/')))
    refuse('ABORTED', 'Please retry, underlying data changed')
}
