/** How deep what comes from outside may be nested, so that no walk over it can overflow the stack. */

/** BigQuery's own limit for JSON: https://cloud.google.com/bigquery/quotas#standard_tables */
const maxLevels = 500

export const tooDeep = `is nested deeper than ${maxLevels} levels`

/** Whether a text that may be JSON nests too deeply. `JSON.parse` takes any depth; `JSON.stringify` overflows at some 4,000. */
export function isDeepJson(text: string): boolean {
  let depth = 0
  let inString = false
  if (text.length < maxLevels) return false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '"') inString = !inString
    else if (inString) continue
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (depth > maxLevels) return true
  }
  return false
}

/** Whether a value without cycles nests too deeply. It is called before any other walk, so it keeps to the bound itself. */
export function isDeepValue(value: unknown, levels = maxLevels): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(item => isDeepValue(item, levels - 1))
}
