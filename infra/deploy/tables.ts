/** BigQuery: the dataset, the log tables, who may read them, and the service's own requests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { loadConfig } from '../../shared/config.ts'
import type { FieldSchema } from '../../shared/engines/schema.ts'
import { packageFolder } from '../../shared/package-folder.ts'
import { type Google, holds, type Json } from './google-api.ts'
import { grant } from './rights.ts'
import { functionNames, namesIn, type Site } from './settings.ts'

/** A resource of BigQuery's API, as far as it is decided here. */
export interface Table extends Json {
  schema: { fields: FieldSchema[] }
  timePartitioning?: { type: string; field?: string; expirationMs?: string | null }
  clustering?: { fields: string[] }
}

type Layout = Pick<Site, 'partition' | 'partition-expiry-days' | 'project-column'>

const dayMs = 86_400_000

/** 10,000 partitions at most (https://cloud.google.com/bigquery/quotas, "Partitioned tables"). */
const mostDaysOfHours = 416

const projectColumn: FieldSchema = {
  name: 'project',
  type: 'STRING',
  mode: 'NULLABLE',
  description: 'The reference of the project the entry belongs to, as in its metadata',
}

/** Schema files: of the folder that is deployed, and what ships. */
const folders = () => [loadConfig({}).tablesDir, join(packageFolder, 'infra/tables')] as const
/** A view over the lines that Cloud Logging routes here. */
const requests = 'service.requests'

/** Logical names of the log tables. */
export function logTables(): string[] {
  const files = readdirSync(folders()[0]).filter(file => file.endsWith('.json'))
  return files.map(file => basename(file, '.json')).filter(name => name !== requests)
}

/** Every character but letters, digits and `_` is `_`. */
export function tableId(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

function schemaOf(name: string): FieldSchema[] {
  const file = folders()
    .map(folder => join(folder, `${name}.json`))
    .find(existsSync)!
  return JSON.parse(readFileSync(file, 'utf8')) as FieldSchema[]
}

/** @param set `project.dataset` */
export function datasetOf(set: string): string {
  return `bigquery/v2/projects/${set.replace('.', '/datasets/')}`
}

function tablesOf({ project, dataset }: Site): string {
  return `${datasetOf(`${project}.${dataset}`)}/tables`
}

/** The dataset, its tables and the requests' sink, then the rights on it: one change of a policy. */
export async function setUpTables(google: Google, site: Site): Promise<void> {
  const { project, dataset, location, 'tables-in': elsewhere } = site
  const at = datasetOf(`${project}.${dataset}`)
  const making = { datasetReference: { projectId: project, datasetId: dataset }, location }
  if (!(await google.get(at)))
    await google.change(`dataset ${dataset}: made, in ${location}`, 'POST', dirname(at), making)
  const names = elsewhere ? [] : logTables()
  await Promise.all(names.map(name => setUpTable(google, site, tableId(name), schemaOf(name), name)))
  const writer = await setUpRequests(google, site)
  const { email } = namesIn(site)
  // READER and WRITER are `bigquery.dataViewer` and `bigquery.dataEditor` ("Dataset basic roles").
  const readers = [email('query'), email('warm')].map(one => ['READER', one] as const)
  // The build applies endpoints, and makes the views of their roll-ups.
  const writers = [email('build'), ...(writer ? [writer] : [])].map(one => ['WRITER', one] as const)
  await grant(google, at, `dataset ${dataset}`, [...readers, ...writers])
  if (elsewhere)
    await grant(google, datasetOf(elsewhere), elsewhere, [...readers, ['READER', email('build')]])
}

/** Makes a table, or adds what it lacks. Columns that the table has and the file has not stay. */
async function setUpTable(
  google: Google,
  site: Site,
  id: string,
  file: FieldSchema[],
  description: string,
): Promise<void> {
  const at = tablesOf(site)
  const present = (await google.get(`${at}/${id}`)) as Table | null
  const { table, note } = planTable(file, present, site)
  if (note) google.options.say(`table ${id} ${note}`)
  if (!table) return
  const tableReference = { projectId: site.project, datasetId: site.dataset, tableId: id }
  const { timePartitioning, ...others } = table
  const kept = timePartitioning ? [`rows are kept for ${keptFor(table)}, not ${keptFor(present ?? {})}`] : []
  const what = [...Object.keys(others), ...kept].join(', ')
  if (present) await google.change(`table ${id}: ${what}`, 'PATCH', `${at}/${id}`, table)
  else await google.change(`table ${id}: made`, 'POST', at, { tableReference, description, ...table })
}

function keptFor({ timePartitioning: { expirationMs } = { type: '' } }: Partial<Table>): string {
  return expirationMs ? `${Number(expirationMs) / dayMs} days` : 'ever'
}

/** The tables of which BigQuery would delete rows, as `--partition-expiry-days` is less than it was. */
export async function tablesThatLose(google: Google, site: Site): Promise<string[]> {
  const asked = Number(site['partition-expiry-days'] ?? 0) * dayMs
  const ids = asked > 0 ? [...(site['tables-in'] ? [] : logTables().map(tableId)), routedTable] : []
  const found = await Promise.all(ids.map(id => google.get(`${tablesOf(site)}/${id}`)))
  return (found as (Table | null)[]).flatMap((table, at) => {
    const isLess = asked < Number(table?.timePartitioning?.expirationMs ?? Infinity)
    const loses = table?.timePartitioning && isLess && table['numRows'] !== '0'
    return loses ? [`${ids[at]!} (kept for ${keptFor(table)})`] : []
  })
}

interface Plan {
  /** What is to be made or changed; `null` = nothing. */
  table: Partial<Table> | null
  /** What cannot be changed. */
  note: string | undefined
}

/** @param present `null` for a table that is not there */
export function planTable(file: FieldSchema[], present: Table | null, layout: Layout): Plan {
  const { partition, 'partition-expiry-days': days } = layout
  const isMissing = layout['project-column'] === 'yes' && !file.some(({ name }) => name === 'project')
  const wanted = isMissing ? [...file, projectColumn] : file
  const fields = present ? mergeFields(present.schema.fields, wanted) : wanted
  const hasProject = fields.some(({ name }) => name === 'project')
  const expiry = Number(days ?? 0)
  const fits = expiry > 0 && expiry <= mostDaysOfHours
  const made = { type: partition ?? (fits ? 'HOUR' : 'DAY'), field: 'timestamp' }
  const there = present ? present.timePartitioning : made
  const isSaid = present ? days !== undefined : expiry > 0
  const expiring = isSaid ? { expirationMs: expiry > 0 ? String(expiry * dayMs) : null } : {}
  const table: Table = {
    schema: { fields },
    ...(there ? { timePartitioning: { ...there, ...expiring } } : {}),
    // The partition column may be a clustering column too: within a partition rows are then in order of time.
    clustering: { fields: hasProject ? ['project', 'timestamp'] : ['timestamp'] },
  }
  const differing = Object.entries(table).filter(([key, value]) => !holds(present?.[key], value))
  const [isOther, isLimited] = [partition && there?.type !== partition, made.type === 'HOUR' && !fits]
  const other = `is partitioned by ${there?.type ?? 'nothing'}, which cannot be changed`
  const limit = `takes no rows of more than ${mostDaysOfHours} days`
  const note = present ? isOther && other : isLimited && limit
  return {
    table: differing.length > 0 ? Object.fromEntries(differing) : null,
    note: note ? `${note}: see "Tables" in infra/docs/operating.md` : undefined,
  }
}

/**
 * The table's columns in their order, with those that are new in the file behind them, NULLABLE if they are REQUIRED
 * there (BigQuery adds no other). A column that only the table has was added by a pipeline, and stays: without it in the
 * schema BigQuery refuses the update.
 */
export function mergeFields(present: FieldSchema[], file: FieldSchema[]): FieldSchema[] {
  const inFile = new Map(file.map(field => [field.name.toLowerCase(), field]))
  const known = new Set(present.map(({ name }) => name.toLowerCase()))
  return [
    ...present.map(field => {
      const wanted = inFile.get(field.name.toLowerCase())
      return field.fields && wanted?.fields
        ? { ...field, fields: mergeFields(field.fields, wanted.fields) }
        : field
    }),
    ...file.filter(({ name }) => !known.has(name.toLowerCase())).map(addable),
  ]
}

function addable(field: FieldSchema): FieldSchema {
  return field.mode === 'REQUIRED' ? { ...field, mode: 'NULLABLE' } : field
}

// ---- the service's own requests

/** Named after the log, `run.googleapis.com/stdout` ("View logs routed to BigQuery"). */
export const routedTable = 'run_googleapis_com_stdout'

/**
 * A sink routes the lines of requests to a table by the day, and the view `service_requests` over it has the columns of the log
 * table. Cloud Logging would make the table with the first line, too late for the view, and appends a column for each field that
 * it has not yet; Google's own solutions make it beforehand in the same way (github.com/GoogleCloudPlatform/bq-pii-classifier,
 * `terraform/modules/bigquery`).
 * @returns the account that writes
 */
async function setUpRequests(google: Google, site: Site): Promise<string | undefined> {
  const { project, dataset } = site
  const schema = schemaOf(requests)
  const daily: Site = { ...site, partition: 'DAY', 'project-column': undefined }
  await setUpTable(google, daily, routedTable, routedSchema(schema), 'Requests, as Cloud Logging routes them')
  const view = { query: requestsView(schema, `${project}.${dataset}`), useLegacySql: false }
  const [at, id] = [tablesOf(site), tableId(requests)]
  const making = { tableReference: { projectId: project, datasetId: dataset, tableId: id } }
  const one = `${at}/${id}`
  await google.ensure(`view ${id}`, await google.get(one), { view }, at, { one, changed: { view }, making })
  return setUpSink(google, site)
}

async function setUpSink(google: Google, site: Site): Promise<string | undefined> {
  const { project, dataset } = site
  const { functionName, own } = namesIn(site)
  const isOurs = functionNames.map(name => `resource.labels.service_name="${functionName(name)}"`)
  const wanted = {
    destination: `bigquery.googleapis.com/projects/${project}/datasets/${dataset}`,
    filter: `resource.type="cloud_run_revision" AND (${isOurs.join(' OR ')}) AND jsonPayload.how:*`,
  }
  const name = own('requests')
  const at = `logging/v2/projects/${project}/sinks`
  const account = 'uniqueWriterIdentity=true'
  const making = { name, bigqueryOptions: { usePartitionedTables: true } }
  const one = `${at}/${name}?${account}&updateMask=destination,filter`
  const present = await google.get(`${at}/${name}`)
  const how = { one, changed: wanted, making }
  const sink = await google.ensure(`sink ${name}`, present, wanted, `${at}?${account}`, how)
  return (sink['writerIdentity'] as string | undefined)?.replace('serviceAccount:', '')
}

/** A column's field of the payload: in small letters, numbers as FLOAT ("BigQuery schema for routed logs"). */
function routed({ name, type }: FieldSchema): FieldSchema {
  return { name: name === 'id' ? 'requestid' : name, type: type === 'INTEGER' ? 'FLOAT' : type }
}

/** @param schema of `service.requests` @returns that of `routedTable`, as BigQuery's API has it */
export function routedSchema(schema: FieldSchema[]): FieldSchema[] {
  const fields = schema.filter(({ name }) => name !== 'timestamp').map(routed)
  return [
    { name: 'timestamp', type: 'TIMESTAMP' },
    { name: 'jsonPayload', type: 'RECORD', fields },
  ]
}

/** @param dataset `project.dataset` of the routed lines */
export function requestsView(schema: FieldSchema[], dataset: string): string {
  const items = schema.map(column => {
    if (column.name === 'timestamp') return 'timestamp'
    const field = `jsonPayload.${routed(column).name}`
    return `${column.type === 'INTEGER' ? `CAST(${field} AS INT64)` : field} AS \`${column.name}\``
  })
  return `SELECT ${items.join(', ')} FROM \`${dataset}.${routedTable}\``
}
