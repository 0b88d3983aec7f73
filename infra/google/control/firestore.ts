/** Firestore's admin API: databases, indexes, and per field its indexes and expiry. */
import {
  type Call,
  create,
  get,
  isLocked,
  type Json,
  list,
  operate,
  operationRoute,
  Refusal,
  remove,
  type Route,
  type State,
} from './plane.ts'

const databaseAt = 'firestore/v1/projects/{project}/databases/{database}'
const groupAt = `${databaseAt}/collectionGroups/{group}`
const databaseName = ({ params }: Pick<Call, 'params'>) =>
  `projects/${params['project']}/databases/${params['database']}`
const groupName = (call: Call) => `${databaseName(call)}/collectionGroups/${call.params['group']}`
const fieldName = (call: Call) => `${groupName(call)}/fields/${call.params['field']}`

export const firestoreRoutes: Route[] = [
  {
    method: 'POST',
    path: 'firestore/v1/projects/{project}/databases',
    permission: 'datastore.databases.create',
    handle: call => {
      const name = databaseName({ params: { ...call.params, database: call.query.get('databaseId')! } })
      if (call.state.resources[name])
        throw new Refusal('ALREADY_EXISTS', 'Database already exists. Please use another database_id')
      const { type, locationId, deleteProtectionState } = call.body
      const database = create(call.state, name, { name, type, locationId, deleteProtectionState })
      return operate(call, `${name}/operations`, { response: database }, [name])
    },
  },
  {
    method: 'GET',
    path: databaseAt,
    permission: 'datastore.databases.get',
    handle: call => get(call.state, databaseName(call)),
  },
  {
    method: 'PATCH',
    path: databaseAt,
    permission: 'datastore.databases.update',
    handle: call => {
      const database = get(call.state, databaseName(call))
      Object.assign(database, { deleteProtectionState: call.body['deleteProtectionState'] })
      return operate(call, `${databaseName(call)}/operations`, { response: database })
    },
  },
  {
    method: 'DELETE',
    path: databaseAt,
    permission: 'datastore.databases.delete',
    handle: call => {
      const name = databaseName(call)
      // "Manage databases", "Delete protection".
      if (get(call.state, name)['deleteProtectionState'] === 'DELETE_PROTECTION_ENABLED')
        throw new Refusal(
          'FAILED_PRECONDITION',
          'The database cannot be deleted because delete protection is enabled.',
        )
      const below = Object.keys(call.state.resources).filter(other => other.startsWith(`${name}/`))
      for (const other of [name, ...below]) remove(call.state, other)
      return operate(call, `${name}/operations`, { response: {} })
    },
  },
  operationRoute(`${databaseAt}/operations/{operation}`),
  {
    method: 'GET',
    path: 'firestore/v1/projects/{project}/databases',
    permission: 'datastore.databases.list',
    handle: call => ({ databases: list(call.state, `projects/${call.params['project']}/databases`) }),
  },
  {
    method: 'POST',
    path: `${groupAt}/indexes`,
    permission: 'datastore.indexes.create',
    handle: call => {
      const parent = ready(call)
      const fields = JSON.stringify(call.body['fields'])
      const indexes = list(call.state, `${parent}/indexes`)
      if (indexes.some(index => JSON.stringify(index['fields']) === fields))
        throw new Refusal('ALREADY_EXISTS', 'index already exists')
      const name = `${parent}/indexes/CICAgO${indexes.length}`
      const index = create(call.state, name, {
        name,
        queryScope: call.body['queryScope'],
        fields: call.body['fields'],
        state: 'READY',
      })
      return changing(call, index, parent)
    },
  },
  {
    method: 'GET',
    path: `${groupAt}/indexes`,
    permission: 'datastore.indexes.list',
    handle: call => ({ indexes: inGroups(call, 'indexes') }),
  },
  {
    // Only fields with settings of their own are kept, and the one filter that gcloud sends besides is for expiry.
    method: 'GET',
    path: `${groupAt}/fields`,
    permission: 'datastore.indexes.list',
    handle: call => {
      const part = call.query.get('filter')?.startsWith('ttlConfig') ? 'ttlConfig' : 'indexConfig'
      return { fields: inGroups(call, 'fields').filter(field => field[part]) }
    },
  },
  {
    method: 'GET',
    path: `${groupAt}/fields/{field}`,
    permission: 'datastore.indexes.get',
    handle: call => (get(call.state, databaseName(call)), fieldOf(call.state, fieldName(call))),
  },
  {
    method: 'PATCH',
    path: `${groupAt}/fields/{field}`,
    permission: 'datastore.indexes.update',
    handle: call => {
      const parent = ready(call)
      const field = (call.state.resources[fieldName(call)] ??= { name: fieldName(call) })
      for (const part of call.query.get('updateMask')!.split(','))
        change(field, part, call.body[part] as Json)
      return changing(call, field, parent)
    },
  },
]

function changing(call: Call, response: Json, parent: string): Json {
  const metadata = {
    '@type': `type.googleapis.com/google.firestore.admin.v1.${response['fields'] ? 'Index' : 'Field'}OperationMetadata`,
    [response['fields'] ? 'index' : 'field']: response['name'],
    state: 'PROCESSING',
  }
  return operate(call, `${databaseName(call)}/operations`, { response, metadata }, [parent])
}

/** `collectionGroups/-` is all of them. */
function inGroups(call: Call, kind: 'fields' | 'indexes'): Json[] {
  get(call.state, databaseName(call))
  const names = new RegExp(
    `/collectionGroups/${call.params['group'] === '-' ? '[^/]+' : call.params['group']}/${kind}/[^/]+$`,
  )
  const entries = Object.entries(call.state.resources)
  return entries
    .filter(([name]) => name.startsWith(databaseName(call)) && names.test(name))
    .map(([, one]) => one)
}

/**
 * Changes of indexes and fields run one at a time in a database: a second one answers 409 while the first is under way
 * (terraform-provider-google #16329 and #16664; both speak of any two fields or indexes of a database).
 */
function ready(call: Call): string {
  const database = databaseName(call)
  get(call.state, database)
  const groups = [database, ...Object.values(call.state.operations).flatMap(({ locks }) => locks)]
  if (
    groups.some(name => (name === database || name.startsWith(`${database}/`)) && isLocked(call.state, name))
  )
    throw new Refusal('ABORTED', 'Please retry, underlying data changed')
  return groupName(call)
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
