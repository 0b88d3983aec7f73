/** Firestore's admin API: databases, indexes, and per field its indexes and expiry. */
import {
  assertNew,
  type Call,
  collection,
  get,
  invalid,
  isLocked,
  type Json,
  list,
  masked,
  operate,
  pageOf,
  polled,
  refuse,
  route,
} from './plane.ts'

const databases = 'firestore/v1/projects/{project}/databases'
const group = `${databases}/{database}/collectionGroups/{group}`

export const firestoreRoutes = [
  ...collection(databases, 'datastore.databases', {
    id: ({ query }) => query.get('databaseId')!,
    release: (_, database) => {
      // "Manage databases", "Delete protection".
      if (database['deleteProtectionState'] === 'DELETE_PROTECTION_ENABLED')
        refuse('FAILED_PRECONDITION', 'The database cannot be deleted because delete protection is enabled.')
    },
    answer: (call, response) =>
      operation(call, (response['name'] as string | undefined) ?? call.name, { response }),
  }),
  route('POST', `${databases}:clone`, 'datastore.databases.clone', call => {
    const { database, snapshotTime } = call.body['pitrSnapshot'] as { database: string; snapshotTime: string }
    const source = get(call.state, database)
    const age = Date.now() - Date.parse(snapshotTime)
    const days = source['pointInTimeRecoveryEnablement'] === 'POINT_IN_TIME_RECOVERY_ENABLED' ? 7 : 1 / 24
    if (!(age > 0 && age < days * 86_400_000) || !snapshotTime.endsWith(':00Z'))
      invalid(`The snapshot time ${snapshotTime} is not within the version retention period`)
    return copied(call, source)
  }),
  route('POST', `${databases}:restore`, 'datastore.backups.restoreDatabase', call =>
    copied(call, get(call.state, String(get(call.state, String(call.body['backup']))['database']))),
  ),
  ...collection('firestore/v1/projects/{project}/locations/{location}/backups', 'datastore.backups'),
  ...collection(`${databases}/{database}/backupSchedules`, 'datastore.backupSchedules', {
    // "Back up and restore data": one daily and one weekly schedule a database, kept for 14 weeks at most.
    id: ({ body }) => (body['dailyRecurrence'] ? 'daily' : 'weekly'),
    check: (_, schedule) => {
      const seconds = parseInt(String(schedule['retention']))
      return seconds > 0 && seconds <= 14 * 7 * 86_400 ? schedule : invalid('retention is at most 14 weeks')
    },
  }),
  route('GET', `${databases}/{of}/operations/{operation}`, null, polled),
  ...collection(`${group}/indexes`, 'datastore.indexes', {
    check: (call, index) => {
      assertReady(call)
      return { ...index, state: 'READY' }
    },
    answer: (call, index) => changing(call, index, 'Index'),
  }),
  route('GET', `${group}/fields`, 'datastore.indexes.list', listFields),
  route('PATCH', `${group}/fields/{field}`, 'datastore.indexes.update', updateField),
]

function databaseOf({ params }: Call): string {
  return `projects/${params['project']}/databases/${params['database']}`
}

function operation(call: Call, database: string, body: { response: Json; metadata?: Json }): Json {
  return operate(call, `${database}/operations`, body, [database])
}

/** The documents are copied by who rehearses it. */
function copied(call: Call, { type, locationId }: Json): Json {
  const name = `${call.name}/${String(call.body['databaseId'])}`
  assertNew(call.state, name)
  return operation(call, name, { response: (call.state.resources[name] = { name, type, locationId }) })
}

/** "projects.databases.collectionGroups.fields.list": these are the filters that it takes. */
function listFields({ state, name, query }: Call): Json {
  const filter = query.get('filter') ?? ''
  const part = { 'ttlConfig:*': 'ttlConfig', 'indexConfig.usesAncestorConfig:false': 'indexConfig' }[filter]
  if (!part) invalid(`The filter ${filter} is not supported`)
  return pageOf(
    'fields',
    list(state, name).filter(field => field[part]),
    query,
  )
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
  const others = list(state, name.replace(/\/[^/]+$/, '')).filter(one => one['name'] !== name)
  if (ttlConfig && others.some(one => one['ttlConfig']))
    invalid('Only one field of a collection group may expire')
  return changing(call, (state.resources[name] = field), 'Field')
}

function changing(call: Call, response: Json, kind: 'Field' | 'Index'): Json {
  const metadata = {
    '@type': `type.googleapis.com/google.firestore.admin.v1.${kind}OperationMetadata`,
    [kind.toLowerCase()]: response['name'],
    state: 'PROCESSING',
  }
  return operation(call, databaseOf(call), { response, metadata })
}

/**
 * Changes of indexes and fields run one at a time in a database: a second one answers 409 while the first is under way
 * (terraform-provider-google #16329 and #16664; both speak of any two fields or indexes of a database).
 */
function assertReady(call: Call): void {
  if (isLocked(call.state, databaseOf(call))) refuse('ABORTED', 'Please retry, underlying data changed')
}
