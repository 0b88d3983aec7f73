/** BigQuery's REST API as far as set-up needs it: datasets with their rights, tables and views. */
import { parse } from '../../../shared/sql/parser.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import { memberOf } from './permissions.ts'
import { type Call, collection, get, invalid, type Json, list, refuse } from './plane.ts'
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

const datasets = 'bigquery/v2/projects/{project}/datasets'
/** With this API a change without a mask leaves alone what it does not name. */
const change = ({ body }: Call, present: Json): Json => ({ ...present, ...body })

export const bigQueryRoutes = [
  ...collection(datasets, 'bigquery.datasets', {
    id: ({ body }) => (body['datasetReference'] as { datasetId: string }).datasetId,
    change,
    hasEtag: true,
    check: checkedDataset,
    // "datasets.delete": tables go with it only where `deleteContents` says so.
    release: ({ state, name, query }) => {
      if (list(state, `${name}/tables`).length > 0 && query.get('deleteContents') !== 'true')
        refuse('FAILED_PRECONDITION', `Dataset ${name} is still in use`)
    },
  }),
  ...collection(`${datasets}/{dataset}/tables`, 'bigquery.tables', {
    id: ({ body }) => (body['tableReference'] as { tableId: string }).tableId,
    change,
    check: checkedTable,
  }),
]

function checkedTable(call: Call, wanted: Json, present?: Json): Json {
  const { name, view } = wanted as { name: string; view?: { query: string } }
  if (view) {
    if (present && !present['view']) invalid(`${name} is a TABLE, and no view`)
    // The tables of its query have to be there.
    for (const { path } of tablesOf(parse(view.query))) {
      const [project, dataset, table] = path.flatMap(({ name }) => name.split('.'))
      get(call.state, `projects/${project}/datasets/${dataset}/tables/${table}`)
    }
    return { ...wanted, type: 'VIEW' }
  }
  const { schema, timePartitioning } = wanted as Table
  const before = present as Table | undefined
  if (before) {
    checkSchema(name, before.schema.fields, schema.fields, '')
    const { type, field } = before.timePartitioning ?? {}
    if (type !== timePartitioning?.type || field !== timePartitioning?.field)
      invalid('Cannot change partitioning/clustering spec for a partitioned/clustered table.')
  }
  checkLayout(wanted as Table)
  return { ...wanted, type: 'TABLE', timePartitioning: withExpiry(timePartitioning) }
}

/** `null` takes the expiry away; 64-bit numbers are strings in JSON. */
function withExpiry(partitioning: Table['timePartitioning']): Table['timePartitioning'] {
  const { expirationMs, ...rest } = partitioning ?? { type: '', field: '' }
  return Number(expirationMs ?? -1) < 0 ? rest : { ...rest, expirationMs: String(expirationMs) }
}

/** "Modifying table schemas": columns are added, NULLABLE or REPEATED, and relaxed; with this method nothing else. */
function checkSchema(id: string, present: Field[], wanted: Field[], path: string): void {
  const no = (detail: string) => invalid(`Provided Schema does not match Table ${id}. ${detail}`)
  for (const field of present) {
    const now = wanted.find(({ name }) => name.toLowerCase() === field.name.toLowerCase())
    const name = `${path}${field.name}`
    if (!now) return no(`Field ${name} is missing in new schema`)
    if (typeOf(now) !== typeOf(field)) no(`Field ${name} has changed type from ${field.type} to ${now.type}`)
    const [before = 'NULLABLE', after = 'NULLABLE'] = [field.mode, now.mode]
    if (before !== after && !(before === 'REQUIRED' && after === 'NULLABLE'))
      no(`Field ${name} has changed mode from ${before} to ${after}`)
    checkSchema(id, field.fields ?? [], now.fields ?? [], `${name}.`)
  }
  for (const { name, mode } of wanted)
    if (mode === 'REQUIRED' && !present.some(field => field.name === name))
      no(`Cannot add required fields to an existing schema. (field: ${path}${name})`)
}

const standard: Record<string, string> = {
  INT64: 'INTEGER',
  FLOAT64: 'FLOAT',
  BOOL: 'BOOLEAN',
  STRUCT: 'RECORD',
}
const typeOf = ({ type }: Field) => standard[type] ?? type

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

/** The list of who may do what is replaced as a whole. */
function checkedDataset(call: Call, dataset: Json): Json {
  const { name, access = [] } = dataset as { name: string; access?: Entry[] }
  const members: Record<string, string[]> = {}
  for (const { role = '', userByEmail } of access) {
    if (role !== 'OWNER' && !basicRoles[role]) invalid(`Role ${role} is not supported for this resource.`)
    if (!userByEmail) continue
    checkMember(call, memberOf(userByEmail))
    if (role !== 'OWNER') (members[basicRoles[role]!] ??= []).push(memberOf(userByEmail))
  }
  call.state.policies[name] = {
    bindings: Object.entries(members).map(([role, members]) => ({ role, members })),
  }
  return dataset
}
