/** BigQuery's REST API as far as set-up needs it: datasets with their rights, tables and views. */
import { parse } from '../../../shared/sql/parser.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import { memberOf } from './permissions.ts'
import {
  type Call,
  create,
  etagOf,
  invalid,
  type Json,
  list,
  listed,
  Refusal,
  remove,
  route,
} from './plane.ts'
import { checkMember } from './projects.ts'

interface Field {
  name: string
  type: string
  mode?: string
  fields?: Field[]
}

interface Table extends Json {
  schema: { fields: Field[] }
  timePartitioning?: { type: string; field: string; expirationMs?: string }
  clustering?: { fields: string[] }
}

const project = 'bigquery/v2/projects/{project}'
const datasets = `${project}/datasets`
const tables = `${datasets}/{dataset}/tables`

export const bigQueryRoutes = [
  route('GET', datasets, 'bigquery.datasets.get', listed('datasets')),
  route('POST', datasets, 'bigquery.datasets.create', createDataset),
  route('GET', `${datasets}/{dataset}`, 'bigquery.datasets.get', call => withEtag(dataset(call))),
  route('PATCH', `${datasets}/{dataset}`, 'bigquery.datasets.update', updateDataset),
  route('DELETE', `${datasets}/{dataset}`, 'bigquery.datasets.delete', deleteDataset),
  route('GET', tables, 'bigquery.tables.list', call => {
    dataset(call)
    return { tables: list(call.state, call.name) }
  }),
  route('POST', tables, 'bigquery.tables.create', createTable),
  route('GET', `${tables}/{table}`, 'bigquery.tables.get', table),
  route('PATCH', `${tables}/{table}`, 'bigquery.tables.update', updateTable),
]

function datasetName({ params }: Pick<Call, 'params'>): string {
  return `projects/${params['project']}/datasets/${params['dataset']}`
}

function dataset(call: Call): Json {
  const { project, dataset } = call.params
  const found = call.state.resources[datasetName(call)]
  if (!found) throw new Refusal('NOT_FOUND', `Not found: Dataset ${project}:${dataset}`)
  return found
}

function createDataset(call: Call): Json {
  const { datasetId } = call.body['datasetReference'] as { datasetId: string }
  const [id, name] = [`${call.params['project']}:${datasetId}`, `${call.name}/${datasetId}`]
  if (call.state.resources[name]) throw new Refusal('ALREADY_EXISTS', `Already Exists: Dataset ${id}`)
  return create(call.state, name, { kind: 'bigquery#dataset', id, ...call.body })
}

/** "datasets.delete": tables go with it only where `deleteContents` says so. */
function deleteDataset(call: Call): Json {
  const { id } = dataset(call)
  const below = Object.keys(call.state.resources).filter(name => name.startsWith(`${call.name}/`))
  if (below.length > 0 && call.query.get('deleteContents') !== 'true')
    throw new Refusal('FAILED_PRECONDITION', `Dataset ${String(id)} is still in use`)
  for (const name of [...below, call.name]) remove(call.state, name)
  return {}
}

function table(call: Call): Table {
  dataset(call)
  const { project, dataset: set, table: id } = call.params
  const found = call.state.resources[call.name]
  if (!found) throw new Refusal('NOT_FOUND', `Not found: Table ${project}:${set}.${id}`)
  return found as Table
}

function createTable(call: Call): Json {
  dataset(call)
  const wanted = call.body as Table
  const { tableId } = wanted['tableReference'] as { tableId: string }
  const id = `${call.params['project']}:${call.params['dataset']}.${tableId}`
  const name = `${call.name}/${tableId}`
  if (call.state.resources[name]) throw new Refusal('ALREADY_EXISTS', `Already Exists: Table ${id}`)
  const { view } = wanted as { view?: { query: string } }
  if (view) {
    checkView(call, view.query)
    return create(call.state, name, { kind: 'bigquery#table', id, type: 'VIEW', ...wanted })
  }
  checkLayout(wanted)
  const timePartitioning = withExpiry(wanted.timePartitioning)
  return create(call.state, name, { kind: 'bigquery#table', id, type: 'TABLE', ...wanted, timePartitioning })
}

function updateTable(call: Call): Json {
  const present = table(call)
  const wanted = call.body as Partial<Table> & { view?: { query: string } }
  if (wanted.view) {
    if (present['type'] !== 'VIEW') invalid(`${String(present['id'])} is a TABLE, and no view`)
    checkView(call, wanted.view.query)
    return Object.assign(present, wanted)
  }
  if (wanted.schema) checkSchema(String(present['id']), present.schema.fields, wanted.schema.fields, '')
  const { type, field } = wanted.timePartitioning ?? {}
  const partitioning = present.timePartitioning
  if (type && (type !== partitioning?.type || field !== partitioning.field))
    invalid('Cannot change partitioning/clustering spec for a partitioned/clustered table.')
  checkLayout({ ...present, ...wanted })
  Object.assign(present, wanted, { timePartitioning: withExpiry(wanted.timePartitioning ?? partitioning) })
  return present
}

/** `null` takes the expiry away; 64-bit numbers are strings in JSON. */
function withExpiry(partitioning: Table['timePartitioning']): Table['timePartitioning'] {
  const { expirationMs, ...rest } = partitioning ?? { type: '', field: '' }
  return Number(expirationMs ?? -1) < 0 ? rest : { ...rest, expirationMs: String(expirationMs) }
}

/** "Modifying table schemas": columns are added, NULLABLE or REPEATED, and relaxed; with this method nothing else. */
function checkSchema(id: string, present: Field[], wanted: Field[], path: string): void {
  const refuse = (detail: string) => {
    invalid(`Provided Schema does not match Table ${id}. ${detail}`)
  }
  for (const field of present) {
    const now = wanted.find(({ name }) => name.toLowerCase() === field.name.toLowerCase())
    const name = `${path}${field.name}`
    if (!now) return refuse(`Field ${name} is missing in new schema`)
    if (typeOf(now) !== typeOf(field))
      refuse(`Field ${name} has changed type from ${field.type} to ${now.type}`)
    const [before = 'NULLABLE', after = 'NULLABLE'] = [field.mode, now.mode]
    if (before !== after && !(before === 'REQUIRED' && after === 'NULLABLE'))
      refuse(`Field ${name} has changed mode from ${before} to ${after}`)
    checkSchema(id, field.fields ?? [], now.fields ?? [], `${name}.`)
  }
  for (const { name, mode } of wanted)
    if (mode === 'REQUIRED' && !present.some(field => field.name === name))
      invalid(
        `Provided Schema does not match Table ${id}. Cannot add required fields to an existing schema. (field: ${path}${name})`,
      )
}

function typeOf({ type }: Field): string {
  const standard: Record<string, string> = {
    INT64: 'INTEGER',
    FLOAT64: 'FLOAT',
    BOOL: 'BOOLEAN',
    STRUCT: 'RECORD',
  }
  return standard[type] ?? type
}

/** "Creating partitioned tables" and "Creating clustered tables": what a table may be divided and sorted by. */
function checkLayout({ schema, timePartitioning, clustering }: Table): void {
  const column = (name: string) => schema.fields.find(field => field.name === name)
  if (timePartitioning) {
    const type = column(timePartitioning.field)?.type ?? 'none'
    const units = type === 'DATE' ? ['DAY', 'MONTH', 'YEAR'] : ['HOUR', 'DAY', 'MONTH', 'YEAR']
    if (!['TIMESTAMP', 'DATETIME', 'DATE'].includes(type) || !units.includes(timePartitioning.type))
      invalid(`Cannot partition by ${timePartitioning.type} of ${timePartitioning.field} (${type})`)
  }
  const clustered = clustering?.fields ?? []
  if (clustered.length > 4) invalid('Too many clustering fields: at most 4')
  for (const name of clustered) {
    const { type = 'none', mode } = column(name) ?? {}
    if (
      mode === 'REPEATED' ||
      ['none', 'RECORD', 'STRUCT', 'FLOAT', 'FLOAT64', 'JSON', 'BYTES', 'ARRAY'].includes(type)
    )
      invalid(`Field ${name} cannot be a clustering field: it must be top-level and not repeated`)
  }
}

/** "Dataset basic roles" */
const basicRoles: Record<string, string> = {
  READER: 'roles/bigquery.dataViewer',
  WRITER: 'roles/bigquery.dataEditor',
}

interface Entry {
  role?: string
  userByEmail?: string
}

/** The list of who may do what is replaced as a whole, and the etag says which one it was made from. */
function updateDataset(call: Call): Json {
  const present = dataset(call)
  const { access = [], etag } = call.body as { access?: Entry[]; etag?: string }
  if (etag !== undefined && etag !== withEtag(present)['etag'])
    throw new Refusal('ABORTED', 'Precondition Failed: the etag is not the current one')
  for (const { role, userByEmail } of access) {
    if (role !== 'OWNER' && !(role && role in basicRoles))
      invalid(`Role ${role} is not supported for this resource.`)
    if (userByEmail) checkMember(call, memberOf(userByEmail))
  }
  const roles = Object.entries(basicRoles)
  const bindings = roles.map(([basic, role]) => {
    const members = access
      .filter(({ role: one }) => one === basic)
      .flatMap(({ userByEmail }) => userByEmail ?? [])
    return { role, members: members.map(memberOf) }
  })
  call.state.policies[datasetName(call)] = { bindings: bindings.filter(({ members }) => members.length > 0) }
  Object.assign(present, { access })
  return withEtag(present)
}

function withEtag(resource: Json): Json {
  return { ...resource, etag: etagOf(resource) }
}

/** The tables of its query have to be there. */
function checkView(call: Call, query: string): void {
  for (const { path } of tablesOf(parse(query))) {
    const [project, set, id] = path.flatMap(({ name }) => name.split('.'))
    const named = { project: project!, dataset: set!, table: id! }
    table({ ...call, params: named, name: `${datasetName({ params: named })}/tables/${id}` })
  }
}
