/** Which columns of a table are its time, message, id and severity, by convention of names. */
import type { ColumnDescription, TableDescription } from '../../query/tables.ts'

/** A value of an entry: a column, or a field of nested ones. */
export interface Field {
  /** Names from the column down, with dots between them: `metadata.request.path`. */
  path: string
  /** The columns on the way, the last one its own. */
  steps: ColumnDescription[]
  /** GoogleSQL's name of the type, of the elements where it is a list. */
  type: string
}

/** A table that can be shown as log entries. */
export interface Shape {
  table: string
  time: Field
  message: Field
  id: Field | null
  severity: Field | null
  /** Every value that can be filtered by, in the order of the columns. */
  fields: Field[]
}

/** In the order in which a name is looked for. */
const names = {
  time: ['timestamp', 'time', 'ts', 'event_time', 'created_at', 'date'],
  message: ['event_message', 'message', 'msg', 'body', 'text', 'log', 'line'],
  id: ['id', 'insert_id', 'event_id', 'log_id', 'uuid'],
  severity: ['severity', 'severity_text', 'level', 'log_level', 'loglevel', 'error_severity'],
  status: ['status_code', 'status'],
}

/** @returns `null` where the table has no time or no message */
export function shapeOf({ name, columns }: TableDescription): Shape | null {
  const fields = columns.flatMap(column => leaves([], column))
  const top = fields.filter(({ steps }) => steps.length === 1 && !steps[0]!.repeated)
  const time = named(names.time, ofType(top, 'TIMESTAMP'))
  const message = named(names.message, ofType(top, 'STRING'))
  if (!time || !message) return null
  const severity =
    named(names.severity, ofType(fields, 'STRING')) ?? named(names.status, ofType(fields, 'INT64'))
  return { table: name, time, message, id: named(names.id, ofType(top, 'STRING')), severity, fields }
}

export function fieldAt({ fields }: Shape, path: string): Field | null {
  return fields.find(field => field.path === path) ?? null
}

export function nameOf({ steps }: Field): string {
  return steps.at(-1)!.name!
}

const numeric = ['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC']

export function isNumber({ type }: Field): boolean {
  return numeric.includes(type)
}

function leaves(above: ColumnDescription[], column: ColumnDescription): Field[] {
  if (column.name === null) return []
  const steps = [...above, column]
  if (column.fields) return column.fields.flatMap(field => leaves(steps, field))
  return [{ path: steps.map(({ name }) => name).join('.'), steps, type: column.type }]
}

function ofType(fields: Field[], type: string): Field[] {
  return fields.filter(field => field.type === type)
}

/** The least deep field with the first of the names that there is. */
function named(wanted: string[], fields: Field[]): Field | null {
  const byDepth = fields.toSorted((a, b) => a.steps.length - b.steps.length)
  const found = wanted.map(name => byDepth.find(field => nameOf(field).toLowerCase() === name))
  return found.find(field => field !== undefined) ?? null
}
