import { level, levelOf } from './operators.ts'
import {
  printField,
  printFunction,
  printLiteral,
  printName,
  printParameter,
  printPart,
  printPath,
  printType,
} from './print-token.ts'
import { extractParts, intervalParts } from './reserved.ts'
import type {
  Call,
  Case,
  Cast,
  Count,
  Expression,
  FieldAccess,
  FrameBound,
  In,
  OrderItem,
  Query,
  SelectColumn,
  Unary,
  Window,
} from './tree.ts'
import { unknownKind } from './walk.ts'

/** Expressions to text. A tree that needs parentheses and does not have them gets them. */
export abstract class ExpressionPrinter {
  abstract query(query: Query): string

  expression(node: Expression): string {
    switch (node.kind) {
      case 'Literal':
        return printLiteral(node)
      case 'TypedLiteral':
        return `${node.type} ${printLiteral(node.value)}`
      case 'IntervalLiteral': {
        const to = node.to === null ? '' : ` TO ${printPart(node.to, intervalParts)}`
        return `INTERVAL ${this.held(node.value, level.bitOr)} ${printPart(node.part, intervalParts)}${to}`
      }
      case 'ParameterReference':
        return printParameter(node)
      case 'Path':
        return printPath(node.parts)
      case 'FieldAccess':
        return this.fieldAccess(node)
      case 'Subscript': {
        const index = this.expression(node.index)
        return `${this.held(node.of, level.suffix)}[${node.mode ? `${node.mode}(${index})` : index}]`
      }
      case 'Unary':
        return this.unary(node)
      case 'Binary': {
        const own = levelOf(node)
        const first = own === level.comparison ? own + 1 : own
        return `${this.held(node.left, first)} ${node.operator} ${this.held(node.right, own + 1)}`
      }
      case 'Like':
        return `${this.compared(node.left)}${not(node)} LIKE ${this.compared(node.right)}`
      case 'In':
        return `${this.compared(node.operand)}${not(node)} IN ${this.among(node.among)}`
      case 'Between': {
        const range = `${this.compared(node.low)} AND ${this.compared(node.high)}`
        return `${this.compared(node.operand)}${not(node)} BETWEEN ${range}`
      }
      case 'Is':
        return `${this.compared(node.operand)} IS${not(node)} ${node.what}`
      case 'IsDistinctFrom':
        return `${this.compared(node.left)} IS${not(node)} DISTINCT FROM ${this.compared(node.right)}`
      case 'Case':
        return this.case(node)
      case 'Cast':
        return this.cast(node)
      case 'Extract': {
        const zone = node.zone ? ` AT TIME ZONE ${this.expression(node.zone)}` : ''
        return `EXTRACT(${printPart(node.part, extractParts)} FROM ${this.expression(node.operand)}${zone})`
      }
      case 'Exists':
        return `EXISTS(${this.query(node.query)})`
      case 'ArraySubquery':
        return `ARRAY(${this.query(node.query)})`
      case 'ScalarSubquery':
        return `(${this.query(node.query)})`
      case 'ArrayLiteral': {
        const type = node.type ? `<${printType(node.type)}>` : ''
        return `${node.keyword ? 'ARRAY' : ''}${type}[${this.list(node.items)}]`
      }
      case 'StructLiteral': {
        const items = node.items.map(item => this.column(item)).join(', ')
        return `${node.type ? printType(node.type) : 'STRUCT'}(${items})`
      }
      case 'Tuple':
        return `(${this.list(node.items)})`
      case 'Parenthesized':
        return `(${this.expression(node.expression)})`
      case 'Call':
        return this.call(node)
      case 'NamedArgument':
        return `${printName(node.name)} => ${this.expression(node.value)}`
      case 'Lambda': {
        const names = node.parameters.map(printName).join(', ')
        return `${node.parameters.length === 1 ? names : `(${names})`} -> ${this.expression(node.body)}`
      }
      default:
        return unknownKind(node)
    }
  }

  list(nodes: Expression[]): string {
    return nodes.map(node => this.expression(node)).join(', ')
  }

  column({ expression, alias }: SelectColumn): string {
    return this.expression(expression) + as(alias)
  }

  /** In parentheses if it holds together less tightly than its place asks for. */
  held(node: Expression, lowest: number): string {
    const text = this.expression(node)
    return levelOf(node) < lowest ? `(${text})` : text
  }

  orderBy(items: OrderItem[]): string {
    const texts = items.map(({ expression, direction, nulls }) => {
      const order = (direction ? ` ${direction}` : '') + (nulls ? ` NULLS ${nulls}` : '')
      return this.expression(expression) + order
    })
    return texts.length > 0 ? `ORDER BY ${texts.join(', ')}` : ''
  }

  window(window: Window): string {
    const { base, partitionBy, frame } = window
    const parts = [
      base ? printName(base) : '',
      partitionBy.length > 0 ? `PARTITION BY ${this.list(partitionBy)}` : '',
      this.orderBy(window.orderBy),
      frame ? `${frame.unit} ${frame.end ? 'BETWEEN ' : ''}${this.bound(frame.start)}` : '',
      frame?.end ? `AND ${this.bound(frame.end)}` : '',
    ]
    return `(${parts.filter(Boolean).join(' ')})`
  }

  count(count: Count | null, keyword: string): string {
    return count ? `${keyword} ${this.expression(count)}` : ''
  }

  private bound({ bound, count }: FrameBound): string {
    return count ? `${this.expression(count)} ${bound}` : bound
  }

  /** Two comparisons never stand side by side, so their operands are all tighter than they are. */
  private compared(node: Expression): string {
    return this.held(node, level.bitOr)
  }

  /** A path with one more field would read as a longer path: parentheses keep the two apart. */
  private fieldAccess({ of, field }: FieldAccess): string {
    const text = of.kind === 'Path' ? `(${this.expression(of)})` : this.held(of, level.suffix)
    return `${text}.${printField(field)}`
  }

  /** `- -1`, since `--1` is a comment. */
  private unary({ operator, operand }: Unary): string {
    if (operator === 'NOT') return `NOT ${this.held(operand, level.not)}`
    const text = this.held(operand, level.sign)
    return operator + (text.startsWith('-') ? ' ' : '') + text
  }

  private among(among: In['among']): string {
    switch (among.kind) {
      case 'InUnnest':
        return `UNNEST(${this.expression(among.array)})`
      case 'InQuery':
        return `(${this.query(among.query)})`
      case 'InList':
        return `(${this.list(among.items)})`
      default:
        return unknownKind(among)
    }
  }

  private case({ operand, branches, otherwise }: Case): string {
    const texts = branches.map(
      ({ when, then }) => `WHEN ${this.expression(when)} THEN ${this.expression(then)}`,
    )
    if (operand) texts.unshift(this.expression(operand))
    if (otherwise) texts.push(`ELSE ${this.expression(otherwise)}`)
    return `CASE ${texts.join(' ')} END`
  }

  private cast({ safe, operand, type, format }: Cast): string {
    const form = format ? ` FORMAT ${this.expression(format)}` : ''
    return `${safe ? 'SAFE_CAST' : 'CAST'}(${this.expression(operand)} AS ${printType(type)}${form})`
  }

  private call(node: Call): string {
    const { star, distinct, nulls, having, over } = node
    const inside = [
      distinct ? 'DISTINCT' : '',
      star ? '*' : this.list(node.arguments),
      nulls ? `${nulls} NULLS` : '',
      having ? `HAVING ${having.extreme} ${this.expression(having.expression)}` : '',
      this.orderBy(node.orderBy),
      this.count(node.limit, 'LIMIT'),
    ]
    const text = `${printFunction(node)}(${inside.filter(Boolean).join(' ')})`
    if (!over) return text
    return `${text} OVER ${'kind' in over ? this.window(over) : printName(over)}`
  }
}

export function as(alias: Parameters<typeof printName>[0] | null): string {
  return alias ? ` AS ${printName(alias)}` : ''
}

function not(node: { not: boolean }): string {
  return node.not ? ' NOT' : ''
}
