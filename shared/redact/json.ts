/**
 * A text that is JSON as a whole is redacted value by value, with the rules of `rows.ts`, and keeps its own spacing, the form of
 * its numbers and names that it has twice: so it stays JSON, and nothing in one of its strings reaches into the next.
 */
import { replacement } from './personal-class.ts'
import { closingQuote } from './quoted.ts'
import {
  type Place,
  placeBelow,
  placeInList,
  placeOf,
  type Policy,
  redactNumber,
  redactString,
} from './rows.ts'

/** An object or a list around the place that is read. */
interface Around {
  place: Place
  /** Where the next value stands: in a list, the place of the list. */
  below: Place
  isObject: boolean
  /** How many names, or elements of a list, have been read. */
  names: number
  /** In a list, the string before. */
  before?: string | undefined
}

/** A sign, or a number or a word, or the mark that opens a string. */
const token = /["{}[\],:]|[^\s"{}[\],:]+/g

/** @returns the text with personal data replaced, or `null` where it is no object, list or string in JSON */
export function redactJson(text: string, policy: Policy): string | null {
  if (!isJson(text)) return null
  const root = placeOf('', policy)
  const outer: Around[] = [{ place: root, below: root, isObject: false, names: 0 }]
  let [written, from, isName] = ['', 0, false]
  for (let at = nextToken(text, 0); at < text.length; at = nextToken(text, token.lastIndex)) {
    const around = outer.at(-1)!
    const sign = text.charAt(at)
    if (sign === '"') token.lastIndex = closingQuote(text, at + 1, '"') + 1
    const end = token.lastIndex
    if (sign === '{' || sign === '[') {
      around.before = undefined
      if (!around.isObject) around.names++
      isName = sign === '{'
      outer.push({ place: around.below, below: around.below, isObject: isName, names: 0 })
    } else if (sign === '}' || sign === ']') outer.pop()
    else if (sign === ',') isName = around.isObject
    else if (sign === ':') isName = false
    else {
      if (isName) around.below = placeBelow(around.place, around.names++, stringAt(text, at, end), policy)
      const redacted = isName
        ? redactedName(around.below)
        : redactedScalar(placeOfScalar(around, text, at, end, policy), text, at, end, policy)
      token.lastIndex = end
      if (redacted === null) continue
      written += text.slice(from, at) + JSON.stringify(redacted)
      from = end
    }
  }
  return written + text.slice(from)
}

function isJson(text: string): boolean {
  if (!/^\s*[{["]/.test(text) || !/[}\]"]/.test(text.trimEnd().slice(-1))) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function nextToken(text: string, from: number): number {
  token.lastIndex = from
  return token.exec(text)?.index ?? text.length
}

function stringAt(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner
}

function redactedName({ name, redactedName }: Place): string | null {
  return redactedName === name ? null : redactedName
}

function placeOfScalar(around: Around, text: string, start: number, end: number, policy: Policy): Place {
  if (around.isObject) return around.below
  const { below, before } = around
  around.before = text.charAt(start) === '"' ? stringAt(text, start, end) : undefined
  const isPair = around.names++ === 1 && text.charAt(nextToken(text, end)) === ']'
  return placeInList(below, before, around.before, isPair, policy)
}

/** `null` where a string, a number or a word stays as it is written. */
function redactedScalar(
  place: Place,
  text: string,
  start: number,
  end: number,
  policy: Policy,
): string | null {
  if (text.charAt(start) === '"') {
    const string = stringAt(text, start, end)
    const redacted = redactString(place, string, policy)
    return redacted === string ? null : redacted
  }
  const number = Number(text.slice(start, end))
  return !Number.isNaN(number) && redactNumber(place, number) === replacement ? replacement : null
}
