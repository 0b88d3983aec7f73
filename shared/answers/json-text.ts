/** JSON of an answer as text, for readers who parse it themselves, as those of Logflare do: `json: text` in a definition. */
import type { Result, Row, Value } from '../engines/engine.ts'
import { fieldName } from '../engines/values.ts'
import type { Column, SqlType } from '../sql/types.ts'

/** The columns as readers see them: text where JSON was. */
export function columnsWithJsonText(columns: Column[]): Column[] {
  return columns.map(({ name, type }) => ({ name, type: typeWithText(type) }))
}

function typeWithText(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { ...type, element: typeWithText(type.element) }
  if (type.kind === 'STRUCT')
    return { ...type, fields: type.fields.map(field => ({ ...field, type: typeWithText(field.type) })) }
  return type.kind === 'JSON' ? { kind: 'STRING' } : type
}

/** The rows with text where JSON is, at any depth; NULL stays. */
export function rowsWithJsonText({ rows, columns }: Pick<Result, 'rows' | 'columns'>): Row[] {
  return rows.map(row => withText({ kind: 'STRUCT', fields: columns }, row) as Row)
}

function withText(type: SqlType, value: Value): Value {
  if (value === null) return null
  if (type.kind === 'JSON') return JSON.stringify(value)
  if (type.kind === 'ARRAY') return (value as Value[]).map(item => withText(type.element, item))
  if (type.kind !== 'STRUCT') return value
  const fields = type.fields.map((field, at) => {
    const name = fieldName(field.name, at)
    return [name, withText(field.type, (value as Row)[name] ?? null)]
  })
  return Object.fromEntries(fields) as Row
}
