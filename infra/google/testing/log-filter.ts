/**
 * For tests: the part of the Logging query language that our metrics use. Comparisons by `=`, `>`, `>=` and `field:*` (is
 * there), joined by AND and OR, and parentheses; a mixture of AND and OR without them is refused, as OR binds tighter there
 * than elsewhere ("Logging query language", "Boolean operators").
 */

type Entry = Record<string, unknown>
type Filter = (entry: Entry) => boolean

const comparisons: Record<string, (found: unknown, wanted: unknown) => boolean> = {
  '=': (found, wanted) => found === wanted,
  '>': (found, wanted) => typeof found === 'number' && found > Number(wanted),
  '>=': (found, wanted) => typeof found === 'number' && found >= Number(wanted),
  ':': found => found !== undefined && found !== null,
}

/** @throws Error for what it does not know */
export function parseFilter(text: string): Filter {
  const inner: Filter[] = []
  const group = (_: string, words: string) => `#${inner.push(sequence(words, inner)) - 1}`
  for (let flat = text; ; flat = flat.replace(/\(([^()]*)\)/, group))
    if (!flat.includes('(')) return sequence(flat, inner)
    else if (!flat.includes(')')) throw new Error('a parenthesis is not closed')
}

/** @param inner what is in parentheses, which `#0` stands for */
function sequence(text: string, inner: Filter[]): Filter {
  const joints = new Set(text.match(/\b(AND|OR)\b/g))
  if (joints.size > 1) throw new Error('AND and OR without parentheses')
  const parts = text.split(/\s+(?:AND|OR)\s+/).map(part => {
    const [, at, field, operator, wanted] = /^\s*(?:#(\d+)|([\w.]+)(>?=|>|:)(.*?))\s*$/.exec(part) ?? []
    if (at) return inner[Number(at)]!
    if (!field) throw new Error(`not a comparison: ${part}`)
    const value: unknown = operator === ':' ? null : JSON.parse(wanted!)
    return (entry: Entry) => comparisons[operator!]!(valueAt(entry, field), value)
  })
  return entry => (joints.has('OR') ? parts.some(part => part(entry)) : parts.every(part => part(entry)))
}

/** @param path as `jsonPayload.status` */
export function valueAt(entry: Entry, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Entry | undefined)?.[key], entry)
}
