/**
 * SQL of a caller's own, over the tables that an endpoint defines and nothing else. What runs is printed from a
 * tree that was checked, never pasted from a text: a comment to one reader is a UNION ALL to another (rule 1).
 */
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { placeOf, SqlError } from '../sql/error.ts'
import { parse } from '../sql/parser.ts'
import { print } from '../sql/printer.ts'
import type { Query } from '../sql/tree.ts'
import { parameterNames } from '../sql/walk.ts'
import { compose } from './compose.ts'
import { check, Violation } from './rules.ts'
import { statementOf } from './statement.ts'
import { type EndpointTables, tablesOfEndpoint } from './tables.ts'

export interface Sandboxed {
  /** The statement to run. */
  sql: string
  /** The caller's query in its normal form, for the cache key: layout and comments make no difference. */
  normal: string
  /** The endpoint's tables that it reads, in the endpoint's spelling and order. */
  tables: string[]
  /** Names of the parameters in the statement. */
  parameters: string[]
}

/**
 * @throws ApiError `invalid_query` for what is no query or breaks a limit, `sandbox_violation` for one that reaches
 * outside; both with the place in the caller's text, and nothing that is not the caller's or the endpoint's offer
 */
export function sandbox(endpoint: Pick<Endpoint, 'sql' | 'parameters'>, callerSql: string): Sandboxed {
  const tables = tablesOfEndpoint(endpoint)
  const query = parseCaller(callerSql)
  const used = checkCaller(query, callerSql, tables, endpoint.parameters)
  const composed = compose(tables, used, query)
  return {
    sql: statementOf(composed, query, tables),
    normal: print(query),
    tables: [...tables.byKey].filter(([key]) => used.has(key)).map(([, { name }]) => name),
    parameters: [...parameterNames(composed).keys()],
  }
}

function parseCaller(sql: string): Query {
  try {
    return parse(sql)
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    const detail = error.message.slice(0, 300).toWellFormed()
    throw new ApiError('invalid_query', sentence(detail), {
      problems: [{ parameter: 'sql', ...error.place, detail }],
      cause: error,
    })
  }
}

function checkCaller(
  query: Query,
  sql: string,
  tables: EndpointTables,
  parameters: Endpoint['parameters'],
): Set<string> {
  try {
    return check(query, { tables: tables.byKey, parameters: new Set(Object.keys(parameters)) })
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    const names = [...tables.byKey.values()].map(({ name }) => name)
    const offer =
      names.length > 0 ? `The query may read ${names.join(', ')}.` : 'The query may read no table.'
    throw new ApiError(error.code, `${sentence(error.message)} ${offer}`, {
      problems: [{ parameter: 'sql', ...placeOf(sql, error.at), detail: error.message }],
      cause: error,
    })
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
