import { WindowParser } from './parse-window.ts'
import type { Call, Expression, HavingExtreme, Identifier } from './tree.ts'

type Aggregation = Pick<Call, 'star' | 'distinct' | 'arguments' | 'nulls' | 'having' | 'orderBy' | 'limit'>

/** Function calls with all that may stand inside and behind their parentheses. */
export abstract class CallParser extends WindowParser {
  /** The call of `name`, from its `(` on. */
  protected call(name: Identifier[]): Call {
    const inside = this.parenthesized(() => this.aggregation())
    return {
      kind: 'Call',
      name,
      ...inside,
      over: this.takeWords('OVER') ? this.over() : null,
      at: name[0]!.at,
    }
  }

  private over(): Call['over'] {
    return this.isSymbol('(') ? this.window() : this.identifier()
  }

  private aggregation(): Aggregation {
    const star = this.isSymbol('*') && this.isSymbol(')', 1) && this.takeSymbol('*')
    const empty = star || this.isSymbol(')')
    return {
      star,
      distinct: this.takeWords('DISTINCT'),
      arguments: empty ? [] : this.list(() => this.argument()),
      nulls: this.nulls(),
      having: this.havingExtreme(),
      orderBy: this.orderBy(),
      limit: this.takeWords('LIMIT') ? this.count('a number of rows') : null,
    }
  }

  private nulls(): Call['nulls'] {
    const nulls = this.takeOneOf('IGNORE', 'RESPECT')
    if (nulls) this.expectWords('NULLS')
    return nulls
  }

  private havingExtreme(): HavingExtreme | null {
    const { at } = this.token
    if (!this.takeWords('HAVING')) return null
    const extreme = this.expectOneOf('MAX', 'MIN')
    return { kind: 'HavingExtreme', extreme, expression: this.expression(), at }
  }

  private argument(): Expression {
    const { at } = this.token
    if (this.isWord('SELECT') || this.isWord('WITH')) {
      throw this.refusal('a subquery needs parentheses of its own')
    }
    if ((this.isWord('TABLE') || this.isWord('MODEL')) && this.atName(1)) {
      throw this.refusal(`${this.token.value} arguments are not supported`)
    }
    if (!this.atName() || !this.isSymbol('=>', 1)) return this.lambdaOrExpression()
    const name = this.identifier()
    this.expectSymbol('=>')
    return { kind: 'NamedArgument', name, value: this.expression(), at }
  }

  private lambdaOrExpression(): Expression {
    const { at } = this.token
    const behind = this.isSymbol('(') ? this.behindParentheses() : this.ahead(1)
    if (behind.kind !== 'symbol' || behind.text !== '->') return this.expression()
    const parameters = this.isSymbol('(')
      ? this.parenthesized(() => this.list(() => this.identifier()))
      : [this.identifier()]
    this.expectSymbol('->')
    return { kind: 'Lambda', parameters, body: this.expression(), at }
  }
}
