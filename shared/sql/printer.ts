import { SqlError } from './error.ts'
import {
  extractParts,
  hasComma,
  intervalParts,
  precedence,
  precedenceOf,
  reservedFunctions,
  reservedWords,
} from './grammar.ts'
import { tokenize } from './tokens.ts'
import type * as ast from './tree.ts'
import type { SqlType, StructField } from './types.ts'
import { unknownKind } from './walk.ts'

interface PrintOptions {
  /**
   * The text to print for a table instead of its path, or `null` for the path. It is printed unchecked, and the table
   * keeps the name by which the rest of the query refers to it.
   */
  table?: (reference: ast.TableReference) => string | null
}

/**
 * The query as GoogleSQL on one line, from nothing but the tree: equal trees give equal text, without comments or
 * layout, with keywords in capitals. Parentheses that the tree lacks are added.
 * @throws SqlError for a tree with a name, literal or join that no text stands for
 */
export function print(query: ast.Query, options: PrintOptions = {}): string {
  return new Printer(options).query(query)
}

class Printer {
  private readonly tableText: (reference: ast.TableReference) => string | null

  constructor({ table = () => null }: PrintOptions) {
    this.tableText = table
  }

  query(query: ast.Query): string {
    if (query.offset && !query.limit) throw new SqlError('OFFSET needs a LIMIT')
    return words(
      query.with ? this.with(query.with) : '',
      this.body(query.body),
      this.orderBy(query.orderBy),
      this.count(query.limit, 'LIMIT'),
      this.count(query.offset, 'OFFSET'),
    )
  }

  private with({ recursive, ctes }: ast.With): string {
    const tables = ctes.map(({ name, query }) => `${printName(name)} AS (${this.query(query)})`)
    return `WITH ${recursive ? 'RECURSIVE ' : ''}${tables.join(', ')}`
  }

  private body(body: ast.QueryBody): string {
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

  private select(select: ast.Select): string {
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

  private item(item: ast.SelectItem): string {
    if (item.kind === 'SelectColumn') return this.column(item)
    const { of, except, replace } = item
    return words(
      of ? `${this.operand(of, precedence.suffix)}.*` : '*',
      except.length > 0 ? `EXCEPT (${except.map(printName).join(', ')})` : '',
      replace.length > 0 ? `REPLACE (${replace.map(column => this.column(column)).join(', ')})` : '',
    )
  }

  private groupBy({ grouping, items }: ast.GroupBy): string {
    if (grouping === 'ALL') return 'ALL'
    return grouping === 'LIST' ? this.list(items) : `${grouping}(${this.list(items)})`
  }

  private from(from: ast.From): string {
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

  private table(reference: ast.TableReference): string {
    const text = this.tableText(reference)
    const alias = reference.alias ?? (text === null ? null : impliedAlias(reference))
    return (text ?? printPath(reference.path)) + as(alias) + withOffset(reference.offset)
  }

  /** Joins and commas group from the left; any other grouping needs parentheses. */
  private join({ type, left, right, on, using }: ast.Join): string {
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

  // ---- expressions

  private expression(node: ast.Expression): string {
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

  /** In parentheses if its precedence is below `lowest`. */
  private operand(node: ast.Expression, lowest: number): string {
    const text = this.expression(node)
    return precedenceOf(node) < lowest ? `(${text})` : text
  }

  /** Comparisons do not chain, so their operands have a higher precedence. */
  private compared(node: ast.Expression): string {
    return this.operand(node, precedence.bitOr)
  }

  /** Without parentheses, a field of a path would read as a longer path. */
  private fieldAccess({ of, field }: ast.FieldAccess): string {
    const text = of.kind === 'Path' ? `(${this.expression(of)})` : this.operand(of, precedence.suffix)
    return `${text}.${printField(field)}`
  }

  /** `- -1`, since `--1` is a comment. */
  private unary({ operator, operand }: ast.Unary): string {
    if (operator === 'NOT') return `NOT ${this.operand(operand, precedence.not)}`
    const text = this.operand(operand, precedence.sign)
    return operator + (text.startsWith('-') ? ' ' : '') + text
  }

  private subscript({ of, mode, index }: ast.Subscript): string {
    const inside = this.expression(index)
    return `${this.operand(of, precedence.suffix)}[${mode ? `${mode}(${inside})` : inside}]`
  }

  /** Operators of one precedence group from the left, comparisons not at all. */
  private binary(node: ast.Binary): string {
    const own = precedenceOf(node)
    const first = own === precedence.comparison ? own + 1 : own
    return `${this.operand(node.left, first)} ${node.operator} ${this.operand(node.right, own + 1)}`
  }

  private between(node: ast.Between): string {
    const range = `${this.compared(node.low)} AND ${this.compared(node.high)}`
    return `${this.compared(node.operand)}${not(node)} BETWEEN ${range}`
  }

  private among(among: ast.In['among']): string {
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

  private case({ operand, branches, otherwise }: ast.Case): string {
    const texts = branches.map(
      ({ when, then }) => `WHEN ${this.expression(when)} THEN ${this.expression(then)}`,
    )
    if (operand) texts.unshift(this.expression(operand))
    if (otherwise) texts.push(`ELSE ${this.expression(otherwise)}`)
    return `CASE ${texts.join(' ')} END`
  }

  private cast({ safe, operand, type, format }: ast.Cast): string {
    const form = format ? ` FORMAT ${this.expression(format)}` : ''
    return `${safe ? 'SAFE_CAST' : 'CAST'}(${this.expression(operand)} AS ${printType(type)}${form})`
  }

  private interval({ value, part, to }: ast.IntervalLiteral): string {
    const end = to === null ? '' : ` TO ${printPart(to, intervalParts)}`
    return `INTERVAL ${this.operand(value, precedence.bitOr)} ${printPart(part, intervalParts)}${end}`
  }

  private extract({ part, operand, zone }: ast.Extract): string {
    const at = zone ? ` AT TIME ZONE ${this.expression(zone)}` : ''
    return `EXTRACT(${printPart(part, extractParts)} FROM ${this.expression(operand)}${at})`
  }

  private array({ keyword, type, items }: ast.ArrayLiteral): string {
    return `${keyword ? 'ARRAY' : ''}${type ? `<${printType(type)}>` : ''}[${this.list(items)}]`
  }

  private struct({ type, items }: ast.StructLiteral): string {
    return `${type ? printType(type) : 'STRUCT'}(${items.map(item => this.column(item)).join(', ')})`
  }

  private lambda({ parameters, body }: ast.Lambda): string {
    const names = parameters.map(printName).join(', ')
    return `${parameters.length === 1 ? names : `(${names})`} -> ${this.expression(body)}`
  }

  // ---- lists, windows and calls

  private list(nodes: ast.Expression[]): string {
    return nodes.map(node => this.expression(node)).join(', ')
  }

  private column({ expression, alias }: ast.SelectColumn): string {
    return this.expression(expression) + as(alias)
  }

  private orderBy(items: ast.OrderItem[]): string {
    const texts = items.map(({ expression, direction, nulls }) => {
      const order = (direction ? ` ${direction}` : '') + (nulls ? ` NULLS ${nulls}` : '')
      return this.expression(expression) + order
    })
    return texts.length > 0 ? `ORDER BY ${texts.join(', ')}` : ''
  }

  private window(window: ast.Window): string {
    const { base, partitionBy, frame } = window
    const inside = words(
      base ? printName(base) : '',
      partitionBy.length > 0 ? `PARTITION BY ${this.list(partitionBy)}` : '',
      this.orderBy(window.orderBy),
      frame ? `${frame.unit} ${frame.end ? 'BETWEEN ' : ''}${this.bound(frame.start)}` : '',
      frame?.end ? `AND ${this.bound(frame.end)}` : '',
    )
    return `(${inside})`
  }

  private count(count: ast.Count | null, keyword: string): string {
    return count ? `${keyword} ${this.expression(count)}` : ''
  }

  private bound({ bound, count }: ast.FrameBound): string {
    return count ? `${this.expression(count)} ${bound}` : bound
  }

  private call(node: ast.Call): string {
    const { star, distinct, nulls, having, over } = node
    const inside = words(
      distinct ? 'DISTINCT' : '',
      star ? '*' : this.list(node.arguments),
      nulls ? `${nulls} NULLS` : '',
      having ? `HAVING ${having.extreme} ${this.expression(having.expression)}` : '',
      this.orderBy(node.orderBy),
      this.count(node.limit, 'LIMIT'),
    )
    const text = `${printFunction(node)}(${inside})`
    if (!over) return text
    return `${text} OVER ${'kind' in over ? this.window(over) : printName(over)}`
  }
}

function not(node: { not: boolean }): string {
  return node.not ? ' NOT' : ''
}

function as(alias: Name | null): string {
  return alias ? ` AS ${printName(alias)}` : ''
}

function words(...texts: string[]): string {
  return texts.filter(Boolean).join(' ')
}

function withOffset(name: ast.Identifier | null): string {
  return name ? ` WITH OFFSET${as(name)}` : ''
}

/** Without an alias a table is called by the last part of its path, also of a path in one pair of backticks. */
function impliedAlias({ path }: ast.TableReference): ast.Identifier {
  const last = path.at(-1)!
  return { ...last, name: last.name.slice(last.name.lastIndexOf('.') + 1) }
}

// ---- names, literals and types
// Trees may be built by hand, so each piece is checked to be one token and nothing else before it becomes text.

type Name = Pick<ast.Identifier, 'name' | 'quoted'>

const plainName = /^[A-Za-z_]\w*$/
const unquotable = /[`\\\p{Cc}]/u

const tokenKinds: Record<string, ast.Literal['literal']> = {
  string: 'STRING',
  bytes: 'BYTES',
  integer: 'INTEGER',
  float: 'FLOAT',
}
const constants: Record<string, ast.Literal['literal']> = { NULL: 'NULL', TRUE: 'BOOL', FALSE: 'BOOL' }

/** In backticks unless it is plain. Throws SqlError for a name that backticks cannot hold. */
function printName({ name, quoted }: Name): string {
  return quoted || reservedWords.has(name.toUpperCase()) ? quote(name) : printField({ name, quoted })
}

/** Names with dots between them; after a dot a reserved word needs no backticks. */
function printPath([first, ...rest]: ast.Identifier[]): string {
  if (!first) throw new SqlError('a path has no names')
  return [printName(first), ...rest.map(printField)].join('.')
}

/** The name of a function, which may be a reserved word: `IF`, `LEFT`. */
function printFunction({ name }: ast.Call): string {
  const [first, ...rest] = name
  const bare = first && rest.length === 0 && !first.quoted && reservedFunctions.has(first.name.toUpperCase())
  return bare ? first.name : printPath(name)
}

function printField({ name, quoted }: Name): string {
  return quoted || !plainName.test(name) ? quote(name) : name
}

function quote(name: string): string {
  if (name === '' || unquotable.test(name) || !name.isWellFormed()) {
    throw new SqlError(`${JSON.stringify(name)} cannot be a name`)
  }
  return `\`${name}\``
}

/** The text as written, if it reads as this one literal. */
function printLiteral({ literal, text, value }: ast.Literal): string {
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

function printParameter({ name }: ast.ParameterReference): string {
  if (!plainName.test(name)) throw new SqlError(`${JSON.stringify(name)} cannot name a parameter`)
  return `@${name}`
}

/** One of the parts that GoogleSQL counts time in. */
function printPart(part: string, parts: ReadonlySet<string>): string {
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
