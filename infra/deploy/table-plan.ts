/**
 * `node infra/deploy/table-plan.ts SCHEMA PRESENT`: prints what makes a log table of BigQuery what it should be, as
 * arguments for bq: a line `mk ...` or `update ...`, or none; and a line `note ...` for what bq cannot change.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'

export interface Field {
  name: string
  type: string
  mode?: string
  description?: string
  fields?: Field[]
}

/** Of `bq show --format=json`. */
export interface Table {
  schema: { fields: Field[] }
  timePartitioning?: { type: string; field?: string; expirationMs?: string }
  clustering?: { fields: string[] }
}

export interface Layout {
  /** Left out: hours for a new table whose rows expire before it has too many partitions, else days. */
  partition?: 'HOUR' | 'DAY'
  /** Whole days; 0 for no expiry; left out: as it is. */
  expiryDays?: number
  projectColumn: boolean
}

interface Plan {
  lines: string[]
  schema: Field[]
}

const dayMs = 86_400_000

/** 10,000 partitions at most (https://cloud.google.com/bigquery/quotas, "Partitioned tables"). */
const mostDaysOfHours = 416

/** bq takes a negative expiry away. */
const never = -1000

const projectColumn: Field = {
  name: 'project',
  type: 'STRING',
  mode: 'NULLABLE',
  description: 'The reference of the project the entry belongs to, as in its metadata',
}

/** @param present `null` for a table that is not there */
export function planTable(file: Field[], present: Table | null, layout: Layout): Plan {
  const wanted =
    layout.projectColumn && !file.some(({ name }) => name === 'project') ? [...file, projectColumn] : file
  const schema = present ? mergeFields(present.schema.fields, wanted) : wanted
  // The partition column may be a clustering column too: within a partition rows are then in order of time.
  const clustering = schema.some(({ name }) => name === 'project') ? ['project', 'timestamp'] : ['timestamp']
  return {
    schema,
    lines: present ? changes(present, schema, clustering, layout) : made(clustering, layout),
  }
}

function made(clustering: string[], { partition, expiryDays = 0 }: Layout): string[] {
  const expiry = expiryDays > 0 ? expiryDays * dayMs : null
  const fits = expiry !== null && expiryDays <= mostDaysOfHours
  const unit = partition ?? (fits ? 'HOUR' : 'DAY')
  const full = `note takes no rows of more than ${mostDaysOfHours} days: see "Tables" in infra/docs/operating.md`
  return [
    ['mk --force --table', ...partitioning(unit, expiry), clusteredBy(clustering)].join(' '),
    ...(unit === 'HOUR' && !fits ? [full] : []),
  ]
}

function changes(
  present: Table,
  schema: Field[],
  clustering: string[],
  { partition, expiryDays }: Layout,
): string[] {
  const { type, expirationMs = '0' } = present.timePartitioning ?? {}
  const wantedMs = expiryDays === undefined ? Number(expirationMs) : expiryDays * dayMs
  const flags = [
    ...(type && wantedMs !== Number(expirationMs) ? partitioning(type, wantedMs || never) : []),
    ...(present.clustering?.fields.join() === clustering.join() ? [] : [clusteredBy(clustering)]),
  ]
  const same = JSON.stringify(schema) === JSON.stringify(present.schema.fields)
  const kept = `note is partitioned by ${type ?? 'nothing'}, which cannot be changed: see "Tables" in infra/docs/operating.md`
  return [
    ...(partition === undefined || type === partition ? [] : [kept]),
    ...(same && flags.length === 0 ? [] : [['update', ...flags].join(' ')]),
  ]
}

function partitioning(type: string, expiryMs: number | null): string[] {
  const flags = [`--time_partitioning_type=${type}`, '--time_partitioning_field=timestamp']
  return expiryMs === null ? flags : [...flags, `--time_partitioning_expiration=${expiryMs / 1000}`]
}

function clusteredBy(columns: string[]): string {
  return `--clustering_fields=${columns.join()}`
}

/**
 * The table's columns in their order, with those that are new in the file behind them, NULLABLE if they are REQUIRED
 * there (BigQuery adds no other). A column that only the table has was added by a pipeline, and stays: without it in the
 * schema BigQuery refuses the update.
 */
export function mergeFields(present: Field[], file: Field[]): Field[] {
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

function addable(field: Field): Field {
  return field.mode === 'REQUIRED' ? { ...field, mode: 'NULLABLE' } : field
}

interface Flags {
  partition?: 'HOUR' | 'DAY'
  expiryDays?: string
  projectColumn: boolean
  schemaOut: string
}

function main(schemaFile: string, presentFile: string, flags: Flags): void {
  const text = readFileSync(presentFile, 'utf8').trim()
  const file = JSON.parse(readFileSync(schemaFile, 'utf8')) as Field[]
  const { lines, schema } = planTable(file, text === '' ? null : (JSON.parse(text) as Table), {
    projectColumn: flags.projectColumn,
    ...(flags.partition ? { partition: flags.partition } : {}),
    ...(flags.expiryDays === undefined ? {} : { expiryDays: Number(flags.expiryDays) }),
  })
  writeFileSync(flags.schemaOut, JSON.stringify(schema, null, 2))
  const made = JSON.stringify(schema) === JSON.stringify(file) ? schemaFile : flags.schemaOut
  for (const line of lines) console.log(line.replace('--table', `--table --schema=${made}`))
}

if (import.meta.main)
  new Command('table-plan')
    .description('What makes a log table of BigQuery what it should be')
    .argument('<schema>', 'file of infra/tables')
    .argument('<present>', 'what bq shows of the table; empty where there is none')
    .option('--partition <unit>', 'HOUR or DAY')
    .requiredOption('--schema-out <file>', 'where to write the schema that bq is to use')
    .option('--expiry-days <days>', 'after which a partition is deleted')
    .option('--project-column', 'a column for the project, where there is none', false)
    .action(main)
    .parse()
