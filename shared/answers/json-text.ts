/** JSON of an answer as text, for readers who parse it themselves, as those of Logflare do: `json: text` in a definition. */
import type { Result, Row, Value } from '../engines/engine.ts'
import { mapScalars } from '../engines/values.ts'
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
  const type = { kind: 'STRUCT', fields: columns } as const
  return rows.map(row => mapScalars(type, row, withText) as Row)
}

function withText({ kind }: SqlType, value: Value): Value {
  return kind === 'JSON' ? JSON.stringify(value) : value
}
