/** Names, literals and values of fields as SQL: quoted here and nowhere else, through the lists on their way, inside JSON. */
import type { Field } from './shape.ts'
import type { Scalar, Severity } from './state.ts'
import { reservedWords } from '../../../shared/sql/grammar.ts'
import { brief } from '../../../shared/answers/times.ts'

/** Lists on the ways to values, each opened once. */
export class Joins {
  readonly lists: { list: string; alias: string }[] = []

  get clauses(): string[] {
    return this.lists.map(({ list, alias }) => `LEFT JOIN UNNEST(${list}) AS ${alias} ON TRUE`)
  }

  value(field: Field): string {
    return shownAsText(this.chain(field), field)
  }

  chain({ steps, json }: Field): string {
    const reached = steps.reduce((above, step) => {
      const here = `${above}.${name(step.name!)}`
      return step.repeated ? this.open(here, step.name!) : here
    }, 't')
    return inJson(reached, json)
  }

  private open(list: string, wanted: string): string {
    const known = this.lists.find(other => other.list === list)
    if (known) return known.alias
    const taken = (alias: string) => alias === 't' || this.lists.some(other => other.alias === alias)
    let alias = name(wanted)
    for (let i = 2; taken(alias); i++) alias = name(`${wanted}_${i}`)
    this.lists.push({ list, alias })
    return alias
  }
}

/** A column of the table itself. */
export function at({ steps }: Field): string {
  return `t.${name(steps[0]!.name!)}`
}

/** The value, or the first of each list on the way. */
export function first({ steps, json }: Field): string {
  const reached = steps.reduce(
    (above, step) => `${above}.${name(step.name!)}${step.repeated ? '[SAFE_OFFSET(0)]' : ''}`,
    't',
  )
  return inJson(reached, json)
}

/** A value inside JSON, as text. */
export function inJson(column: string, json: string | undefined): string {
  return json === undefined ? column : `JSON_VALUE(${column}, ${string(json)})`
}

const levels: Record<Exclude<Severity, 'other'>, string[]> = {
  error: ['error', 'err', 'fatal', 'panic', 'critical', 'crit', 'alert', 'emergency', 'emerg'],
  warning: ['warning', 'warn'],
  info: ['info', 'notice', 'log', 'information'],
  debug: ['debug', 'trace', 'verbose', 'debug1', 'debug2', 'debug3', 'debug4', 'debug5'],
}

/** The severity of a value as an answer has it, by the rules of `severityOf`. */
export function severityIn(value: unknown): Severity {
  if (typeof value === 'number')
    return value >= 500 ? 'error' : value >= 400 ? 'warning' : value >= 100 ? 'info' : 'other'
  const word = String(value).toLowerCase()
  const found = Object.entries(levels).find(([, words]) => words.includes(word))
  return (found?.[0] as Severity | undefined) ?? 'other'
}

/** A status of HTTP by its hundreds, a level by its name. */
export function severityOf(field: Field): string {
  const value = first(field)
  if (field.type === 'INT64')
    return `CASE WHEN ${value} >= 500 THEN 'error' WHEN ${value} >= 400 THEN 'warning' WHEN ${value} >= 100 THEN 'info' ELSE 'other' END`
  const cases = Object.entries(levels).map(
    ([severity, words]) =>
      `WHEN LOWER(${value}) IN (${words.map(string).join(', ')}) THEN ${string(severity)}`,
  )
  return `CASE ${cases.join(' ')} ELSE 'other' END`
}

/** JSON has no equality of its own; its text has. */
export function groupable(value: string, { type }: Field): string {
  return type === 'JSON' || type === 'GEOGRAPHY' ? `TO_JSON_STRING(${value})` : value
}

/** The same as a value to show, where NULL is no text: TO_JSON_STRING makes `null` of it. */
export function shownAsText(value: string, field: Field): string {
  const text = groupable(value, field)
  return text === value ? value : `NULLIF(${text}, 'null')`
}

const plain = /^[A-Za-z_]\w*$/

export function name(text: string): string {
  return plain.test(text) && !reservedWords.has(text.toUpperCase())
    ? text
    : `\`${text.replaceAll(/[`\\]/g, '\\$&')}\``
}

export function as(value: string, alias: string): string {
  return value.endsWith(`.${name(alias)}`) ? value : `${value} AS ${name(alias)}`
}

/** In single quotes; a control character as its escape, half a surrogate pair and NUL, which no literal can hold, as U+FFFD. */
export function string(text: string): string {
  const escaped = text
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .replaceAll(/['\\]/g, '\\$&')
    .replaceAll(/\p{Cc}/gu, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `'${escaped}'`
}

export function timestamp(micros: number): string {
  return `TIMESTAMP '${brief(micros).replace('T', ' ').replace('Z', '+00')}'`
}

/** A value as answers have it, as a literal of the field's type. Never NULL. */
export function literal(value: Scalar, { type }: Field): string {
  const text = String(value)
  const number = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
  if (type === 'INT64' || type === 'FLOAT64') return number ? text : `CAST(${string(text)} AS ${type})`
  if (type === 'BOOL') return text === 'true' ? 'TRUE' : 'FALSE'
  if (type === 'TIMESTAMP' && /^\d+$/.test(text)) return timestamp(Number(text))
  if (type === 'BYTES') return `FROM_BASE64(${string(text)})`
  if (type === 'STRING' || type === 'JSON' || type === 'GEOGRAPHY') return string(text)
  return `CAST(${string(text)} AS ${type})`
}

export function lines(...parts: string[]): string {
  return parts.join('\n')
}
