/** What to say of a name that is none: the nearest one, or the UNNESTs that lead to a field of that name. */
import { sameName } from '../columns.ts'
import { nearestName } from '../nearest.ts'
import type { Identifier } from '../tree.ts'
import { briefTypeName, elementOf, type Type } from './types.ts'

/** The rows of a table, or an element of an array, in sight of a name. */
export interface InSight {
  name: string | null
  element: unknown
  columns: readonly { name: string | null; type: Type | null }[]
}

/** For a path whose first name is unknown. @param names all in sight, those of queries around as well */
export function unknownName(path: Identifier[], names: string[], inSight: readonly InSight[]): string {
  const { name } = path[0]!
  const message = `Unrecognized name: ${name}`
  const way = nearestName(name, names) === null ? wayInside(inSight, path) : null
  return way ? `${message}, ${way}` : withNames(message, name, names)
}

/** A message with the name nearest to one, or all names if they are few. */
export function withNames(message: string, name: string, names: string[]): string {
  const near = nearestName(name, names)
  const all = [...new Set(names)]
  const few = all.length > 0 && all.length <= 12 ? `; there are ${all.join(', ')}` : ''
  return message + (near ? `; did you mean ${near}?` : few)
}

/** For a field of a value that has none. */
export function noField(type: Type | null, { name }: Identifier): string {
  const json = type?.kind === 'STRING' ? `: if it holds JSON, write JSON_VALUE(x, '$.${name}')` : ''
  return `Cannot access field ${name} on a value with type ${briefTypeName(type)}${json}`
}

/** For a column that several tables have. */
export function ambiguous({ name }: Identifier, inSight: readonly InSight[]): string {
  const having = inSight.filter(({ columns }) => columns.some(column => sameName(column.name, name)))
  const full = having.map(table => table.name && `${table.name}.${name}`)
  const hint = full.length > 1 && full.every(Boolean) ? `: write ${full.join(' or ')}` : ''
  return `Column name ${name} is ambiguous${hint}`
}

/** Where a name is that of a field, as `status_code` in `metadata`: the UNNESTs that lead to it. */
function wayInside(inSight: readonly InSight[], path: Identifier[]): string | null {
  const starts = inSight
    .flatMap(({ name, element, columns }) =>
      columns.map(column => {
        const names = element && name ? [name, column.name] : [column.name]
        return { type: column.type, names: names.filter(name => name !== null) }
      }),
    )
    .filter(({ names }) => names.length > 0)
  for (let ways = starts; ways.length > 0;) {
    const found = ways.find(({ names }) => sameName(names.at(-1)!, path[0]!.name))
    if (found) {
      const start = starts.find(({ names }) => names.every((name, at) => found.names[at] === name))!
      const records = elementOf(start.type) ?? start.type
      const fields = [...found.names.slice(start.names.length), ...path.slice(1).map(({ name }) => name)]
      const { joins, found: field } = unnestsTo(start.names.join('.'), start.names.at(-1)!, records, fields)
      return `a field inside ${start.names.join('.')}: add ${joins.join(' ')} to FROM, and write ${field}`
    }
    ways = ways.flatMap(({ type, names }) => {
      const record = elementOf(type) ?? type
      if (record?.kind !== 'STRUCT') return []
      return record.fields.flatMap(field =>
        field.name === null ? [] : [{ type: field.type, names: [...names, field.name] }],
      )
    })
  }
  return null
}

/** For `fields` at the end of a path that are those of an array of structs, as every object in the logs is one. */
export function fieldsOfArray(records: Type, path: Identifier[], fields: Identifier[]): string {
  const names = path.map(({ name }) => name)
  const wanted = names.slice(names.length - fields.length)
  const array = names.slice(0, names.length - fields.length)
  const { joins, found } = unnestsTo(array.join('.'), array.at(-1)!, records, wanted)
  return `${array.join('.')} is an array of records: add ${joins.join(' ')} to FROM, and write ${found}`
}

/** The joins that lead from an array of records to fields inside, and the last field behind them. */
function unnestsTo(
  array: string,
  last: string,
  records: Type | null,
  fields: string[],
): { joins: string[]; found: string } {
  const joins: string[] = []
  const aliases = new Set<string>()
  const unnest = (array: string, name: string) => {
    const short = name[0]!.toLowerCase()
    const alias = aliases.has(short) ? name : short
    aliases.add(alias)
    joins.push(`CROSS JOIN UNNEST(${array}) AS ${alias}`)
    return alias
  }
  let found = unnest(array, last)
  let type: Type | null = records
  for (const [at, name] of fields.entries()) {
    const inside: { name: string | null; type: Type }[] = type?.kind === 'STRUCT' ? type.fields : []
    type = inside.find(field => sameName(field.name, name))?.type ?? null
    found = `${found}.${name}`
    if (type?.kind !== 'ARRAY' || at === fields.length - 1) continue
    found = unnest(found, name)
    type = type.element
  }
  return { joins, found }
}
