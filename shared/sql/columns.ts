/**
 * The names of the columns that a query's operators make, by the rules of GoogleSQL
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax): of PIVOT, UNPIVOT and set operations
 * that match columns by name. The case of letters does not count where names are compared.
 */
import { nameKey } from './relations.ts'
import type { ByName, Expression, Literal, SelectColumn, UnpivotGroup } from './tree.ts'

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
  const [common, others] = [intersection(left, right), difference(right, left)]
  const offered = { STRICT: left, INNER: common, LEFT: left, FULL: [...left, ...others] }[mode]
  const wanted = on.map(({ name }) => name)
  const isStrict = mode === 'STRICT'
  const [missing] = difference(wanted, offered)
  const [unwanted] = isStrict && on.length > 0 ? difference(left, wanted) : []
  const [which, absent] =
    common.length < left.length ? ['second', difference(left, right)] : ['first', others]
  if (isStrict && absent.length > 0)
    return {
      problem: `BY NAME needs the same columns on both sides: the ${which} query has no ${absent[0]}`,
    }
  if (missing !== undefined) return { problem: `the columns of BY NAME ON are not there: ${missing}` }
  if (unwanted !== undefined)
    return {
      problem: `BY NAME ON must list all columns: add ${unwanted}, or write INNER before the operator`,
    }
  if (on.length === 0 && common.length === 0 && (mode === 'INNER' || mode === 'LEFT'))
    return { problem: 'the queries of this set operation have no column name in common' }
  return on.length > 0 ? wanted : offered
}

/** Those names of `names` that `others` has. */
function intersection(names: string[], others: string[]): string[] {
  const keys = new Set(others.map(nameKey))
  return names.filter(name => keys.has(nameKey(name)))
}

function difference(names: string[], others: string[]): string[] {
  const keys = new Set(others.map(nameKey))
  return names.filter(name => !keys.has(nameKey(name)))
}
