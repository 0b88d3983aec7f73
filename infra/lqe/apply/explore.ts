/** Checks `explore`: its tables are the endpoint's, and each path leads to a value of the type that is wanted. */
import { emptyBindings, type Explore } from '../../../shared/endpoints/definition.ts'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { tableQueries } from '../../../shared/sandbox/offered-tables.ts'
import { nameHint } from '../../../shared/sql/hints.ts'
import type { Column, SqlType } from '../../../shared/sql/types.ts'
import type { EndpointSource } from './read.ts'
import type { FileProblem } from './yaml.ts'

/** What each word may name: a column of the table's own, or a path into nested ones. */
const wanted = {
  time: { types: ['TIMESTAMP'], isNested: false },
  message: { types: ['STRING'], isNested: false },
  severity: { types: ['STRING', 'INT64', 'JSON'], isNested: true },
  fields: { types: null, isNested: true },
}

/** @throws EngineError */
export async function checkExplore(
  { endpoint, problem }: EndpointSource,
  engine: QueryEngine,
): Promise<FileProblem[]> {
  if (Object.keys(endpoint.explore).length === 0) return []
  const queries = new Map(tableQueries(endpoint).map(({ name, sql }) => [name, sql]))
  const problems: FileProblem[] = []
  for (const [table, explore] of Object.entries(endpoint.explore)) {
    const sql = queries.get(table)
    if (sql === undefined) {
      problems.push(
        problem(`/explore/${table}`, `is no table of the WITH; ${nameHint(table, queries.keys())}`, true),
      )
      continue
    }
    const { columns } = await engine.describe({ sql, bindings: emptyBindings(endpoint) })
    for (const [pointer, word, path] of pathsOf(explore)) {
      const detail = faultOf(path, columns, wanted[word])
      if (detail) problems.push(problem(`/explore/${table}/${pointer}`, detail))
    }
  }
  return problems
}

type Word = keyof typeof wanted

function pathsOf({ fields = [], ...columns }: Explore): [pointer: string, word: Word, path: string][] {
  return [
    ...Object.entries(columns).map(([word, path]): [string, Word, string] => [word, word as Word, path]),
    ...fields.map((path, i): [string, Word, string] => [`fields/${i}`, 'fields', path]),
  ]
}

/** @returns `null` where the path leads to a value of one of the types */
function faultOf(path: string, columns: Column[], { types, isNested }: (typeof wanted)[Word]): string | null {
  let within: readonly { name: string | null; type: SqlType }[] = columns
  let type: SqlType | null = null
  for (const name of path.split('.')) {
    if (type?.kind === 'JSON' && isNested) break // its fields are not in the schema
    const found = within.find(column => column.name === name)
    const known = within.flatMap(column => column.name ?? [])
    if (!found) return `names ${path}, and there is no ${name}; ${nameHint(name, known)}`
    type = found.type
    const inner: SqlType = isNested && type.kind === 'ARRAY' ? type.element : type
    within = inner.kind === 'STRUCT' && isNested ? inner.fields : []
    type = inner
  }
  if (type?.kind === 'STRUCT') return `names ${path}, which has fields of its own: name one of them`
  if (types !== null && !types.includes(type!.kind))
    return `must be ${types.join(' or ')}, and ${path} is ${type!.kind}`
  return null
}
