/** Names and literals of GoogleSQL, as the logs view writes them. */
import { reservedWords } from '../../../shared/sql/grammar.ts'
import { brief } from '../../../shared/answers/times.ts'
import type { Field } from './shape.ts'
import type { Scalar } from './state.ts'

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
