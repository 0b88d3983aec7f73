import { binaryLevels, level } from './operators.ts'
import { PrimaryParser } from './parse-primary.ts'
import type { Binary, BinaryOperator, Expression, In, Unary } from './tree.ts'

interface Operator {
  name: string
  level: number
}

/** The words that begin a comparison; NOT may stand before the first three. */
const comparisonWords = ['LIKE', 'IN', 'BETWEEN', 'IS'] as const

const signs = ['-', '+', '~'] as const

/** Operators, by precedence. */
export abstract class ExpressionParser extends PrimaryParser {
  protected override expression(): Expression {
    return this.nested(() => this.operators(level.or))
  }

  protected override arithmetic(): Expression {
    return this.nested(() => this.operators(level.bitOr))
  }

  /** An operand and all operators behind it that hold at least as tightly as `lowest`. */
  private operators(lowest: number): Expression {
    const negated = lowest <= level.not && this.isWord('NOT')
    let left = negated ? this.not() : this.signed()
    // Once an operator has been applied, a tighter one can no longer reach what it holds.
    let highest: number = negated ? level.and : level.sign
    for (let links = 1; ; links++) {
      const operator = this.operator()
      if (!operator || operator.level < lowest) return left
      if (operator.level > highest) {
        if (operator.level !== level.comparison) return left
        throw this.refusal('comparisons do not chain: put one of them in parentheses')
      }
      this.checkLinks(links)
      const comparison = operator.level === level.comparison
      left = comparison ? this.comparison(left, operator.name) : this.binary(left, operator)
      highest = comparison ? level.not : operator.level
    }
  }

  /** The operator that stands here, if one does. `>>` is two tokens, since it also closes two types. */
  private operator(): Operator | null {
    const { kind, text, value, end } = this.token
    if (kind === 'symbol') {
      const shift = text === '>' && this.isSymbol('>', 1) && this.ahead(1).at === end
      const name = shift ? '>>' : text
      const found = binaryLevels.get(name)
      return found ? { name, level: found } : null
    }
    if (kind !== 'word') return null
    const word = value === 'NOT' ? this.ahead(1).value : value
    const compares = comparisonWords.some(name => name === word) && !(value === 'NOT' && word === 'IS')
    if (compares) return { name: word, level: level.comparison }
    const found = value === 'AND' || value === 'OR' ? binaryLevels.get(value) : undefined
    return found ? { name: value, level: found } : null
  }

  private not(): Unary {
    const { at } = this.next()
    return { kind: 'Unary', operator: 'NOT', operand: this.nested(() => this.operators(level.not)), at }
  }

  private signed(): Expression {
    const { at } = this.token
    const operator = signs.find(sign => this.takeSymbol(sign))
    if (!operator) return this.suffixed()
    return { kind: 'Unary', operator, operand: this.nested(() => this.signed()), at }
  }

  private binary(left: Expression, operator: Operator): Binary {
    this.next()
    if (operator.name === '>>') this.next()
    const right = this.operators(operator.level + 1)
    return { kind: 'Binary', operator: operator.name as BinaryOperator, left, right, at: left.at }
  }

  private comparison(left: Expression, name: string): Expression {
    const { at } = left
    const not = this.takeWords('NOT')
    switch (name) {
      case 'LIKE':
        return { kind: 'Like', not, left, right: this.pattern(), at }
      case 'IN':
        return { kind: 'In', not, operand: left, among: this.among(), at }
      case 'BETWEEN': {
        this.next()
        const low = this.operators(level.bitOr)
        this.expectWords('AND')
        return { kind: 'Between', not, operand: left, low, high: this.operators(level.bitOr), at }
      }
      case 'IS':
        return this.is(left)
      default:
        return this.binary(left, { name, level: level.comparison })
    }
  }

  private pattern(): Expression {
    this.next()
    if (this.isWord('ANY') || this.isWord('SOME') || this.isWord('ALL')) {
      throw this.refusal('LIKE ANY, LIKE SOME and LIKE ALL are not supported')
    }
    return this.operators(level.bitOr)
  }

  private among(): In['among'] {
    this.next()
    const { at } = this.token
    if (this.takeWords('UNNEST')) {
      return { kind: 'InUnnest', array: this.parenthesized(() => this.expression()), at }
    }
    if (this.atQueryInParentheses()) {
      return { kind: 'InQuery', query: this.parenthesized(() => this.query()), at }
    }
    return { kind: 'InList', items: this.parenthesized(() => this.list(() => this.expression())), at }
  }

  private is(operand: Expression): Expression {
    this.next()
    const { at } = operand
    const not = this.takeWords('NOT')
    if (this.takeWords('DISTINCT', 'FROM')) {
      return { kind: 'IsDistinctFrom', not, left: operand, right: this.operators(level.bitOr), at }
    }
    return { kind: 'Is', not, operand, what: this.expectOneOf('NULL', 'TRUE', 'FALSE', 'UNKNOWN'), at }
  }
}
