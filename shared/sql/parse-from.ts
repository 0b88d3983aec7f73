import { hasComma } from './operators.ts'
import { ExpressionParser } from './parse-expression.ts'
import type { Expression, From, Identifier, Join, TableReference, UnnestReference } from './tree.ts'

/** The words of a FROM item that look like its alias. */
const tableOperators = ['PIVOT', 'UNPIVOT', 'MATCH_RECOGNIZE'] as const

/** FROM: tables, arrays, subqueries and joins. */
export abstract class FromParser extends ExpressionParser {
  /** Commas and JOINs group from left to right: in `a, b JOIN c ON ...` the condition sees `a` too. */
  protected from(): From {
    let left = this.item()
    let comma = false
    for (let links = 1; ; links++) {
      const { at } = this.token
      const type = this.takeSymbol(',') ? 'COMMA' : this.joinType()
      if (!type) return left
      this.checkLinks(links)
      if (comma && (type === 'RIGHT' || type === 'FULL')) {
        throw this.refusal(`${type} JOIN behind a comma needs parentheses`, at)
      }
      comma ||= type === 'COMMA'
      left = this.join(left, type, at)
    }
  }

  /** `AS name`, or the name alone. */
  protected alias(): Identifier | null {
    return this.takeWords('AS') || this.atName() ? this.identifier() : null
  }

  private joinType(): Join['type'] | null {
    if (this.isWord('NATURAL')) throw this.unexpected()
    if (this.takeWords('JOIN')) return 'INNER'
    const type = this.takeOneOf('INNER', 'CROSS', 'LEFT', 'RIGHT', 'FULL')
    if (!type) return null
    if (type !== 'INNER' && type !== 'CROSS') this.takeWords('OUTER')
    this.expectWords('JOIN')
    return type
  }

  private join(left: From, type: Join['type'], at: number): Join {
    const right = this.item()
    const conditional = type !== 'CROSS' && type !== 'COMMA'
    const on = conditional && this.takeWords('ON') ? this.expression() : null
    const using =
      conditional && !on && this.takeWords('USING')
        ? this.parenthesized(() => this.list(() => this.identifier()))
        : []
    if (conditional && !on && using.length === 0 && !joinsByItself(type, right)) {
      throw this.refusal('this join needs ON or USING', at)
    }
    return { kind: 'Join', type, left, right, on, using, at: left.at }
  }

  private item(): From {
    return this.nested(() => {
      const item = this.isSymbol('(') ? this.inFromParentheses() : this.tableOrArray()
      if (
        tableOperators.some(word => this.isWord(word)) ||
        this.isWord('TABLESAMPLE') ||
        this.isWord('FOR')
      ) {
        throw this.unexpected()
      }
      return item
    })
  }

  private inFromParentheses(): From {
    const { at } = this.token
    if (this.atQueryInParentheses()) {
      const query = this.parenthesized(() => this.query())
      return { kind: 'DerivedTable', query, alias: this.tableAlias(), at }
    }
    const join = this.parenthesized(() => this.from())
    if (join.kind !== 'Join') throw this.refusal('parentheses in FROM hold a subquery or a join', at)
    if (hasComma(join)) throw this.refusal('a comma cannot join tables inside parentheses', at)
    return { kind: 'JoinInParentheses', join, at }
  }

  private tableOrArray(): TableReference | UnnestReference {
    const { at } = this.token
    if (this.takeWords('UNNEST')) {
      const array = this.parenthesized(() => this.unnested())
      return { kind: 'UnnestReference', array, alias: this.tableAlias(), offset: this.withOffset(), at }
    }
    const path = this.tablePath()
    if (this.isSymbol('(')) throw this.refusal('table functions are not supported', at)
    return { kind: 'TableReference', path, alias: this.tableAlias(), offset: this.withOffset(), at }
  }

  private unnested(): Expression {
    const array = this.expression()
    if (this.isSymbol(',') || this.isWord('AS')) throw this.refusal('UNNEST takes one array, without a name')
    return array
  }

  /** PIVOT and its kind are no reserved words: what follows tells the operator from an alias. */
  private tableAlias(): Identifier | null {
    const operator = tableOperators.some(word => this.isWord(word)) && this.operatorFollows()
    return operator ? null : this.alias()
  }

  private operatorFollows(): boolean {
    return this.isSymbol('(', 1) || this.isWord('INCLUDE', 1) || this.isWord('EXCLUDE', 1)
  }

  /** `WITH OFFSET`, whose name is `offset` if no other is given. */
  private withOffset(): Identifier | null {
    if (!this.isWord('OFFSET', 1) || !this.takeWords('WITH')) return null
    const { at } = this.next()
    return this.alias() ?? { name: 'offset', quoted: false, at }
  }

  private tablePath(): Identifier[] {
    const path = [this.dashedName()]
    while (this.takeSymbol('.')) {
      this.checkLinks(path.length)
      path.push(this.anyIdentifier())
    }
    return path
  }

  /** A project may have dashes: `deno-relay-logs` is one name, if nothing stands between its parts. */
  private dashedName(): Identifier {
    const first = this.identifier()
    if (first.quoted) return first
    let { name } = first
    let end = first.at + name.length
    while (this.isSymbol('-') && this.token.at === end && this.dashedPart(end + 1)) {
      this.next()
      const part = this.next()
      name += `-${part.text}`
      end = part.end
    }
    return name === first.name ? first : { name, quoted: true, at: first.at }
  }

  private dashedPart(at: number): boolean {
    const part = this.ahead(1)
    return part.at === at && (part.kind === 'integer' || (part.kind === 'word' && this.atName(1)))
  }
}

/** An array of the row on the left needs no condition; neither side of it can be missing. */
function joinsByItself(type: Join['type'], right: From): boolean {
  if (type !== 'INNER' && type !== 'LEFT') return false
  return right.kind === 'UnnestReference' || (right.kind === 'TableReference' && right.path.length > 1)
}
