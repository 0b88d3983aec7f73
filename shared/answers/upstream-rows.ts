/** The rows of an answer as a bound value, which a query reads as a table. */
import { fromMicros } from '../endpoints/timestamps.ts'
import type { Row, Value } from '../engines/engine.ts'
import { fieldName } from '../engines/values.ts'
import { replacement } from '../redact/personal-class.ts'
import type { Column, SqlType } from '../sql/types.ts'

/**
 * An array of structs with a field for each column. The values are those of the answer, each in the form that bindings have.
 * @param redacted whether personal data was taken out: it leaves a text, which is NULL where the column holds none
 */
export function rowsAsTable(columns: Column[], rows: Row[], redacted: boolean): Value {
  const element = { kind: 'STRUCT', fields: columns } as const
  return rows.map(row => bound(element, row, redacted))
}

function bound(type: SqlType, value: Value, redacted: boolean): Value {
  if (value === null) return null
  if (type.kind === 'ARRAY') return (value as Value[]).map(item => bound(type.element, item, redacted))
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map((field, at) => {
      const name = fieldName(field.name, at)
      return [name, bound(field.type, (value as Row)[name] ?? null, redacted)] as const
    })
    return Object.fromEntries(fields)
  }
  if (type.kind === 'STRING' || type.kind === 'JSON') return value
  if (redacted && typeof value === 'string' && value.includes(replacement)) return null
  return type.kind === 'TIMESTAMP' ? fromMicros(BigInt(value as number | string)) : value
}
