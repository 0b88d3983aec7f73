import { SqlError } from './error.ts'
import type { Limits } from './limits.ts'
import { defaultLimits } from './limits.ts'
import { QueryParser } from './parse-query.ts'
import type { Query } from './tree.ts'
import { heightOf } from './walk.ts'

/**
 * Reads one GoogleSQL query. Throws SqlError, with the place, for anything else: other statements, more than one,
 * what is malformed, what this front end does not know, and what is beyond the limits.
 */
export function parse(sql: string, limits: Partial<Limits> = {}): Query {
  const bounds = { ...defaultLimits, ...limits }
  const query = new QueryParser(sql, bounds).statement()
  // Chains inside chains stay within nesting and links and still add up to a tree too high to recurse over.
  if (heightOf(query) > bounds.height)
    throw new SqlError('the query is too deep: split its chains of operators')
  return query
}
