import type { Expression, Subscript } from '../../../sql/tree.ts'
import type { StructType } from '../../../sql/types.ts'
import { type Context, mistake, raise, type Typed, typed } from './context.ts'
import { noSignature } from './operators.ts'
import { jsonKey, type Scope, structField } from './scope.ts'
import { fieldName } from '../../values.ts'

/** `array[OFFSET(n)]` and its kin, `json['key']`, and a STRUCT's field by its place. */
export function subscript(context: Context, node: Subscript, scope: Scope): Typed {
  const of = context.expression(node.of, scope)
  if (of.type?.kind === 'STRUCT') return fieldAt(context, node, of, of.type)
  const index = context.expression(node.index, scope)
  if (of.type?.kind === 'JSON') return jsonElement(node.index, of, index)
  if (of.type?.kind !== 'ARRAY' || (index.type && index.type.kind !== 'INT64'))
    throw noSignature(context, node, 'operator []', [of, index])
  return typed(`(${of.sql})[${position(node, of.sql, index.sql)}]`, of.type.element)
}

/** DuckDB counts from 1, from the end for negative numbers, and gives NULL for what is not there. */
function position(node: Subscript, array: string, index: string): string {
  const ordinal = node.mode === 'ORDINAL' || node.mode === 'SAFE_ORDINAL'
  const at = ordinal ? index : `(${index} + 1)`
  if (node.mode?.startsWith('SAFE_')) return `CASE WHEN ${at} > 0 THEN ${at} END`
  return `CASE WHEN ${at} < 1 OR ${at} > len(${array}) THEN ${raise('Array index is out of bounds')} ELSE ${at} END`
}

function fieldAt(context: Context, node: Subscript, of: Typed, type: StructType): Typed {
  const first = node.mode === 'ORDINAL' || node.mode === 'SAFE_ORDINAL' ? 1 : 0
  const at = wholeNumber(node.index)
  if (at === null) throw mistake(context, node, 'A STRUCT subscript must be a literal integer')
  const field = type.fields[at - first]
  if (!field) throw mistake(context, node, `STRUCT has no field at ${at}`)
  return typed(structField(of.sql, fieldName(field.name, at - first)), field.type)
}

function jsonElement(node: Expression, of: Typed, index: Typed): Typed {
  const key = node.kind === 'Literal' && node.literal === 'STRING' ? jsonKey(node.value) : index.sql
  return typed(`json_extract(${of.sql}, ${key})`, 'JSON')
}

/** The value of an integer literal, else `null`. */
export function wholeNumber(node: Expression | undefined): number | null {
  return node?.kind === 'Literal' && node.literal === 'INTEGER' ? Number(node.text) : null
}
