/** How large a query may be. A larger one is an SqlError, never a crash. */
export interface Limits {
  /** Length of the text, in bytes of UTF-8. */
  bytes: number
  tokens: number
  /** Parentheses, subqueries, types and signs inside one another. */
  nesting: number
  /** Operators, joins or fields in one chain: `a + b + c` has two links. */
  links: number
  /** Height of the tree, to which chains inside chains add up: a walk may recurse this deep. */
  height: number
  /** SELECTs in the whole query. */
  selects: number
  /** Tables, subqueries and arrays in FROM, in the whole query: each name may be looked up in all. */
  sources: number
  /** Common tables in the whole query. */
  ctes: number
  /** In one list: of a SELECT, USING, PIVOT and the like, or the fields of a STRUCT. */
  columns: number
}

export const defaultLimits: Limits = {
  bytes: 65_536,
  tokens: 50_000,
  nesting: 120,
  links: 400,
  height: 1_000,
  selects: 200,
  sources: 500,
  ctes: 32,
  columns: 1_000,
}

/** For a caller's own query. */
export const callerLimits: Limits = { ...defaultLimits, sources: 64 }

/**
 * For a composed statement: an endpoint's tables and a caller's query, each as large as a query may be. Operators of a pipe stand
 * behind one another, and are printed as queries in parentheses inside one another.
 */
export const statementLimits: Limits = {
  bytes: 8 * defaultLimits.bytes,
  tokens: 4 * defaultLimits.tokens,
  nesting: defaultLimits.nesting + 2 * defaultLimits.selects,
  links: defaultLimits.links,
  height: defaultLimits.height + 4,
  selects: 2 * defaultLimits.selects,
  sources: 2 * defaultLimits.sources,
  ctes: 2 * defaultLimits.ctes,
  columns: defaultLimits.columns,
}
