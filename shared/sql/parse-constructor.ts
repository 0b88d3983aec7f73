import { CallParser } from './parse-call.ts'
import { extractParts, intervalParts } from './reserved.ts'
import type {
  ArrayLiteral,
  ArraySubquery,
  Case,
  CaseBranch,
  Cast,
  Expression,
  Extract,
  IntervalLiteral,
  Query,
  SelectColumn,
  StructLiteral,
} from './tree.ts'

/** Expressions that begin with a keyword of their own: CASE, CAST, EXTRACT, INTERVAL, ARRAY, STRUCT. */
export abstract class ConstructorParser extends CallParser {
  protected abstract query(): Query
  /** An expression without AND, OR, NOT and comparisons. */
  protected abstract arithmetic(): Expression

  protected case(): Case {
    const { at } = this.next()
    const operand = this.isWord('WHEN') ? null : this.expression()
    const branches: CaseBranch[] = []
    do branches.push(this.caseBranch())
    while (this.isWord('WHEN'))
    const otherwise = this.takeWords('ELSE') ? this.expression() : null
    this.expectWords('END')
    return { kind: 'Case', operand, branches, otherwise, at }
  }

  private caseBranch(): CaseBranch {
    const { at } = this.token
    this.expectWords('WHEN')
    const when = this.expression()
    this.expectWords('THEN')
    // oxlint-disable-next-line unicorn/no-thenable -- an expression, never a function
    return { kind: 'CaseBranch', when, then: this.expression(), at }
  }

  protected cast(): Cast {
    const { value, at } = this.next()
    return this.parenthesized(() => {
      const operand = this.expression()
      this.expectWords('AS')
      const type = this.type()
      const format = this.takeWords('FORMAT') ? this.expression() : null
      if (this.isWord('AT')) throw this.refusal('AT TIME ZONE in a CAST is not supported')
      return { kind: 'Cast', safe: value === 'SAFE_CAST', operand, type, format, at }
    })
  }

  protected extract(): Extract {
    const { at } = this.next()
    return this.parenthesized(() => {
      const part = this.part(extractParts)
      this.expectWords('FROM')
      const operand = this.expression()
      const zone = this.takeWords('AT', 'TIME', 'ZONE') ? this.expression() : null
      return { kind: 'Extract', part, operand, zone, at }
    })
  }

  protected interval(): IntervalLiteral {
    const { at } = this.next()
    const value = this.arithmetic()
    const part = this.part(intervalParts)
    const to = this.takeWords('TO') ? this.part(intervalParts) : null
    return { kind: 'IntervalLiteral', value, part, to, at }
  }

  private part(parts: ReadonlySet<string>): string {
    const { kind, text, value, at } = this.token
    if (kind !== 'word') throw this.unexpected('a part such as DAY')
    this.next()
    const weekday = this.isSymbol('(') ? `(${this.parenthesized(() => this.next().value)})` : ''
    if (!parts.has(value + weekday))
      throw this.refusal(`${text}${weekday} is not a part that can stand here`, at)
    return value + weekday
  }

  /** `ARRAY(SELECT ...)`, `ARRAY[...]` and `ARRAY<T>[...]`. */
  protected array(): ArrayLiteral | ArraySubquery {
    const { at } = this.next()
    if (this.isSymbol('(')) {
      return { kind: 'ArraySubquery', query: this.parenthesized(() => this.query()), at }
    }
    const type = this.isSymbol('<') ? this.elementType() : null
    return { kind: 'ArrayLiteral', keyword: true, type, items: this.elements(), at }
  }

  /** `[...]` */
  protected elements(): Expression[] {
    this.expectSymbol('[')
    const items = this.isSymbol(']') ? [] : this.list(() => this.expression())
    this.expectSymbol(']')
    return items
  }

  protected struct(): StructLiteral {
    const { at } = this.next()
    const type = this.isSymbol('(') ? null : this.structType()
    const items = this.parenthesized(() => (this.isSymbol(')') ? [] : this.list(() => this.structItem())))
    return { kind: 'StructLiteral', type, items, at }
  }

  private structItem(): SelectColumn {
    const { at } = this.token
    const expression = this.expression()
    return { kind: 'SelectColumn', expression, alias: this.takeWords('AS') ? this.identifier() : null, at }
  }
}
