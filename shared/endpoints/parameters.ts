/** Reads typed parameters from a query string, under the key's pins, for the engine and, as text, for the cache key. */
import { LRUCache } from 'lru-cache'
import type { Binding, Value } from '../engines/engine.ts'
import {
  type Endpoint,
  definitionError,
  pageParameters,
  parameterColumns,
  type ParameterDefinition,
  type Scalar,
} from './definition.ts'
import { ApiError, type Problem } from '../errors.ts'
import { withoutKeys } from '../key-text.ts'
import { nearestName } from '../sql/hints.ts'
import { beginning, visible } from '../visible-text.ts'
import { booleans, type Pair, repeated, reservedNames, splitQuery, undecodable } from './query-string.ts'
import { boundedRegExp } from './bounded-regexp.ts'
import { isoTimestamp, isRelative, relativeTime } from './timestamps.ts'

export interface Parameters {
  /** One binding for each declared parameter, sorted by name; an absent one is bound as NULL. */
  bindings: Binding[]
  /** Text of the bindings: equal for equal parameters, however they were written, and different for others. */
  canonical: string
  /** Names of those whose values the caller chose: neither defaults nor pins. */
  sent: string[]
  /** What relative times stand for, by the parameter's name: `-1h` -> `2026-01-31T12:00:00.000000Z`. */
  resolved: Record<string, string>
  /** Names that were sent and are not declared, redacted as the answer is, with hidden characters escaped, and cut. */
  undeclared: string[]
  /** Of those, for a header: plain names only, ten at most. */
  ignored: string[]
  /** Those whose name is near a declared one that was not sent, with that name. */
  misspelt: Record<string, string>
}

/** Longer strings are refused where the definition says nothing else. */
const defaultMaxLength = 1000

/**
 * Reads the parameters of a call.
 * @param query the raw query string, without `?`
 * @param pins parameters that the caller's key fixes: name -> decoded text
 * @param now what relative times count from; see `presentFor`
 * @param redact redacts the unknown names that the error repeats, as they may hold personal data
 * @throws ApiError `invalid_parameter` naming every parameter that is missing, repeated or malformed;
 *   `pinned_parameter` for another value than the key's, or a pin that the endpoint cannot apply; `internal` for a default
 *   that does not fit its own parameter
 */
export function readParameters(
  endpoint: Endpoint,
  query: string,
  pins: Record<string, string>,
  now = new Date(),
  redact = (name: string) => name,
): Parameters {
  const { sent, undeclared, problems } = declaredOnly(endpoint, splitQuery(query), redact)
  const values = new Map<string, Scalar | null>()
  const resolved: Record<string, string> = {}
  const refused = new Set(problems.map(problem => problem.parameter))
  const chosen = Object.keys(endpoint.parameters).filter(name => sent.get(name))
  for (const [name, definition] of Object.entries(endpoint.parameters)) {
    if (refused.has(name)) continue
    const text = sent.get(name) || ownValue(pins, name)
    const value = valueOf(definition, text, now)
    const isTime = definition.format === 'iso-timestamp' && typeof value === 'string'
    if (isTime && isRelative(text ?? String(definition.default))) resolved[name] = value
    if (value instanceof Invalid) problems.push({ parameter: name, detail: value.detail })
    else if (value === null && endpoint.required.includes(name))
      problems.push({ parameter: name, detail: missing(name, definition, undeclared) })
    else {
      values.set(name, value)
      if (value !== null)
        problems.push(...misfits(definition, value).map(detail => ({ parameter: name, detail })))
    }
  }
  if (problems.length > 0) throw refusalOf(endpoint, problems, [...refused, ...chosen], pins)
  applyPins(endpoint, values, pins, now)
  const bindings = bindingsOf(endpoint, values)
  return {
    bindings,
    canonical: canonicalOf(bindings),
    sent: chosen.filter(name => ownValue(pins, name) === undefined),
    resolved,
    undeclared,
    ignored: undeclared
      .slice(0, maxNames)
      .filter(name => /^[A-Za-z0-9_.-]+$/.test(name))
      .slice(0, 10),
    misspelt: misspellingsIn(
      undeclared,
      Object.keys(endpoint.parameters).filter(name => !sent.get(name)),
    ),
  }
}

/** A problem is the caller's where it chose the value, or left out what nothing else gives. */
function refusalOf(
  endpoint: Endpoint,
  problems: Problem[],
  chosen: (string | undefined)[],
  pins: Record<string, string>,
): ApiError {
  const isPinned = ({ parameter = '' }: Problem) => ownValue(pins, parameter) !== undefined
  const isPreset = ({ parameter = '' }: Problem) => endpoint.parameters[parameter]?.default !== undefined
  const ofCaller = problems.filter(
    problem => chosen.includes(problem.parameter) || !(isPinned(problem) || isPreset(problem)),
  )
  if (ofCaller.length > 0) return ApiError.of('invalid_parameter', ...ofCaller)
  const { parameter: name = '', detail } = problems.find(isPinned) ?? problems[0]!
  if (ownValue(pins, name) !== undefined)
    return pinError(name, `is fixed by the API key to a value that ${detail}`)
  return definitionError(endpoint, `the default of ${name} ${detail}`)
}

/**
 * What relative times in a call count from: this moment; on an endpoint with a cache, the whole minute that it is in, so that
 * the calls of a minute share an answer.
 */
export function presentFor({ cacheSeconds }: Pick<Endpoint, 'cacheSeconds'>, now: number | string): Date {
  const moment = new Date(now)
  return cacheSeconds === 0 ? moment : new Date(Math.floor(moment.getTime() / 60_000) * 60_000)
}

/**
 * Reads bindings back from their canonical text.
 * @returns `null` for a text that is not canonical for this endpoint
 */
export function bindingsFrom(endpoint: Endpoint, canonical: string): Binding[] | null {
  try {
    const bindings = bindingsOf(endpoint, new Map(JSON.parse(canonical) as [string, Value][]))
    return canonicalOf(bindings) === canonical ? bindings : null
  } catch {
    return null
  }
}

function bindingsOf(endpoint: Endpoint, values: Map<string, Value>): Binding[] {
  return parameterColumns(endpoint).map(column => ({ ...column, value: values.get(column.name) ?? null }))
}

function canonicalOf(bindings: Binding[]): string {
  return JSON.stringify(bindings.map(({ name, value }) => [name, value]))
}

class Invalid {
  readonly detail: string
  constructor(detail: string) {
    this.detail = detail
  }
}

const pageNames: ReadonlySet<string> = new Set(pageParameters)

/** Whether calls of the endpoint may have a parameter of this name. */
export function takes(endpoint: Endpoint, name: string): boolean {
  return isCommon(endpoint, name) || Object.hasOwn(endpoint.parameters, name)
}

function isCommon(endpoint: Endpoint, name: string): boolean {
  return reservedNames.has(name) || (endpoint.page !== null && pageNames.has(name))
}

function declaredOnly(endpoint: Endpoint, pairs: readonly Pair[], redact: (name: string) => string) {
  const sent = new Map<string, string>()
  const undeclared = new Set<string>()
  const problems: Problem[] = []
  for (const { name, value } of pairs) {
    if (isCommon(endpoint, name)) continue
    if (!Object.hasOwn(endpoint.parameters, name))
      undeclared.add(shownName(undeclared.size < maxNames ? redact(name) : name))
    else if (sent.has(name)) problems.push({ parameter: name, detail: repeated })
    else if (value === null) problems.push({ parameter: name, detail: undecodable })
    sent.set(name, value ?? '')
  }
  return { sent, undeclared: [...undeclared], problems }
}

function shownName(name: string): string {
  return beginning(visible(withoutKeys(name)), 64) || '(no name)'
}

const maxNames = 20

/** The first of the names, and how many more there are. */
export function someOf(names: string[]): string[] {
  const more = names.length - maxNames
  return more > 0 ? [...names.slice(0, maxNames), `and ${more} more`] : names
}

function ownValue(pins: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(pins, name) ? pins[name] : undefined
}

function valueOf(
  definition: ParameterDefinition,
  text: string | undefined,
  now: Date,
): Scalar | Invalid | null {
  if (text) return parseValue(definition, text, now)
  const { default: preset = null, format } = definition
  return preset !== null && format === 'iso-timestamp' ? parseValue(definition, String(preset), now) : preset
}

/** Reads a value from its text in a query string, by the declared type. */
function parseValue(definition: ParameterDefinition, text: string, now: Date): Scalar | Invalid {
  if (definition.format === 'iso-timestamp')
    return (isRelative(text) ? relativeTime(text, now) : isoTimestamp(text)) ?? new Invalid(notIso(text))
  return readers[definition.type](text)
}

const readers: Record<ParameterDefinition['type'], (text: string) => Scalar | Invalid> = {
  string: text => (text.includes('\0') ? new Invalid('must not contain the character U+0000') : text),
  integer: text => {
    const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) + 0 : Number.NaN
    return Number.isSafeInteger(value) ? value : new Invalid('must be a whole number within ±(2^53 - 1)')
  },
  number: text => {
    const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) + 0 : Number.NaN
    return Number.isFinite(value) ? value : new Invalid('must be a number such as 12 or 0.5')
  },
  boolean: text => booleans.get(text.toLowerCase()) ?? new Invalid('must be true or false'),
}

/**
 * Why a call could not have this value for its parameter, such as a default that does not fit its own definition.
 * @param value as the definition has it, or, as a pin of a key has it, as text
 * @returns `null` where it could
 */
export function misfitOf(
  definition: ParameterDefinition,
  value: { json: Scalar } | { text: string },
): string | null {
  const text = 'text' in value ? value.text : String(value.json)
  // YAML reads digits past 2^53 as another number, which only the bounds of a call's text would show.
  const isInteger = definition.type === 'integer' && 'json' in value && Number.isInteger(value.json)
  const isText = 'text' in value || isInteger || definition.format === 'iso-timestamp'
  const read = isText ? parseValue(definition, text, new Date()) : value.json
  if (read instanceof Invalid) return read.detail
  return misfits(definition, read).join('; ') || null
}

function notIso(text: string): string {
  const hint = /\d \d\d:?\d\d$/.test(text) ? '; in a URL, write the + of a time zone as %2B' : ''
  return `must be an ISO 8601 time such as 2026-01-31T12:00:00Z, or a relative one such as -1h${hint}`
}

function misspellingsIn(undeclared: string[], declared: string[]): Record<string, string> {
  const near = undeclared.slice(0, maxNames).map(name => [name, nearestName(name, declared)])
  return Object.fromEntries(near.filter(([, meant]) => meant !== null))
}

function missing(name: string, definition: ParameterDefinition, undeclared: string[]): string {
  const choices = definition.enum ? `: one of ${definition.enum.join(', ')}` : ''
  const [misspelt] = Object.keys(misspellingsIn(undeclared, [name]))
  const hint = misspelt === undefined ? '' : `; ${misspelt} was ignored: did you mean ${name}?`
  return `is required and must not be empty${choices}${hint}`
}

/** Why a value does not fit its definition, as JSON Schema has it, in words. A compiler of schemas takes 10 ms of a cold start. */
function misfits(
  {
    type,
    enum: choices,
    pattern,
    minLength = 0,
    maxLength = defaultMaxLength,
    ...range
  }: ParameterDefinition,
  value: Scalar,
): string[] {
  const { minimum = -Infinity, maximum = Infinity } = range
  const isType = type === 'integer' ? Number.isInteger(value) : typeof value === type
  const text = typeof value === 'string' ? value : null
  const length = text === null ? Number.NaN : Array.from(text).length
  const number = typeof value === 'number' ? value : Number.NaN
  const problems: [is: boolean, detail: string][] = [
    [choices?.includes(value as string) === false, `must be one of ${choices?.join(', ')}`],
    [!isType, `must be ${type}`],
    [number > maximum, `must be at most ${maximum}`],
    [number < minimum, `must be at least ${minimum}`],
    [length > maxLength, `is longer than ${maxLength} characters`],
    [length < minLength, `is shorter than ${minLength} characters`],
    [!!pattern && text !== null && !patterns.memo(pattern).test(text), `must match ${pattern}`],
  ]
  return problems.flatMap(([is, detail]) => (is ? [detail] : []))
}

const patterns = new LRUCache<string, Pick<RegExp, 'test'>>({
  max: 200,
  memoMethod: source => boundedRegExp(source, 'u'),
})

/** A pin that the endpoint cannot apply would leave the caller without its bound, so it closes the endpoint. */
function applyPins(
  endpoint: Endpoint,
  values: Map<string, Scalar | null>,
  pins: Record<string, string>,
  now: Date,
) {
  for (const [name, text] of Object.entries(pins)) {
    const definition = Object.hasOwn(endpoint.parameters, name) ? endpoint.parameters[name] : undefined
    if (!definition)
      throw pinError(name, 'is fixed by the API key, and this endpoint has no such parameter to apply it to')
    const fixed = parseValue(definition, text, now)
    if (fixed instanceof Invalid)
      throw pinError(name, `is fixed by the API key to a value that ${fixed.detail}`)
    if (values.get(name) !== fixed) throw pinError(name, 'is fixed by the API key; leave it out')
  }
}

/** A pin of the key closes the endpoint, or the value that was sent. */
export function pinError(parameter: string, detail: string): ApiError {
  return ApiError.of('pinned_parameter', { parameter, detail })
}
