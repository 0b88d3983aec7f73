import { ConstructorParser } from './parse-constructor.ts'
import { level, levelOf } from './operators.ts'
import { reservedFunctions } from './reserved.ts'
import type {
  ArrayLiteral,
  Exists,
  Expression,
  Literal,
  Parenthesized,
  Path,
  Call,
  ScalarSubquery,
  Subscript,
  Tuple,
  TypedLiteral,
} from './tree.ts'

const literalKinds = { string: 'STRING', bytes: 'BYTES', integer: 'INTEGER', float: 'FLOAT' } as const

const typedLiterals: ReadonlyMap<string, TypedLiteral['type']> = new Map([
  ['BIGDECIMAL', 'BIGNUMERIC'],
  ['BIGNUMERIC', 'BIGNUMERIC'],
  ['DATE', 'DATE'],
  ['DATETIME', 'DATETIME'],
  ['DECIMAL', 'NUMERIC'],
  ['JSON', 'JSON'],
  ['NUMERIC', 'NUMERIC'],
  ['TIME', 'TIME'],
  ['TIMESTAMP', 'TIMESTAMP'],
])

const subscriptModes = ['OFFSET', 'ORDINAL', 'SAFE_OFFSET', 'SAFE_ORDINAL'] as const

/** Operands: literals, names, calls, whatever stands in brackets, and the `.field` and `[index]` behind them. */
export abstract class PrimaryParser extends ConstructorParser {
  /** An operand with its fields and indexes. */
  protected suffixed(): Expression {
    let operand = this.primary()
    for (let links = 1; ; links++) {
      if (this.isSymbol('[')) operand = this.subscript(operand)
      else if (this.isSymbol('.') && !this.isSymbol('*', 1)) operand = this.field(operand)
      else return operand
      this.checkLinks(links)
    }
  }

  private subscript(of: Expression): Subscript {
    if (levelOf(of) < level.suffix) throw this.unexpected()
    this.expectSymbol('[')
    const mode = this.isSymbol('(', 1) ? this.takeOneOf(...subscriptModes) : null
    const index = mode ? this.parenthesized(() => this.expression()) : this.expression()
    this.expectSymbol(']')
    return { kind: 'Subscript', of, mode, index, at: of.at }
  }

  private field(of: Expression): Expression {
    if (levelOf(of) < level.suffix) throw this.unexpected()
    this.expectSymbol('.')
    const field = this.anyIdentifier()
    if (of.kind !== 'Path') return { kind: 'FieldAccess', of, field, at: of.at }
    const parts = [...of.parts, field]
    return this.isSymbol('(') ? this.call(parts) : { kind: 'Path', parts, at: of.at }
  }

  private primary(): Expression {
    switch (this.token.kind) {
      case 'string':
      case 'bytes':
      case 'integer':
      case 'float':
        return this.literal(literalKinds[this.token.kind])
      case 'parameter': {
        const { value, at } = this.next()
        return { kind: 'ParameterReference', name: value, at }
      }
      case 'quoted':
        return this.pathOrCall()
      case 'symbol':
        return this.bracketed()
      case 'word':
        return this.keyword()
      case 'end':
        break
    }
    throw this.unexpected('an expression')
  }

  /** `.5` becomes `0.5`: behind a word that is not reserved, GoogleSQL takes the dot for that of a field. */
  private literal(literal: Literal['literal']): Literal {
    const { text, value, at } = this.next()
    return { kind: 'Literal', literal, text: text.startsWith('.') ? `0${text}` : text, value, at }
  }

  private bracketed(): Expression {
    if (this.isSymbol('(')) return this.inParentheses()
    if (!this.isSymbol('[')) throw this.unexpected('an expression')
    const { at } = this.token
    return {
      kind: 'ArrayLiteral',
      keyword: false,
      type: null,
      items: this.elements(),
      at,
    } satisfies ArrayLiteral
  }

  private inParentheses(): ScalarSubquery | Tuple | Parenthesized {
    const { at } = this.token
    if (this.atQueryInParentheses()) {
      return { kind: 'ScalarSubquery', query: this.parenthesized(() => this.query()), at }
    }
    const items = this.parenthesized(() => this.list(() => this.expression()))
    return items.length > 1
      ? { kind: 'Tuple', items, at }
      : { kind: 'Parenthesized', expression: items[0]!, at }
  }

  private keyword(): Expression {
    switch (this.token.value) {
      case 'NULL':
        return this.constant('NULL')
      case 'TRUE':
      case 'FALSE':
        return this.constant('BOOL')
      case 'CASE':
        return this.case()
      case 'CAST':
        return this.cast()
      case 'EXTRACT':
        return this.extract()
      case 'EXISTS':
        return this.exists()
      case 'INTERVAL':
        return this.interval()
      case 'ARRAY':
        return this.array()
      case 'STRUCT':
        return this.struct()
      case 'WITH':
        throw this.refusal('WITH inside an expression is not supported')
      default:
        return this.named()
    }
  }

  /** Its text in capitals, so that the way it was typed does not matter. */
  private constant(literal: 'NULL' | 'BOOL'): Literal {
    const { value, at } = this.next()
    return { kind: 'Literal', literal, text: value, value: '', at }
  }

  private exists(): Exists {
    const { at } = this.next()
    return { kind: 'Exists', query: this.parenthesized(() => this.query()), at }
  }

  private named(): Expression {
    const { value, at } = this.token
    if (value === 'SAFE_CAST' && this.isSymbol('(', 1)) return this.cast()
    const type = this.ahead(1).kind === 'string' ? typedLiterals.get(value) : undefined
    if (!type) return this.pathOrCall()
    this.next()
    return { kind: 'TypedLiteral', type, value: this.literal('STRING'), at }
  }

  private pathOrCall(): Path | Call {
    const { kind, value, at } = this.token
    const callable = kind === 'word' && reservedFunctions.has(value) && this.isSymbol('(', 1)
    const name = callable ? this.anyIdentifier() : this.identifier()
    return this.isSymbol('(') ? this.call([name]) : { kind: 'Path', parts: [name], at }
  }
}
