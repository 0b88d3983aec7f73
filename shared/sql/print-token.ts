/**
 * The smallest pieces of printed SQL: names, literals, types. Trees may be built by hand, so each piece is checked
 * to be one token and nothing else before it becomes text.
 */
import { SqlError } from './error.ts'
import { reservedFunctions, reservedWords } from './reserved.ts'
import { tokenize } from './tokens.ts'
import type { Call, Identifier, Literal, ParameterReference } from './tree.ts'
import type { SqlType, StructField } from './types.ts'

const plainName = /^[A-Za-z_]\w*$/
const unquotable = /[`\\\p{Cc}]/u

const tokenKinds: Record<string, Literal['literal']> = {
  string: 'STRING',
  bytes: 'BYTES',
  integer: 'INTEGER',
  float: 'FLOAT',
}
const constants: Record<string, Literal['literal']> = { NULL: 'NULL', TRUE: 'BOOL', FALSE: 'BOOL' }

/** In backticks unless it is plain. Throws SqlError for a name that backticks cannot hold. */
export function printName({ name, quoted }: Pick<Identifier, 'name' | 'quoted'>): string {
  return quoted || reservedWords.has(name.toUpperCase()) ? quote(name) : printField({ name, quoted })
}

/** Names with dots between them; behind a dot a reserved word needs no backticks. */
export function printPath([first, ...rest]: Identifier[]): string {
  if (!first) throw new SqlError('a path has no names')
  return [printName(first), ...rest.map(printField)].join('.')
}

/** The name of a function, which may be a reserved word: `IF`, `LEFT`. */
export function printFunction({ name }: Call): string {
  const [first, ...rest] = name
  const bare = first && rest.length === 0 && !first.quoted && reservedFunctions.has(first.name.toUpperCase())
  return bare ? first.name : printPath(name)
}

export function printField({ name, quoted }: Pick<Identifier, 'name' | 'quoted'>): string {
  return quoted || !plainName.test(name) ? quote(name) : name
}

function quote(name: string): string {
  if (name === '' || unquotable.test(name) || !name.isWellFormed()) {
    throw new SqlError(`${JSON.stringify(name)} cannot be a name`)
  }
  return `\`${name}\``
}

/** Its text as written, once that has been read again and found to be this one literal. */
export function printLiteral({ literal, text, value }: Literal): string {
  const [token, end] = tokenize(text, { bytes: Infinity, tokens: 1 })
  const kind = token && (tokenKinds[token.kind] ?? constants[text])
  if (kind !== literal || end?.kind !== 'end' || token?.text !== text) {
    throw new SqlError(`${JSON.stringify(text)} is not one ${literal} literal`)
  }
  if (token.kind !== 'word' && token.value !== value) {
    throw new SqlError(`the literal ${text} does not stand for ${JSON.stringify(value)}`)
  }
  return text
}

export function printParameter({ name }: ParameterReference): string {
  if (!plainName.test(name)) throw new SqlError(`${JSON.stringify(name)} cannot name a parameter`)
  return `@${name}`
}

/** One of the parts that GoogleSQL counts time in. */
export function printPart(part: string, parts: ReadonlySet<string>): string {
  if (!parts.has(part)) throw new SqlError(`${JSON.stringify(part)} is not a part of a date or time`)
  return part
}

export function printType(type: SqlType): string {
  if (type.kind === 'ARRAY') return `ARRAY<${printType(type.element)}>`
  if (type.kind === 'STRUCT') return `STRUCT<${type.fields.map(printStructField).join(', ')}>`
  return type.kind + (type.size ? `(${type.size.map(printSize).join(', ')})` : '')
}

function printStructField({ name, type }: StructField): string {
  return name === null ? printType(type) : `${printName({ name, quoted: false })} ${printType(type)}`
}

function printSize(size: number): string {
  if (!Number.isSafeInteger(size) || size < 0) throw new SqlError(`${size} is not the size of a type`)
  return String(size)
}
