/**
 * The names of the columns that a query's operators make, by the rules of GoogleSQL
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax): of PIVOT, UNPIVOT and set operations
 * that match columns by name. The case of letters does not count where names are compared.
 */
import { nameKey } from './relations.ts'
import type { ByName, Expression, Literal, Path, Pivot, SelectColumn, Unpivot, UnpivotGroup } from './tree.ts'
import { descendants } from './walk.ts'

/** The name of a column of a select list without an alias, or `null`. */
export function nameOfColumn({ expression, alias }: SelectColumn): string | null {
  if (alias) return alias.name
  if (expression.kind === 'Path') return expression.parts.at(-1)!.name
  return expression.kind === 'FieldAccess' ? expression.field.name : null
}

/** As for common tables, the case of ASCII letters does not count; a column without a name (`null`) is never meant. */
export function sameName(one: string | null, other: string): boolean {
  return one !== null && one.length === other.length && (one === other || nameKey(one) === nameKey(other))
}

/** Of `columns`, those that PIVOT groups by: the ones that none of its expressions reads. */
export function keysOfPivot<Column extends { name: string | null }>(
  { of, aggregates, by }: Pivot,
  columns: Column[],
): Column[] {
  const paths = [...aggregates, by].flatMap(node => [...descendants(node)].filter(isPath))
  const read = paths.map(path => columnOfPath(path, nameOfTable(of)))
  return withoutNames(columns, read)
}

/** Of `columns`, those that UNPIVOT passes on: the ones that are in no group. */
export function keysOfUnpivot<Column extends { name: string | null }>(
  { of, groups }: Unpivot,
  columns: Column[],
): Column[] {
  const turned = groups.flatMap(group => group.columns.map(path => columnOfPath(path, nameOfTable(of))))
  return withoutNames(columns, turned)
}

function withoutNames<Column extends { name: string | null }>(columns: Column[], names: string[]): Column[] {
  const keys = new Set(names.map(nameKey))
  return columns.filter(({ name }) => name === null || !keys.has(nameKey(name)))
}

function isPath(node: { kind: string }): node is Path {
  return node.kind === 'Path'
}

function columnOfPath({ parts }: Path, table: string | null): string {
  const [first, second] = parts
  return second && table !== null && sameName(first!.name, table) ? second.name : first!.name
}

function nameOfTable(of: Pivot['of']): string | null {
  if (of.alias) return of.alias.name
  return of.kind === 'TableReference' ? of.path.at(-1)!.name : null
}

/**
 * The name of the column for one value and one aggregate; `null` where the value needs an alias.
 * @param isDate whether the values are of type DATE, as text beside a column of that type
 */
export function nameOfPivoted(aggregate: SelectColumn, value: SelectColumn, isDate = false): string | null {
  const start = aggregate.alias ? `${aggregate.alias.name}_` : ''
  if (value.alias) return start + value.alias.name
  return nameOfValue(value.expression, start, isDate)
}

function nameOfValue(value: Expression, start: string, isDate: boolean): string | null {
  if (value.kind === 'Parenthesized') return nameOfValue(value.expression, start, isDate)
  if (value.kind === 'Tuple')
    return value.items.reduce<string | null>((name, item, at) => {
      return name === null ? null : nameOfValue(item, at === 0 ? name : `${name}_`, false)
    }, start)
  if (value.kind === 'Unary' && value.operator === '-') {
    const number = nameOfValue(value.operand, `${start}minus_`, false)
    return value.operand.kind === 'Literal' ? number : null
  }
  if (value.kind === 'Literal') return nameOfLiteral(value, start, isDate)
  if (value.kind !== 'TypedLiteral') return null
  if (value.type === 'DATE') return nameOfDate(value.value.value, start)
  return value.type === 'NUMERIC' || value.type === 'BIGNUMERIC'
    ? nameOfNumber(value.value.value, start)
    : null
}

function nameOfLiteral({ literal, text, value }: Literal, start: string, isDate: boolean): string | null {
  switch (literal) {
    case 'STRING':
      if (isDate) return nameOfDate(value, start)
      return start + (value === '' ? `${start && '_'}empty_string_value` : value)
    case 'INTEGER':
      return nameOfNumber(String(BigInt(text)), start)
    case 'FLOAT':
      return nameOfNumber(text, start)
    case 'BOOL':
      return start + text.toLowerCase()
    case 'NULL':
      return `${start}NULL`
    case 'BYTES':
      return null
  }
}

/** A name never begins with a digit. */
function nameOfNumber(text: string, start: string): string {
  const begins = start === '' && /^\d/.test(text) ? '_' : start
  return begins + text.replaceAll('-', 'minus_').replaceAll('.', '_point_')
}

function nameOfDate(text: string, start: string): string | null {
  const date = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text)
  if (!date) return null
  const [, year, month, day] = date
  return `${start || '_'}${year}_${month!.padStart(2, '0')}_${day!.padStart(2, '0')}`
}

/** The text by which UNPIVOT calls a group without a label. */
export function labelOfGroup({ columns }: UnpivotGroup): string {
  return columns.map(({ parts }) => parts.at(-1)!.name).join('_')
}

/**
 * The names of the columns of a set operation by name, in order.
 * @returns a sentence, where the columns of the two queries do not go together
 */
export function matchedNames(
  { mode, on }: ByName,
  left: string[],
  right: string[],
): string[] | { problem: string } {
  const common = shared(left, right)
  const wanted = on.map(({ name }) => name)
  if (mode === 'STRICT') {
    for (const [one, other, which] of [
      [left, right, 'second'],
      [right, left, 'first'],
    ] as const) {
      const [missing] = unshared(one, other)
      if (missing !== undefined)
        return {
          problem: `BY NAME needs the same columns on both sides: the ${which} query has no ${missing}`,
        }
    }
  }
  if (on.length > 0) {
    const offered = { STRICT: left, INNER: common, LEFT: left, FULL: [...left, ...right] }[mode]
    const [missing] = unshared(wanted, offered)
    const [unwanted] = mode === 'STRICT' ? unshared(left, wanted) : []
    if (missing !== undefined) return { problem: `the columns of BY NAME ON are not there: ${missing}` }
    if (unwanted !== undefined)
      return {
        problem: `BY NAME ON must list all columns: add ${unwanted}, or write INNER before the operator`,
      }
    return wanted
  }
  if ((mode === 'INNER' || mode === 'LEFT') && common.length === 0)
    return { problem: 'the queries of this set operation have no column name in common' }
  if (mode === 'FULL') return [...left, ...unshared(right, left)]
  return mode === 'INNER' ? common : left
}

/** Those names of `names` that `others` has. */
function shared(names: string[], others: string[]): string[] {
  const keys = new Set(others.map(nameKey))
  return names.filter(name => keys.has(nameKey(name)))
}

function unshared(names: string[], others: string[]): string[] {
  const keys = new Set(others.map(nameKey))
  return names.filter(name => !keys.has(nameKey(name)))
}
