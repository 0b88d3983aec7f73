/**
 * JSON text, and JSON_VALUE and its like over strings. GoogleSQL reads those from the left until the path's value is complete,
 * so text that is cut off or goes wrong behind it still has that value. Strings may stand in single quotes, commas at the end
 * of a list. Numbers keep the digits that were written. The rewriting leaves text that is plain JSON to DuckDB.
 */
import { memoize, scalar, type ScalarFunction } from './udf.ts'

/** A key or an index. */
export type Step = string | number

/** Makes values of what stands in a text, from the inside out. */
export interface Maker<Value> {
  /** Of null, true, false or a number, as it is written. */
  word(text: string): Value
  string(text: string): Value
  array(items: Value[]): Value
  /** Keys may be equal. */
  object(fields: [key: string, value: Value][]): Value
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\.)/y
const literal = /(?:null|true|false)(?![A-Za-z0-9_])/y
const blanks = /\s*/y

/** The text goes wrong or ends before the value is complete, or is too deep. */
export class Broken extends Error {}

export class JsonReader<Value> {
  private readonly text: string
  private readonly make: Maker<Value>
  private readonly deepest: number
  private at = 0

  constructor(text: string, make: Maker<Value>, deepest: number) {
    this.text = text
    this.make = make
    this.deepest = deepest
  }

  /** The first value at a path; null where there is none. Throws Broken. */
  find(steps: Step[], depth = 0): Value | null {
    const step = steps[depth]
    if (step === undefined) return this.value(depth)
    if (depth > this.deepest) throw new Broken()
    const sign = this.peek()
    // A key of digits is an index where there is an array.
    const index = typeof step === 'number' ? step : /^\d+$/.test(step) ? Number(step) : -1
    let found: Value | null = null
    let at = 0
    // Behind a key that leads nowhere an equal one may lead on.
    const inside = (isStep: boolean) => {
      if (isStep) found = this.find(steps, depth + 1)
      else this.skip(depth + 1)
      return found !== null
    }
    if (typeof step === 'string' && sign === '{') this.list('}', () => inside(this.key() === step))
    else if (index >= 0 && sign === '[') this.list(']', () => inside(at === index) || at++ === index)
    else this.skip(depth)
    return found
  }

  /** Past a value that is not asked for. */
  private skip(depth: number): void {
    const sign = this.peek()
    if (sign === '{' || sign === '[') this.value(depth)
    else if (sign === '"' || sign === "'") this.string()
    else if (this.match(literal) === null && this.match(number) === null) throw new Broken()
  }

  /** Throws Broken. */
  value(depth = 0): Value {
    if (depth > this.deepest) throw new Broken()
    const sign = this.peek()
    if (sign === '{') return this.object(depth)
    if (sign === '[') return this.array(depth)
    if (sign === '"' || sign === "'") return this.make.string(this.string())
    const word = this.match(literal) ?? this.match(number)
    if (word === null) throw new Broken()
    return this.make.word(word)
  }

  private object(depth: number): Value {
    const fields: [string, Value][] = []
    this.list('}', () => {
      fields.push([this.key(), this.value(depth + 1)])
      return false
    })
    return this.make.object(fields)
  }

  private array(depth: number): Value {
    const items: Value[] = []
    this.list(']', () => {
      items.push(this.value(depth + 1))
      return false
    })
    return this.make.array(items)
  }

  /** The items between the sign here and `end`; ends early once `item` is satisfied. */
  private list(end: string, item: () => boolean): void {
    this.at++
    while (this.peek() !== end) {
      if (item()) return
      if (this.peek() === ',') this.at++
      else if (this.peek() !== end) throw new Broken()
    }
    this.at++
  }

  private key(): string {
    const key = this.string()
    if (this.peek() !== ':') throw new Broken()
    this.at++
    return key
  }

  private string(): string {
    const quote = this.peek()
    if (quote !== '"' && quote !== "'") throw new Broken()
    const end = this.text.indexOf(quote, this.at + 1)
    const plain = this.text.slice(this.at + 1, Math.max(end, 0))
    if (end >= 0 && !plain.includes('\\')) {
      this.at = end + 1
      return plain
    }
    let text = ''
    let from = ++this.at
    for (; ; this.at++) {
      const sign = this.text[this.at]
      if (sign === undefined) throw new Broken()
      if (sign !== quote && sign !== '\\') continue
      text += this.text.slice(from, this.at)
      if (sign === quote) break
      text += this.escaped()
      from = this.at + 1
    }
    this.at++
    return text
  }

  /** The character that an escape stands for; leaves off at its last sign. */
  private escaped(): string {
    const sign = this.text[++this.at]
    if (sign === undefined) throw new Broken()
    if (sign !== 'u') return escapes[sign] ?? sign
    const digits = this.text.slice(this.at + 1, this.at + 5)
    if (!/^[\da-fA-F]{4}$/.test(digits)) throw new Broken()
    this.at += 4
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  private peek(): string {
    const sign = this.text[this.at] ?? ''
    if (sign > ' ' && sign < '\u007f') return sign
    this.match(blanks)
    return this.text[this.at] ?? ''
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at
    const [text] = pattern.exec(this.text) ?? []
    if (text === undefined) return null
    this.at += text.length
    return text
  }
}

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function quote(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** A path as the rewriting has it, a list of its steps in JSON. */
export const stepsOf = memoize(path => JSON.parse(path) as Step[])

/** A value as text: of a scalar its plain text, of any its JSON. */
interface Found {
  json: string
  scalar: string | null
  items: Found[] | null
}

const asWritten: Maker<Found> = {
  word: text => ({ json: text, scalar: text === 'null' ? null : text, items: null }),
  string: text => ({ json: quote(text), scalar: text, items: null }),
  array: items => ({ json: `[${items.map(({ json }) => json).join(',')}]`, scalar: null, items }),
  object(fields) {
    const written = fields.map(([key, { json }]) => `${quote(key)}:${json}`)
    return { json: `{${written.join(',')}}`, scalar: null, items: null }
  },
}

/** Deeper text is taken for none. */
const deepest = 1_000

function findPath(text: string, path: string): Found | null {
  try {
    return new JsonReader(text, asWritten, deepest).find(stepsOf(path))
  } catch (error) {
    if (error instanceof Broken) return null
    throw error
  }
}

/** The items of an array at a path as text; null for any other value, and where an item has no such text. */
function items(text: string, path: string, take: (item: Found) => string | null): string[] | null {
  const list = findPath(text, path)?.items
  if (!list) return null
  return list.map(take) as string[]
}

export const jsonTextFunctions: Record<string, ScalarFunction> = {
  gsql_json_scalar_in: scalar(
    ['VARCHAR', 'VARCHAR'],
    'VARCHAR',
    (text, path) => findPath(text, path)?.scalar?.toWellFormed() ?? null,
  ),
  gsql_json_value_in: scalar(
    ['VARCHAR', 'VARCHAR'],
    'VARCHAR',
    (text, path) => findPath(text, path)?.json ?? null,
  ),
  gsql_json_values_in: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR[]', (text, path) =>
    items(text, path, ({ json }) => json),
  ),
  gsql_json_scalars_in: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR[]', (text, path) => {
    const list = findPath(text, path)?.items
    if (!list || list.some(item => item.json.startsWith('{') || item.items)) return null
    return list.map(item => item.scalar)
  }),
}
