/** Firestore's admin API: databases, indexes, and per field its indexes and expiry. */
import {
  type Call,
  create,
  get,
  invalid,
  isLocked,
  type Json,
  list,
  listed,
  maskOf,
  operate,
  patch,
  polled,
  read,
  Refusal,
  remove,
  route,
  type State,
} from './plane.ts'

const databases = 'firestore/v1/projects/{project}/databases'
const schedules = `${databases}/{database}/backupSchedules`
const group = `${databases}/{database}/collectionGroups/{group}`

export const firestoreRoutes = [
  route('GET', databases, 'datastore.databases.list', listed('databases')),
  route('POST', databases, 'datastore.databases.create', createDatabase),
  route('GET', `${databases}/{database}`, 'datastore.databases.get', read),
  route('PATCH', `${databases}/{database}`, 'datastore.databases.update', call => {
    const response = get(call.state, call.name)
    patch(response, call.body, maskOf(call))
    return operate(call, `${call.name}/operations`, { response })
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
  route(
    'GET',
    'firestore/v1/projects/{project}/locations/{location}/backups',
    'datastore.backups.list',
    call => ({
      backups: Object.entries(call.state.resources)
        .filter(
          ([name]) =>
            name.startsWith(`projects/${call.params['project']}/locations/`) && name.includes('/backups/'),
        )
        .map(([, backup]) => backup),
    }),
  ),
  route('GET', schedules, 'datastore.backupSchedules.list', listed('backupSchedules')),
  route('POST', schedules, 'datastore.backupSchedules.create', createSchedule),
  route('DELETE', `${schedules}/{schedule}`, 'datastore.backupSchedules.delete', call => {
    remove(call.state, call.name)
    return {}
  }),
  route('PATCH', `${schedules}/{schedule}`, 'datastore.backupSchedules.update', call => {
    const schedule = get(call.state, call.name)
    patch(schedule, checkedSchedule(call.body), maskOf(call))
    return schedule
  }),
  route('DELETE', `${databases}/{database}`, 'datastore.databases.delete', deleteDatabase),
  route('GET', `${databases}/{database}/operations/{operation}`, null, polled),
  route('GET', `${group}/indexes`, 'datastore.indexes.list', call => ({
    indexes: inGroups(call, 'indexes'),
  })),
  route('POST', `${group}/indexes`, 'datastore.indexes.create', createIndex),
  route('GET', `${group}/fields`, 'datastore.indexes.list', listFields),
  route('GET', `${group}/fields/{field}`, 'datastore.indexes.get', call => {
    get(call.state, databaseOf(call))
    return fieldOf(call.state, call.name)
  }),
  route('PATCH', `${group}/fields/{field}`, 'datastore.indexes.update', updateField),
]

function databaseOf({ params }: Call): string {
  return `projects/${params['project']}/databases/${params['database']}`
}

function createDatabase(call: Call): Json {
  const name = `${call.name}/${call.query.get('databaseId')}`
  if (call.state.resources[name])
    throw new Refusal('ALREADY_EXISTS', 'Database already exists. Please use another database_id')
  const response = create(call.state, name, { name, ...call.body })
  return operate(call, `${name}/operations`, { response }, [name])
}

/** The documents are copied by who rehearses it. */
function copied(call: Call, source: Json): Json {
  const { type, locationId } = source
  const name = `${call.name}/${String(call.body['databaseId'])}`
  const response = create(call.state, name, { name, type, locationId })
  return operate(call, `${name}/operations`, { response }, [name])
}

/** "Back up and restore data": one daily and one weekly schedule a database, kept for 14 weeks at most. */
function createSchedule(call: Call): Json {
  get(call.state, databaseOf(call))
  const kind = call.body['dailyRecurrence'] ? 'dailyRecurrence' : 'weeklyRecurrence'
  if (list(call.state, call.name).some(schedule => schedule[kind]))
    throw new Refusal('ALREADY_EXISTS', `A backup schedule with ${kind} already exists`)
  const name = `${call.name}/${kind}`
  return create(call.state, name, { name, ...checkedSchedule(call.body) })
}

function checkedSchedule(schedule: Json): Json {
  const seconds = parseInt(String(schedule['retention']))
  if (!(seconds > 0 && seconds <= 14 * 7 * 86_400)) invalid('retention must be at most 14 weeks')
  return schedule
}

function deleteDatabase(call: Call): Json {
  // "Manage databases", "Delete protection".
  if (get(call.state, call.name)['deleteProtectionState'] === 'DELETE_PROTECTION_ENABLED')
    throw new Refusal(
      'FAILED_PRECONDITION',
      'The database cannot be deleted because delete protection is enabled.',
    )
  const below = Object.keys(call.state.resources).filter(other => other.startsWith(`${call.name}/`))
  for (const other of [call.name, ...below]) remove(call.state, other)
  return operate(call, `${call.name}/operations`, { response: {} })
}

function createIndex(call: Call): Json {
  assertReady(call)
  const { fields, queryScope } = call.body
  const indexes = list(call.state, call.name)
  if (indexes.some(index => JSON.stringify(index['fields']) === JSON.stringify(fields)))
    throw new Refusal('ALREADY_EXISTS', 'index already exists')
  const name = `${call.name}/CICAgO${indexes.length}`
  return changing(call, create(call.state, name, { name, queryScope, fields, state: 'READY' }))
}

/** "projects.databases.collectionGroups.fields.list": these are the filters that it takes. */
function listFields(call: Call): Json {
  const filter = call.query.get('filter') ?? ''
  const part = { 'ttlConfig:*': 'ttlConfig', 'indexConfig.usesAncestorConfig:false': 'indexConfig' }[filter]
  if (!part) invalid(`The filter ${filter} is not supported`)
  return { fields: inGroups(call, 'fields').filter(field => field[part]) }
}

function updateField(call: Call): Json {
  assertReady(call)
  const field = (call.state.resources[call.name] ??= { name: call.name })
  for (const part of maskOf(call)) change(field, part, call.body[part] as Json)
  // "TTL policies": one field of a collection group.
  const group = call.name.replace(/[^/]+$/, '')
  const expiring = Object.keys(call.state.resources).filter(
    name => name.startsWith(group) && call.state.resources[name]!['ttlConfig'],
  )
  if (expiring.length > 1) invalid(`Only one field of a collection group may expire: ${expiring.join(', ')}`)
  return changing(call, field)
}

function changing(call: Call, response: Json): Json {
  const metadata = {
    '@type': `type.googleapis.com/google.firestore.admin.v1.${response['fields'] ? 'Index' : 'Field'}OperationMetadata`,
    [response['fields'] ? 'index' : 'field']: response['name'],
    state: 'PROCESSING',
  }
  return operate(call, `${databaseOf(call)}/operations`, { response, metadata }, [databaseOf(call)])
}

/** `collectionGroups/-` is all of them. */
function inGroups(call: Call, kind: 'fields' | 'indexes'): Json[] {
  get(call.state, databaseOf(call))
  const names = new RegExp(
    `/collectionGroups/${call.params['group'] === '-' ? '[^/]+' : call.params['group']}/${kind}/[^/]+$`,
  )
  const entries = Object.entries(call.state.resources)
  return entries
    .filter(([name]) => name.startsWith(databaseOf(call)) && names.test(name))
    .map(([, one]) => one)
}

/**
 * Changes of indexes and fields run one at a time in a database: a second one answers 409 while the first is under way
 * (terraform-provider-google #16329 and #16664; both speak of any two fields or indexes of a database).
 */
function assertReady(call: Call): void {
  get(call.state, databaseOf(call))
  if (isLocked(call.state, databaseOf(call)))
    throw new Refusal('ABORTED', 'Please retry, underlying data changed')
}

function change(field: Json, part: string, value: Json | undefined): void {
  if (part === 'indexConfig') field[part] = { indexes: value?.['indexes'] ?? [] }
  else if (value) field[part] = { state: 'ACTIVE' }
  else delete field[part]
}

/** "Index configuration": a field without settings of its own has those of `*`, and that one the database's. */
function fieldOf(state: State, name: string): Json {
  const inherited = state.resources[name.replace(/[^/]+$/, '*')]?.['indexConfig'] ?? {
    indexes: [{ order: 'ASCENDING' }],
  }
  return { indexConfig: { ...inherited, usesAncestorConfig: true }, name, ...state.resources[name] }
}
