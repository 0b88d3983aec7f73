import { SqlError } from './error.ts'
import { hasComma, level } from './operators.ts'
import { as } from './print-clause.ts'
import { ExpressionPrinter } from './print-expression.ts'
import { printName, printPath } from './print-token.ts'
import type {
  From,
  GroupBy,
  Identifier,
  Join,
  Query,
  QueryBody,
  Select,
  SelectItem,
  TableReference,
  With,
} from './tree.ts'
import { unknownKind } from './walk.ts'

export interface PrintOptions {
  /**
   * The text to print for a table instead of its path, or `null` for the path. The text goes out as it is: whoever
   * gives it answers for it. The table keeps the name by which the rest of the query calls it.
   */
  table?: (reference: TableReference) => string | null
}

/**
 * The query as GoogleSQL on one line, from nothing but the tree. Equal trees give equal text: comments, layout and
 * the case of keywords are gone. Throws SqlError for a tree with a name, literal or join that no text can stand for.
 */
export function print(query: Query, options: PrintOptions = {}): string {
  return new QueryPrinter(options).query(query)
}

class QueryPrinter extends ExpressionPrinter {
  private readonly tableText: (reference: TableReference) => string | null

  constructor({ table = () => null }: PrintOptions) {
    super()
    this.tableText = table
  }

  override query(query: Query): string {
    if (query.offset && !query.limit) throw new SqlError('OFFSET needs a LIMIT')
    return words(
      query.with ? this.with(query.with) : '',
      this.body(query.body),
      this.orderBy(query.orderBy),
      this.count(query.limit, 'LIMIT'),
      this.count(query.offset, 'OFFSET'),
    )
  }

  private with({ recursive, ctes }: With): string {
    const tables = ctes.map(({ name, query }) => `${printName(name)} AS (${this.query(query)})`)
    return `WITH ${recursive ? 'RECURSIVE ' : ''}${tables.join(', ')}`
  }

  private body(body: QueryBody): string {
    switch (body.kind) {
      case 'Select':
        return this.select(body)
      case 'QueryInParentheses':
        return `(${this.query(body.query)})`
      case 'SetOperation': {
        const { left, operator, right } = body
        const chains = left.kind !== 'SetOperation' || left.operator === operator
        const first = chains ? this.body(left) : `(${this.body(left)})`
        return `${first} ${operator} ${right.kind === 'SetOperation' ? `(${this.body(right)})` : this.body(right)}`
      }
      default:
        return unknownKind(body)
    }
  }

  private select(select: Select): string {
    const { distinct, items, from, where, groupBy, having, qualify } = select
    const windows = select.windows.map(({ name, window }) => `${printName(name)} AS ${this.window(window)}`)
    return words(
      `SELECT${distinct ? ' DISTINCT' : ''}${select.as ? ` AS ${select.as}` : ''}`,
      items.map(item => this.item(item)).join(', '),
      from ? `FROM ${this.from(from)}` : '',
      where ? `WHERE ${this.expression(where)}` : '',
      groupBy ? `GROUP BY ${this.groupBy(groupBy)}` : '',
      having ? `HAVING ${this.expression(having)}` : '',
      qualify ? `QUALIFY ${this.expression(qualify)}` : '',
      windows.length > 0 ? `WINDOW ${windows.join(', ')}` : '',
    )
  }

  private item(item: SelectItem): string {
    if (item.kind === 'SelectColumn') return this.column(item)
    const { of, except, replace } = item
    return words(
      of ? `${this.held(of, level.suffix)}.*` : '*',
      except.length > 0 ? `EXCEPT (${except.map(printName).join(', ')})` : '',
      replace.length > 0 ? `REPLACE (${replace.map(column => this.column(column)).join(', ')})` : '',
    )
  }

  private groupBy({ grouping, items }: GroupBy): string {
    if (grouping === 'ALL') return 'ALL'
    return grouping === 'LIST' ? this.list(items) : `${grouping}(${this.list(items)})`
  }

  private from(from: From): string {
    switch (from.kind) {
      case 'TableReference':
        return this.table(from)
      case 'UnnestReference':
        return `UNNEST(${this.expression(from.array)})${as(from.alias)}${withOffset(from.offset)}`
      case 'DerivedTable':
        return `(${this.query(from.query)})${as(from.alias)}`
      case 'Join':
        return this.join(from)
      case 'JoinInParentheses':
        if (hasComma(from.join)) throw new SqlError('a comma cannot join tables inside parentheses')
        return `(${this.from(from.join)})`
      default:
        return unknownKind(from)
    }
  }

  private table(reference: TableReference): string {
    const text = this.tableText(reference)
    const alias = reference.alias ?? (text === null ? null : impliedAlias(reference))
    return (text ?? printPath(reference.path)) + as(alias) + withOffset(reference.offset)
  }

  /** Joins group from left to right, commas among them; whatever else groups needs parentheses. */
  private join({ type, left, right, on, using }: Join): string {
    if (hasComma(right)) throw new SqlError('a comma cannot join tables to the right of another join')
    if (hasComma(left) && (type === 'RIGHT' || type === 'FULL')) {
      throw new SqlError(`${type} JOIN cannot follow a comma`)
    }
    const item = right.kind === 'Join' ? `(${this.from(right)})` : this.from(right)
    if (type === 'COMMA') return `${this.from(left)}, ${item}`
    return words(
      this.from(left),
      type === 'INNER' ? 'JOIN' : `${type} JOIN`,
      item,
      on ? `ON ${this.expression(on)}` : '',
      using.length > 0 ? `USING (${using.map(printName).join(', ')})` : '',
    )
  }
}

function words(...texts: string[]): string {
  return texts.filter(Boolean).join(' ')
}

function withOffset(name: Identifier | null): string {
  return name ? ` WITH OFFSET${as(name)}` : ''
}

/** Without an alias a table goes by the last part of its path, and in backticks that may hold dots. */
function impliedAlias({ path }: TableReference): Identifier {
  const last = path.at(-1)!
  return { ...last, name: last.name.slice(last.name.lastIndexOf('.') + 1) }
}
