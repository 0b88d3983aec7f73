/** Values that DuckDB SQL uses several times, and evaluates once; and what else is written in terms of them. */

/**
 * Uses values several times, and evaluates them once: what is more than a literal, a parameter or a column is the argument
 * of a lambda, which costs a fifth more than the value alone. Literals and parameters stay in any case: a regular expression
 * that DuckDB sees to be constant is compiled once, and else for each row.
 */
export function once<Values extends string[]>(values: Values, use: (...values: Values) => string): string {
  if (values.every(isSimple)) return use(...values)
  const row = `"values of a call${depth || ''}"`
  const inside = values.map((value, at) => (constant.test(value) ? value : `(${row})."v${at}"`)) as Values
  const fields = values.flatMap((value, at) => (constant.test(value) ? [] : [`'v${at}': ${value}`]))
  depth++
  try {
    return `(list_transform([{${fields.join(', ')}}], lambda ${row}: ${use(...inside)})[1])`
  } finally {
    depth--
  }
}

/**
 * How many calls of `once` are being made inside one another: each has a name of its own for its values. As no column is called,
 * and used in parentheses: DuckDB takes `v.v0` for the field of a column `v`, and in HAVING for a column.
 */
let depth = 0

/**
 * Uses values several times: as they are while that is short, which costs less than a lambda; once where operands of operands
 * would grow exponentially.
 */
export function repeated<Values extends string[]>(
  values: Values,
  use: (...values: Values) => string,
): string {
  const sql = use(...values)
  if (sql.length < longest) return sql
  const shared = once(values, use)
  return shared.length < sql.length ? shared : sql
}

/** The texts of a list with a delimiter. DuckDB's array_to_string plans the list twice, and takes a literal delimiter only. */
export function joinedBy(list: string, delimiter: string, isLiteral: boolean): string {
  const [items, between] = isLiteral
    ? [list, delimiter]
    : [`list_transform(${list}, lambda item: ${delimiter} || item)`, `''`]
  return `substr(list_aggr([''] || ${items}, 'string_agg', ${between}), length(${delimiter}) + 1)`
}

/** NULL for one value. DuckDB's NULLIF is this CASE too, with its operand twice. */
export function nullWhere(value: string, none: string): string {
  return repeated([value], value => `(CASE WHEN ${value} = ${none} THEN NULL ELSE ${value} END)`)
}

/** Characters of DuckDB SQL in which values stand as often as they are used. */
const longest = 2000

/** A literal, a parameter, a column or a field of one. */
export function isSimple(sql: string): boolean {
  return constant.test(sql) || columnOrField.test(sql)
}

const constant = /^(?:'(?:[^']|'')*'|\d+|CAST\((?:NULL|\$\w+|-?\d+|'(?:[^']|'')*') AS [\w ]+\)|NULL)$/
const columnOrField = /^\(*"(?:[^"]|"")*"(?:\)*\."(?:[^"]|"")*")*$/
