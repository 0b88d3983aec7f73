/** A caller's query inside the endpoint's: `WITH <the tables it needs> (<the caller's query>)`, as a tree. */
import type { Query } from '../sql/tree.ts'
import type { EndpointTables } from './tables.ts'

/** Rule 9: tables that the caller does not use do not run, and real names stand in the endpoint's tables only. */
export function compose(tables: EndpointTables, used: ReadonlySet<string>, caller: Query): Query {
  const needed = withThoseTheyRead(tables, used)
  const ctes = [...tables.byKey].filter(([key]) => needed.has(key)).map(([, { cte }]) => cte)
  if (ctes.length === 0) return caller
  return {
    kind: 'Query',
    with: { kind: 'With', recursive: tables.recursive, ctes, at: 0 },
    body: { kind: 'QueryInParentheses', query: caller, at: 0 },
    orderBy: [],
    limit: null,
    offset: null,
    at: 0,
  }
}

/** A table reads only those before it, so one pass from the last to the first finds all. RECURSIVE takes all. */
function withThoseTheyRead({ byKey, recursive }: EndpointTables, used: ReadonlySet<string>): Set<string> {
  if (recursive && used.size > 0) return new Set(byKey.keys())
  const needed = new Set(used)
  for (const [key, { reads }] of [...byKey].toReversed()) {
    if (needed.has(key)) for (const read of reads) needed.add(read)
  }
  return needed
}
