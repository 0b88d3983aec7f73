/** One step of a path: a key, bare or in quotes, or an index. DuckDB takes a `*` for a wildcard even in quotes. */
const step =
  /\.(?<bare>[^.[\]"'*\s]+)|\."(?<dotted>[^"*]*)"|\['(?<single>[^'"*]*)'\]|\["(?<double>[^"*]*)"\]|(?<index>\[\d+\])/y

/**
 * GoogleSQL's JSONPath (`$.a['b'][0]`) as DuckDB's, with every key quoted; `null` for text that is none.
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/json_functions#JSONPath_format
 */
export function duckJsonPath(path: string): string | null {
  if (!path.startsWith('$')) return null
  let result = '$'
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const groups = step.exec(path)?.groups
    if (!groups) return null
    const { bare, dotted, single, double, index } = groups
    result += index ?? `."${bare ?? dotted ?? single ?? double}"`
  }
  return result
}
