/** The real tables that a query reads, and where its values come from unchanged: which columns of them, and which fields of those. */
import { nameKey } from './relations.ts'
import type { Column, Resolution } from './resolve/resolution.ts'
import { resolve } from './resolve/resolve.ts'
import type { AnyNode, Expression, From, Query, TableReference } from './tree.ts'
import { descendants, descendantsHere } from './walk.ts'

/** For a query alone: the columns of tables are not known. */
const noCatalog = {
  columnsOf: () => ({ unknown: 'the columns are not known' }),
  tables: [],
  parameters: new Map(),
}

/** What the names of a query stand for as far as its text says it. */
export function resolvedAlone(query: Query): Resolution {
  return resolve('', query, noCatalog)
}

/**
 * Every reference to a real table, in the order of the text: neither to a common table in scope nor to an array of a
 * row in scope. A doubtful reference is among them, so that none which could read a table is missing.
 */
export function tablesOf(query: Query, resolution = resolvedAlone(query)): TableReference[] {
  return realTables(descendants(query), resolution)
}

/** Those of a FROM itself, and of no query inside it. */
export function tablesOfFrom(from: From, resolution: Resolution): TableReference[] {
  return realTables(descendantsHere(from), resolution)
}

function realTables(nodes: Iterable<AnyNode>, { tables }: Resolution): TableReference[] {
  const isReal = (node: AnyNode) =>
    node.kind === 'TableReference' && !/^(common|array)$/.test(tables.get(node) ?? '')
  return [...nodes].filter(isReal) as TableReference[]
}

export interface Source {
  /** The real table; or else what is computed, or is of a place that is not known. */
  of: TableReference | Expression | Column
  /** The keys of the column and of the fields below it, with `[]` for an element of an array. */
  path: readonly string[]
}

/** Follows the columns of one query. */
export class Lineage {
  private readonly resolution: Pick<Resolution, 'paths' | 'numbers'>
  /** Two queries of a UNION may be made of two each, and so on: each column is followed once. */
  private readonly known = new Map<Column, readonly Source[]>()

  constructor(resolution: Pick<Resolution, 'paths' | 'numbers'>) {
    this.resolution = resolution
  }

  /** What a value or a key of ORDER BY may be, each once: a name may be of several tables. */
  sourcesOf(expression: Expression): readonly Source[] {
    const { paths, numbers } = this.resolution
    const item = expression.kind === 'Literal' && numbers.get(expression)
    if (item) return this.sourcesOfColumn(item)
    const reference = expression.kind === 'Path' ? paths.get(expression) : null
    if (expression.kind !== 'Path' || !reference?.column) return [{ of: expression, path: [] }]
    const fields = expression.parts.slice(reference.parts).map(({ name }) => nameKey(name))
    return below(this.sourcesOfColumn(reference.column), fields)
  }

  /** The real table that a value is of, `null` where that is none, or not certain. */
  tableOf(expression: Expression): TableReference | null {
    const [of, ...others] = new Set(this.sourcesOf(expression).map(source => source.of))
    return isTable(of!) && others.length === 0 ? of : null
  }

  /** Whether both are of one place. */
  isSame(one: Expression, other: Expression): boolean {
    return this.isWithin(one, other) && this.isWithin(other, one)
  }

  /** Whether a value is another one, or a field of it. */
  isWithin(value: Expression, other: Expression): boolean {
    const [inner, outer] = [this.sourcesOf(value), this.sourcesOf(other)]
    const isBelow = (source: Source, { of, path }: Source) =>
      source.of === of && path.every((name, at) => source.path[at] === name)
    return inner.every(source => outer.some(each => isBelow(source, each)))
  }

  private sourcesOfColumn(column: Column): readonly Source[] {
    const known = this.known.get(column) ?? unique(this.follow(column))
    this.known.set(column, known)
    return known
  }

  private follow(column: Column): readonly Source[] {
    const { from, name } = column
    switch (from.kind) {
      case 'table':
        return [{ of: from.table, path: [nameKey(name!)] }]
      case 'field':
        return below(this.sourcesOfColumn(from.of), [nameKey(name ?? '')])
      case 'array':
        return below(this.sourcesOf(from.array), ['[]'])
      case 'item':
        return this.sourcesOf(from.item.expression)
      case 'columns':
        if (from.columns.length > 0) return from.columns.flatMap(each => this.sourcesOfColumn(each))
        return [{ of: column, path: [] }]
      case 'node':
      case 'offset':
      case 'turned':
        return [{ of: column, path: [] }]
    }
  }
}

function isTable(of: Source['of']): of is TableReference {
  return 'kind' in of && of.kind === 'TableReference'
}

function below(sources: readonly Source[], fields: string[]): readonly Source[] {
  if (fields.length === 0) return sources
  return sources.map(({ of, path }) => ({ of, path: [...path, ...fields] }))
}

function unique(sources: readonly Source[]): Source[] {
  const seen = new Map<Source['of'], Set<string>>()
  return sources.filter(({ of, path }) => {
    const paths = seen.get(of) ?? new Set()
    seen.set(of, paths)
    return paths.size < paths.add(JSON.stringify(path)).size
  })
}
