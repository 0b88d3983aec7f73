/**
 * What may be written at a place in the SQL: tables and columns as `/tables` tells them, fields behind an alias, also
 * that of an UNNEST, and the functions of the sandbox. Aliases are found by their look, as SQL half written parses badly.
 */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import type { ColumnDescription, TableDescription } from '../query/tables.ts'
import { functionNames, keywords } from './dialect.ts'

export function completionOf(tables: TableDescription[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w.]*/)
    if (!word || (word.text === '' && !context.explicit)) return null
    const aliases = aliasesIn(context.state.doc.toString(), tables)
    const dot = word.text.lastIndexOf('.')
    const from = word.from + dot + 1
    if (dot >= 0) {
      const fields = fieldsAt(word.text.slice(0, dot).split('.'), aliases)
      return fields.length === 0 ? null : { from, options: fields.flatMap(completion), validFor: /^\w*$/ }
    }
    const options = [...tables.map(tableCompletion), ...inReach(aliases), ...builtIns]
    return { from, options, validFor: /^\w*$/ }
  }
}

type Aliases = Map<string, ColumnDescription[]>

/** `FROM edge_logs AS t`, `UNNEST(t.metadata) AS m`: each name with the columns behind it. */
function aliasesIn(sql: string, tables: TableDescription[]): Aliases {
  const aliases: Aliases = new Map()
  for (const [, name, alias] of sql.matchAll(
    /\b(?:FROM|JOIN)\s+`?(\w+)`?(?:\s+(?:AS\s+)?(?!(?:CROSS|JOIN|LEFT|WHERE|ON|GROUP|ORDER|INNER|UNION|LIMIT)\b)(\w+))?/gi,
  )) {
    const table = tables.find(known => known.name === name)
    if (!table) continue
    aliases.set(table.name, table.columns)
    if (alias) aliases.set(alias, table.columns)
  }
  for (const [, path, alias] of sql.matchAll(/\bUNNEST\(\s*([\w.]+)\s*\)\s*(?:AS\s+)?(\w+)/gi))
    aliases.set(alias!, fieldsAt(path!.split('.'), aliases))
  return aliases
}

/** The fields behind a path such as `t.metadata` or, without a table, `metadata`. */
function fieldsAt(path: string[], aliases: Aliases): ColumnDescription[] {
  const [first, ...rest] = path
  const start = aliases.get(first!)
  const columns = start ?? [...aliases.values()].flat()
  return (start ? rest : path).reduce<ColumnDescription[]>(
    (fields, name) => fields.find(field => field.name === name)?.fields ?? [],
    columns,
  )
}

function inReach(aliases: Aliases): Completion[] {
  const names = [...aliases.keys()].map(label => ({ label, type: 'variable', detail: 'alias', boost: 1 }))
  const columns = [...new Set([...aliases.values()].flat())].flatMap(completion)
  return unique([...columns, ...names])
}

function tableCompletion({ name }: TableDescription): Completion {
  return { label: name, type: 'class', detail: 'table', boost: 2 }
}

function completion({ name, type, repeated }: ColumnDescription): Completion[] {
  return name === null
    ? []
    : [{ label: name, type: 'property', detail: repeated ? `${type}, repeated` : type, boost: 3 }]
}

function unique(options: Completion[]): Completion[] {
  return [...new Map(options.toReversed().map(option => [option.label, option])).values()]
}

const builtIns: Completion[] = [
  ...keywords.map(word => ({ label: word.toUpperCase(), type: 'keyword' })),
  ...functionNames.map(label => ({ label, type: 'function', apply: `${label}(` })),
]
