/**
 * What to say of operands of wrong types: those that fit, and how a value becomes one; and of a name that is none: the
 * nearest one, or the UNNESTs that lead to a field of it.
 */
import { sameName } from '../columns.ts'
import { functions, isOfKind, type Parameter, parametersOf } from '../functions.ts'
import { hintFor, nearestName, table } from '../hints.ts'
import type { RangeVariable } from './resolution.ts'
import { briefTypeName, elementOf, type Type, type Value } from './types.ts'
import type { Identifier } from '../tree.ts'
import type { SqlType } from '../types.ts'

/** What to write for a time of an answer in SQL. */
export const timestampOfInteger =
  'TIMESTAMP_MICROS(x) for 16 digits, as answers have times, TIMESTAMP_MILLIS(x) for 13 and TIMESTAMP_SECONDS(x) for 10'

/** What operators and clauses take, by their name here; those that are not listed take values of one type. */
const operands = table(String.raw`
  operator [-+] => NUMBER, NUMBER | TIMESTAMP, INTERVAL
  operator [*/] => NUMBER, NUMBER
  operator (AND|OR|NOT|IS \w+) => BOOL*
  operator LIKE.* => STRING* | BYTES*
  operator \|\| => STRING* | BYTES* | ARRAY*
  operator (\||&|\^|~|<<|>>) => INT64* | BYTES, INT64
  operator \[\] => ARRAY, INT64 | JSON, INT64
  operator IN UNNEST => ANY, ARRAY
  operator.*|CASE.*|set operation.* => COMMON*
  INTERVAL .* => INT64
`)

/** How a value becomes one of another type, by `FROM>TO`; `x` stands for it. */
const conversions = table(String.raw`
  STRING>(INT64|NUMERIC|BIGNUMERIC|FLOAT64) => SAFE_CAST(x AS $1)
  STRING>NUMBER => SAFE_CAST(x AS FLOAT64)
  STRING>BOOL => a condition such as x = 'text' or x IS NOT NULL
  INT64>BOOL => a condition such as x != 0
  STRING>BYTES => CAST(x AS BYTES)
  STRING>JSON => PARSE_JSON(x)
  (STRING|TIMESTAMP)>(DATE|DATETIME) => $2(x)
  (STRING|DATE|DATETIME)>TIMESTAMP => TIMESTAMP(x)
  INT64>TIMESTAMP => ${timestampOfInteger}
  INT64>INTERVAL => INTERVAL x SECOND, or another part
  JSON>STRING => JSON_VALUE(x)
  JSON>(INT64|FLOAT64|BOOL) => LAX_$1(x)
  JSON>NUMBER => LAX_FLOAT64(x)
  ARRAY>STRING => TO_JSON_STRING(x), or its elements with UNNEST(x) in FROM
  STRUCT>STRING => TO_JSON_STRING(x)
  BYTES>STRING => SAFE_CONVERT_BYTES_TO_STRING(x)
  (INT64|NUMERIC|BIGNUMERIC|FLOAT64|BOOL|DATE|DATETIME|TIME|TIMESTAMP|INTERVAL)>STRING => CAST(x AS STRING)
`)

/** JSON has neither equality nor order; its text has both. */
export const textOfJson = 'for the JSON write JSON_VALUE(x), or TO_JSON_STRING(x) of an object or a list'

/**
 * @param what the function, operator or clause, as the message names it
 * @param signatures what it takes, where the tables here do not say it
 */
export function mismatch(
  what: string,
  values: Value[],
  signatures: Parameter[][] = signaturesOf(what),
): string {
  const types = values.map(value => briefTypeName(value.type)).join(', ') || 'none'
  const hints = [
    argumentCounts(what, values.length, signatures),
    conversion(what, values, signatures),
  ].filter(Boolean)
  return [`No matching signature for ${what} for argument types: ${types}`, ...hints].join('; ')
}

function signaturesOf(what: string): Parameter[][] {
  const name = /^function (.*)/.exec(what)?.[1]
  if (name !== undefined) return functions.get(name)!.signatures.map(({ parameters }) => parameters)
  return hintFor(operands, what)?.split(' | ').map(parametersOf) ?? []
}

/** Kinds of types whose name does not say which they are. */
const explained: [kind: string, what: string][] = [
  ['COMPARABLE', 'COMPARABLE being neither ARRAY nor JSON'],
  ['ITEM', 'ITEM being no ARRAY'],
  ['ORDERED', 'ORDERED being neither ARRAY, JSON nor STRUCT'],
]

/** Which types fit, as `POW(FLOAT64, FLOAT64)` or `STRING LIKE STRING`. */
function argumentCounts(what: string, count: number, signatures: Parameter[][]): string | null {
  if (signatures.length === 0) return null
  const all = signatures.flat()
  if (all[0]?.common && all[0].times === '*') return 'all values need one type'
  const [, sort, name = ''] = /^(function|operator) (.*)/.exec(what) ?? []
  // The first one of an operator is what it takes with one operand.
  const fitting = sort !== 'function' && count === 1 ? signatures.slice(0, 1) : signatures
  const forms = fitting.map(parameters => {
    if (sort === 'function') {
      const shown = parameters.map(({ kind, times }, at) => {
        const name = shownKind(kind)
        if (times !== '*') return `${name}${times}`
        return parameters[at - 1]?.kind === kind ? '...' : `${name}, ...`
      })
      return `${name}(${shown.join(', ')})`
    }
    const kinds = Array.from({ length: count }, (_, at) => (parameters[at] ?? parameters.at(-1)!).kind)
    return kinds.length === 1 ? `${name} ${kinds[0]}`.trim() : kinds.join(` ${name} `)
  })
  const notes = [
    ...explained.flatMap(([kind, what]) => (all.some(parameter => parameter.kind === kind) ? [what] : [])),
    ...(all.some(({ kind, common }) => common && kind === 'ANY') ? ['ANY being one type'] : []),
  ]
  return [`it takes ${[...new Set(forms)].join(' or ')}`, ...notes].join(', ')
}

const shownKind = (kind: string) => (kind === 'TEXT' ? 'STRING' : kind)

/** What to write for the first value that does not fit the signature that most of them fit. */
function conversion(what: string, values: Value[], signatures: Parameter[][]): string | null {
  const kinds = values.map(({ type }) => type?.kind ?? null)
  const common: string[] = []
  const misfits = signatures.map(parameters => {
    const own = parameters.filter(({ kind }) => kind !== 'PART' && kind !== 'MODE')
    return kinds.flatMap((kind, at): [from: string, to: string][] => {
      const wanted = own[Math.min(at, own.length - 1)]
      if (kind !== null && wanted?.common) common.push(kind)
      return kind === null || wanted === undefined || fits(values[at]!, wanted.kind)
        ? []
        : [[kind, shownKind(wanted.kind)]]
    })
  })
  const [one = '', other = one] = new Set(common)
  // Texts are compared as what they are compared with, and other values are shown as texts.
  const textFirst = (one === 'STRING') === what.startsWith('operator')
  const [first, second] = textFirst ? [one, other] : [other, one]
  const unlike: [from: string, to: string][] = [
    [first, second],
    [second, first],
  ]
  const pairs = misfits.toSorted((a, b) => a.length - b.length).flat()
  // JSON is compared with nothing, so no value becomes JSON for an operator.
  const useless = what.startsWith('operator') ? ['BOOL', 'JSON'] : ['BOOL']
  const useful = unlike.filter(([, to]) => !useless.includes(to))
  for (const [from, to] of [...pairs, ...useful]) {
    const written = hintFor(conversions, `${from}>${to}`)
    if (written !== null) return `for the ${from} write ${written}`
  }
  const isJson = kinds.includes('JSON') && !signatures.flat().some(({ kind }) => kind === 'JSON')
  return isJson ? textOfJson : null
}

/** A text that is written out is read as a date or time. */
function fits({ type, origin }: Value, wanted: string): boolean {
  const given = type as SqlType
  if (given.kind === 'STRING' && origin && /^(DATE|TIME)/.test(wanted)) return true
  return isOfKind(given, wanted) || (isOfKind(given, 'NUMBER') && /^(FLOAT64|.*NUMERIC)$/.test(wanted))
}

/** For a path whose first name is unknown. @param names all in sight, those of queries around as well */
export function unknownName(path: Identifier[], names: string[], inSight: readonly RangeVariable[]): string {
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
export function ambiguous({ name }: Identifier, inSight: readonly RangeVariable[]): string {
  const having = inSight.filter(({ columns }) => columns.some(column => sameName(column.name, name)))
  const full = having.map(table => table.name && `${table.name}.${name}`)
  const hint = full.length > 1 && full.every(Boolean) ? `: write ${full.join(' or ')}` : ''
  return `Column name ${name} is ambiguous${hint}`
}

/** Where a name is that of a field, as `status_code` in `metadata`: the UNNESTs that lead to it. */
function wayInside(inSight: readonly RangeVariable[], path: Identifier[]): string | null {
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
