/** What BigQuery refuses of datasets, tables and views: unknown accounts, changes of a schema, columns that are not there. */
import { partsOf } from '../../../shared/engines/bigquery/tables.ts'
import { columnsOf, type FieldSchema } from '../../../shared/engines/schema.ts'
import type { Column } from '../../../shared/sql/types.ts'
import type { Table as Planned } from '../../deploy/tables.ts'
import { checkQuery } from '../bigquery/jobs.ts'
import { checkMember, memberOf } from './access.ts'
import { type Call, type Json, type Policy, type State, invalid } from './plane.ts'

type Table = Planned & { name: string }

/** "Dataset basic roles" */
const basicRoles: Record<string, string> = {
  OWNER: 'roles/owner',
  READER: 'roles/bigquery.dataViewer',
  WRITER: 'roles/bigquery.dataEditor',
}

/** The list of who may do what is replaced as a whole. */
export function checkedDataset(call: Call, dataset: Json): Json {
  const { name, access = [] } = dataset as { name: string; access?: Record<string, string>[] }
  const bindings: Policy['bindings'] = []
  for (const { role = '', userByEmail } of access) {
    if (!basicRoles[role]) invalid(`Role ${role} is not supported for this resource.`)
    if (!userByEmail) continue
    checkMember(call, memberOf(userByEmail))
    if (role !== 'OWNER') bindings.push({ role: basicRoles[role], members: [memberOf(userByEmail)] })
  }
  call.state.policies[name] = { bindings }
  return dataset
}

/** A view's query is checked over the tables of its dataset. */
export async function checkedTable(call: Call, wanted: Json, present?: Json): Promise<Json> {
  const { name, view, schema, timePartitioning: time } = wanted as Table & { view?: { query: string } }
  if (view) {
    if (present && !present['view']) invalid(`${name} is a TABLE, and no view`)
    const all = call.state.list(name.replace(/\/[^/]+$/, '')) as Table[]
    const tables = all.filter(one => one['type'] === 'TABLE')
    const columns = tables.map(table => [table.name.split('/').at(-1)!, columnsIn(table)] as const)
    const { project, dataset } = call.params
    const schema = await checkQuery(view.query, new Map(columns), `${project}.${dataset}`)
    return { ...wanted, schema, type: 'VIEW' }
  }
  const before = present as Table | undefined
  if (before) {
    checkSchema(name, before.schema.fields, schema.fields)
    const { type, field } = before.timePartitioning ?? {}
    if (type !== time?.type || field !== time?.field)
      invalid('Cannot change partitioning/clustering spec for a partitioned/clustered table.')
  }
  checkLayout(wanted as Table)
  // `null` takes the expiry away; 64-bit numbers are strings in JSON.
  const { expirationMs, ...rest } = time ?? {}
  const expiry = expirationMs ? { expirationMs } : {}
  return { ...wanted, type: 'TABLE', ...(time ? { timePartitioning: { ...rest, ...expiry } } : {}) }
}

/** The columns of a table by its full name; `null` where there is none. */
export function columnsOfTable({ resources }: State, real: string): Column[] | null {
  const [project, dataset, table] = partsOf(real)
  const made = resources[`projects/${project}/datasets/${dataset}/tables/${table}`]
  return made?.['schema'] ? columnsIn(made as Table) : null
}

function columnsIn({ schema }: Table) {
  return columnsOf(schema.fields, ({ type }) => new Error(`there is no type ${type}`))
}

/** "Modifying table schemas": columns are added, NULLABLE or REPEATED, and relaxed; with this method nothing else. */
function checkSchema(id: string, present: FieldSchema[], wanted: FieldSchema[], path = ''): void {
  const no = (detail: string) => invalid(`Provided Schema does not match Table ${id}. ${detail}`)
  const same = (a: FieldSchema) => (b: FieldSchema) => a.name.toLowerCase() === b.name.toLowerCase()
  for (const field of present) {
    const name = `${path}${field.name}`
    const now = wanted.find(same(field)) ?? no(`Field ${name} is missing in new schema`)
    if (now.type !== field.type) no(`Field ${name} has changed type from ${field.type} to ${now.type}`)
    const [before = 'NULLABLE', after = 'NULLABLE'] = [field.mode, now.mode]
    if (before !== after && !(before === 'REQUIRED' && after === 'NULLABLE'))
      no(`Field ${name} has changed mode from ${before} to ${after}`)
    checkSchema(id, field.fields ?? [], now.fields ?? [], `${name}.`)
  }
  for (const field of wanted)
    if (field.mode === 'REQUIRED' && !present.some(same(field)))
      no(`Cannot add required fields to an existing schema. (field: ${path}${field.name})`)
}

/** "Creating partitioned tables" and "Creating clustered tables": what a table may be divided and sorted by. */
function checkLayout({ schema, timePartitioning, clustering }: Table): void {
  const column = (name?: string) => schema.fields.find(field => field.name === name)
  if (timePartitioning && column(timePartitioning.field)?.type !== 'TIMESTAMP')
    invalid(`Cannot partition by ${timePartitioning.field}: it is no TIMESTAMP`)
  const names = clustering?.fields ?? []
  if (names.length > 4) invalid('Too many clustering fields: at most 4')
  for (const name of names) {
    const { type = 'RECORD', mode } = column(name) ?? {}
    if (mode === 'REPEATED' || ['RECORD', 'FLOAT', 'JSON', 'BYTES'].includes(type))
      invalid(`Field ${name} cannot be a clustering field: it must be top-level and not repeated`)
  }
}
