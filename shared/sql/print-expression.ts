import { ClausePrinter } from './print-clause.ts'
import { level, levelOf } from './operators.ts'
import {
  printField,
  printLiteral,
  printName,
  printParameter,
  printPart,
  printPath,
  printType,
} from './print-token.ts'
import { extractParts, intervalParts } from './reserved.ts'
import type {
  ArrayLiteral,
  Between,
  Binary,
  Case,
  Cast,
  Expression,
  Extract,
  FieldAccess,
  In,
  IntervalLiteral,
  Lambda,
  Query,
  StructLiteral,
  Subscript,
  Unary,
} from './tree.ts'
import { unknownKind } from './walk.ts'

/** Expressions to text. A tree that needs parentheses and does not have them gets them. */
export abstract class ExpressionPrinter extends ClausePrinter {
  abstract query(query: Query): string

  override expression(node: Expression): string {
    switch (node.kind) {
      case 'Literal':
        return printLiteral(node)
      case 'TypedLiteral':
        return `${node.type} ${printLiteral(node.value)}`
      case 'IntervalLiteral':
        return this.interval(node)
      case 'ParameterReference':
        return printParameter(node)
      case 'Path':
        return printPath(node.parts)
      case 'FieldAccess':
        return this.fieldAccess(node)
      case 'Subscript':
        return this.subscript(node)
      case 'Unary':
        return this.unary(node)
      case 'Binary':
        return this.binary(node)
      case 'Like':
        return `${this.compared(node.left)}${not(node)} LIKE ${this.compared(node.right)}`
      case 'In':
        return `${this.compared(node.operand)}${not(node)} IN ${this.among(node.among)}`
      case 'Between':
        return this.between(node)
      case 'Is':
        return `${this.compared(node.operand)} IS${not(node)} ${node.what}`
      case 'IsDistinctFrom':
        return `${this.compared(node.left)} IS${not(node)} DISTINCT FROM ${this.compared(node.right)}`
      case 'Case':
        return this.case(node)
      case 'Cast':
        return this.cast(node)
      case 'Extract':
        return this.extract(node)
      case 'Exists':
        return `EXISTS(${this.query(node.query)})`
      case 'ArraySubquery':
        return `ARRAY(${this.query(node.query)})`
      case 'ScalarSubquery':
        return `(${this.query(node.query)})`
      case 'ArrayLiteral':
        return this.array(node)
      case 'StructLiteral':
        return this.struct(node)
      case 'Tuple':
        return `(${this.list(node.items)})`
      case 'Parenthesized':
        return `(${this.expression(node.expression)})`
      case 'Call':
        return this.call(node)
      case 'NamedArgument':
        return `${printName(node.name)} => ${this.expression(node.value)}`
      case 'Lambda':
        return this.lambda(node)
      default:
        return unknownKind(node)
    }
  }

  /** In parentheses if it holds together less tightly than its place asks for. */
  held(node: Expression, lowest: number): string {
    const text = this.expression(node)
    return levelOf(node) < lowest ? `(${text})` : text
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

  private subscript({ of, mode, index }: Subscript): string {
    const inside = this.expression(index)
    return `${this.held(of, level.suffix)}[${mode ? `${mode}(${inside})` : inside}]`
  }

  /** Equal operators group from the left, comparisons not at all. */
  private binary(node: Binary): string {
    const own = levelOf(node)
    const first = own === level.comparison ? own + 1 : own
    return `${this.held(node.left, first)} ${node.operator} ${this.held(node.right, own + 1)}`
  }

  private between(node: Between): string {
    const range = `${this.compared(node.low)} AND ${this.compared(node.high)}`
    return `${this.compared(node.operand)}${not(node)} BETWEEN ${range}`
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

  private interval({ value, part, to }: IntervalLiteral): string {
    const end = to === null ? '' : ` TO ${printPart(to, intervalParts)}`
    return `INTERVAL ${this.held(value, level.bitOr)} ${printPart(part, intervalParts)}${end}`
  }

  private extract({ part, operand, zone }: Extract): string {
    const at = zone ? ` AT TIME ZONE ${this.expression(zone)}` : ''
    return `EXTRACT(${printPart(part, extractParts)} FROM ${this.expression(operand)}${at})`
  }

  private array({ keyword, type, items }: ArrayLiteral): string {
    return `${keyword ? 'ARRAY' : ''}${type ? `<${printType(type)}>` : ''}[${this.list(items)}]`
  }

  private struct({ type, items }: StructLiteral): string {
    return `${type ? printType(type) : 'STRUCT'}(${items.map(item => this.column(item)).join(', ')})`
  }

  private lambda({ parameters, body }: Lambda): string {
    const names = parameters.map(printName).join(', ')
    return `${parameters.length === 1 ? names : `(${names})`} -> ${this.expression(body)}`
  }
}

function not(node: { not: boolean }): string {
  return node.not ? ' NOT' : ''
}
