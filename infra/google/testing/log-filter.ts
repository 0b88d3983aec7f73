/**
 * For tests: the part of the Logging query language that our metrics use. Comparisons by `=`, `>`, `>=` and `field:*` (is
 * there), joined by AND and OR, and parentheses; a mixture of AND and OR without them is refused, as OR binds tighter there
 * than elsewhere ("Logging query language", "Boolean operators").
 */

type Entry = Record<string, unknown>
type Filter = (entry: Entry) => boolean

const token = /[()]|>=|=|>|:\*|"[^"]*"|[\w.]+|\S/g

const comparisons: Record<string, (found: unknown, wanted: unknown) => boolean> = {
  '=': (found, wanted) => found === wanted,
  '>': (found, wanted) => typeof found === 'number' && found > Number(wanted),
  '>=': (found, wanted) => typeof found === 'number' && found >= Number(wanted),
  ':*': found => found !== undefined && found !== null,
}

/** @throws Error for what it does not know */
export function parseFilter(text: string): Filter {
  const words: string[] = text.match(token) ?? []
  const filter = parseSequence(words)
  if (words.length > 0) throw new Error(`more than a filter: ${words.join(' ')}`)
  return filter
}

function parseSequence(words: string[]): Filter {
  const parts = [parsePart(words)]
  const joints = new Set<string>()
  while (words[0] === 'AND' || words[0] === 'OR') {
    joints.add(words.shift()!)
    parts.push(parsePart(words))
  }
  if (joints.size > 1) throw new Error('AND and OR without parentheses')
  return joints.has('OR')
    ? entry => parts.some(part => part(entry))
    : entry => parts.every(part => part(entry))
}

function parsePart(words: string[]): Filter {
  const field = words.shift() ?? ''
  if (field === '(') {
    const inner = parseSequence(words)
    if (words.shift() !== ')') throw new Error('a parenthesis is not closed')
    return inner
  }
  const operator = words.shift() ?? ''
  const compare = comparisons[operator]
  if (!compare) throw new Error(`not a comparison: ${field} ${operator}`)
  const wanted: unknown = operator === ':*' ? null : JSON.parse(words.shift() ?? '')
  return entry => compare(valueAt(entry, field), wanted)
}

/** @param path as `jsonPayload.status` */
export function valueAt(entry: Entry, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Entry | undefined)?.[key], entry)
}
