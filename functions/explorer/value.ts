/** Values as people read them: as text, in a cell, and a whole row field by field. */
import type { Row, Value } from '../../shared/engines/engine.ts'

type Nested = Value[] | { [name: string]: Value }
export type Scalar = string | number | boolean | null

/** GoogleSQL writes an object in a log entry as a list of one, which reads better as the object. */
function unwrapped(value: Value): Value {
  return Array.isArray(value) && value.length === 1 && isObject(value[0]) ? value[0] : value
}

function isObject(value: Value | undefined): value is { [name: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists and objects, which are shown folded; `null` is neither. */
export function isNested(value: Value | undefined): value is Nested {
  return typeof value === 'object' && value !== null
}

/** The names in a nested value, or the number of its elements. */
export function gist(value: Value): string {
  const inner = unwrapped(value)
  if (Array.isArray(inner)) return inner.length === 0 ? '[]' : `${inner.length} values`
  return isNested(inner) ? `{ ${Object.keys(inner).join(', ')} }` : String(inner)
}

/** A value at its path. Lists of JSON have places in the path, those of a column have none. */
export interface Node {
  name: string
  value: Value
  path: string
  isJson: boolean
}

/** Whether the column at a path is JSON. */
export type IsJson = (path: string) => boolean

/** The values of a row, by their columns. */
export function nodesOf(row: Row, isJson?: IsJson): Node[] {
  return childrenOf({ name: '', value: row, path: '', isJson: false }, isJson)
}

/** Those of a list or an object; none of a value alone. A name with a dot has no path. */
export function childrenOf({ value, path, isJson }: Node, areJson: IsJson = () => false): Node[] {
  const child = (name: string, value: Value, path: string): Node => {
    const isInJson = isJson || areJson(path)
    return { name, value: isInJson ? value : unwrapped(value), path, isJson: isInJson }
  }
  if (!isNested(value)) return []
  // The elements of a list are named by their place, from 1.
  if (Array.isArray(value))
    return value.map((each, i) => child(String(i + 1), each, isJson ? `${path}[${i}]` : path))
  return Object.entries(value).map(([name, each]) =>
    child(name, each, name.includes('.') ? '' : path === '' ? name : `${path}.${name}`),
  )
}

/** Names of the columns, which every row has. */
export function columnsOf(rows: Row[]): string[] {
  return Object.keys(rows[0] ?? {})
}
