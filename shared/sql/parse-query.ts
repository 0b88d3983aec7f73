import { level, levelOf } from './operators.ts'
import { FromParser } from './parse-from.ts'
import type {
  CommonTable,
  GroupBy,
  NamedWindow,
  Query,
  QueryBody,
  Select,
  SelectColumn,
  SelectItem,
  SelectStar,
  SetOperator,
  With,
} from './tree.ts'

/** Queries: WITH, SELECT, set operations. The last layer. */
export class QueryParser extends FromParser {
  private selects = 0
  private ctes = 0

  /** The one statement of the text. */
  statement(): Query {
    if (this.atEnd()) throw this.refusal('the query is empty')
    const query = this.query()
    this.takeSymbol(';')
    if (this.atEnd()) return query
    throw this.isSymbol(';', -1) ? this.refusal('only one statement is allowed') : this.unexpected()
  }

  protected override query(): Query {
    return this.nested(() => {
      const { at } = this.token
      const common = this.with()
      const body = this.body()
      const orderBy = this.orderBy()
      const limit = this.takeWords('LIMIT') ? this.count('a number of rows') : null
      const offset = limit && this.takeWords('OFFSET') ? this.count('a number of rows') : null
      return { kind: 'Query', with: common, body, orderBy, limit, offset, at }
    })
  }

  private with(): With | null {
    const { at } = this.token
    if (!this.takeWords('WITH')) return null
    const recursive = this.takeWords('RECURSIVE')
    return { kind: 'With', recursive, ctes: this.list(() => this.commonTable()), at }
  }

  private commonTable(): CommonTable {
    const { at } = this.token
    if (this.ctes === this.limits.ctes)
      throw this.refusal(`the query has over ${this.limits.ctes} common tables`)
    this.ctes++
    const name = this.identifier()
    this.expectWords('AS')
    return { kind: 'CommonTable', name, query: this.parenthesized(() => this.query()), at }
  }

  private body(): QueryBody {
    let left = this.operand()
    const first = this.token.value
    for (let links = 1; ; links++) {
      const { value, at } = this.token
      const operator = this.setOperator()
      if (!operator) return left
      this.checkLinks(links)
      if (left.kind === 'SetOperation' && left.operator !== operator) {
        throw this.refusal(`${first} and ${value} in one query need parentheses`, at)
      }
      left = { kind: 'SetOperation', operator, left, right: this.operand(), at: left.at }
    }
  }

  private setOperator(): SetOperator | null {
    const operator = this.takeOneOf('UNION', 'INTERSECT', 'EXCEPT')
    return operator && `${operator} ${this.expectOneOf('ALL', 'DISTINCT')}`
  }

  private operand(): QueryBody {
    const { kind, text, at } = this.token
    if (this.isSymbol('(')) {
      return { kind: 'QueryInParentheses', query: this.parenthesized(() => this.query()), at }
    }
    if (this.isWord('SELECT')) return this.select()
    if (this.isWord('FROM')) throw this.refusal('queries that begin with FROM are not supported')
    if (kind !== 'word') throw this.unexpected('SELECT')
    throw this.refusal(`only SELECT queries are allowed: this starts with ${text}`)
  }

  private select(): Select {
    const { at } = this.next()
    if (++this.selects > this.limits.selects)
      throw this.refusal(`the query has over ${this.limits.selects} SELECTs`, at)
    if (this.isWord('WITH')) throw this.refusal('SELECT WITH is not supported')
    const distinct = this.takeOneOf('DISTINCT', 'ALL') === 'DISTINCT'
    return {
      kind: 'Select',
      distinct,
      as: this.takeWords('AS') ? this.expectOneOf('STRUCT', 'VALUE') : null,
      items: this.items(),
      from: this.takeWords('FROM') ? this.from() : null,
      where: this.takeWords('WHERE') ? this.expression() : null,
      groupBy: this.groupBy(),
      having: this.takeWords('HAVING') ? this.expression() : null,
      qualify: this.takeWords('QUALIFY') ? this.expression() : null,
      windows: this.takeWords('WINDOW') ? this.list(() => this.namedWindow()) : [],
      at,
    }
  }

  /** A comma may follow the last one. */
  private items(): SelectItem[] {
    const items = [this.selectItem()]
    while (this.takeSymbol(',') && !this.atEndOfItems()) items.push(this.selectItem())
    return items
  }

  private atEndOfItems(): boolean {
    return this.atEnd() || this.isWord('FROM') || this.isSymbol(')') || this.isSymbol(';')
  }

  private selectItem(): SelectItem {
    const { at } = this.token
    if (this.takeSymbol('*')) return this.star(null, at)
    const expression = this.expression()
    if (!this.isSymbol('.')) return { kind: 'SelectColumn', expression, alias: this.alias(), at }
    if (levelOf(expression) < level.suffix) throw this.unexpected()
    this.next()
    this.next()
    return this.star(expression, at)
  }

  private star(of: SelectStar['of'], at: number): SelectStar {
    const except = this.isSymbol('(', 1) && this.takeWords('EXCEPT')
    return {
      kind: 'SelectStar',
      of,
      except: except ? this.parenthesized(() => this.list(() => this.identifier())) : [],
      replace:
        this.isSymbol('(', 1) && this.takeWords('REPLACE')
          ? this.parenthesized(() => this.list(() => this.replacement()))
          : [],
      at,
    }
  }

  private replacement(): SelectColumn {
    const { at } = this.token
    const expression = this.expression()
    this.expectWords('AS')
    return { kind: 'SelectColumn', expression, alias: this.identifier(), at }
  }

  private groupBy(): GroupBy | null {
    const { at } = this.token
    if (!this.takeWords('GROUP', 'BY')) return null
    if (this.takeWords('ALL')) return { kind: 'GroupBy', grouping: 'ALL', items: [], at }
    if (this.isWord('GROUPING') && this.isWord('SETS', 1)) throw this.unexpected()
    const grouping = this.takeOneOf('ROLLUP', 'CUBE')
    const items = () => this.list(() => this.expression())
    if (!grouping) return { kind: 'GroupBy', grouping: 'LIST', items: items(), at }
    return { kind: 'GroupBy', grouping, items: this.parenthesized(items), at }
  }

  private namedWindow(): NamedWindow {
    const { at } = this.token
    const name = this.identifier()
    this.expectWords('AS')
    return { kind: 'NamedWindow', name, window: this.window(), at }
  }
}
