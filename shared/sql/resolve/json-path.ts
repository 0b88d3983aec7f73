/** JSONPaths (https://cloud.google.com/bigquery/docs/reference/standard-sql/json_functions#JSONPath_format). */

/** A key or an index. */
export type Step = string | number

/** One step of a path: a bare key, a key in quotes, or an index; JSON_EXTRACT has its quotes in brackets. */
const standardStep = /\.(?<bare>[^.[\]"'*$]+)|\."(?<quoted>(?:[^"\\]|\\.)*)"|\[\s*(?<index>-?\d+)\s*\]/y
const legacyStep = /\.(?<bare>[^.[\]"'*$]+)|\['(?<quoted>(?:[^'\\]|\\.)*)'\]|\[\s*(?<index>-?\d+)\s*\]/y

/** The steps of a function's JSONPath; `null` for any other text. */
export function stepsOf(name: string, path: string): Step[] | null {
  if (!path.startsWith('$')) return null
  const step = name.startsWith('JSON_EXTRACT') ? legacyStep : standardStep
  const steps: Step[] = []
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const groups = step.exec(path)?.groups
    if (!groups) return null
    const { bare, quoted, index } = groups
    steps.push(index === undefined ? (bare ?? quoted!.replace(/\\(.)/gs, '$1')) : Number(index))
  }
  return steps
}
