import { SqlError } from './error.ts'
import {
  extractParts,
  hasComma,
  intervalParts,
  literalKinds,
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
export function print(query: ast.Query, { table = () => null }: PrintOptions = {}): string {
  return new Printer(table).text(query)
}

class Printer {
  /** The text for a table instead of its path, or `null`. */
  readonly table: (reference: ast.TableReference) => string | null

  constructor(table: Printer['table']) {
    this.table = table
  }

  text(node: ast.AnyNode): string {
    if (!Object.hasOwn(texts, node.kind)) return unknownKind(node as never)
    const textOf = texts[node.kind] as (node: ast.AnyNode, printer: Printer) => string
    return textOf(node, this)
  }

  list(nodes: ast.AnyNode[]): string {
    return nodes.map(node => this.text(node)).join(', ')
  }

  /** A clause: its keyword and what follows, or nothing. */
  clause(keyword: string, content: ast.AnyNode | ast.AnyNode[] | null): string {
    const nodes = Array.isArray(content) ? content : content ? [content] : []
    return nodes.length > 0 ? `${keyword} ${this.list(nodes)}` : ''
  }

  enclosed(node: ast.AnyNode, inParentheses: boolean): string {
    return inParentheses ? `(${this.text(node)})` : this.text(node)
  }

  /** In parentheses if its precedence is below `lowest`. */
  operand(node: ast.Expression, lowest: number): string {
    return this.enclosed(node, precedenceOf(node) < lowest)
  }

  /** Comparisons do not chain, so their operands have a higher precedence. */
  compared(node: ast.Expression): string {
    return this.operand(node, precedence.bitOr)
  }
}

/** The text of each kind of node; `p` prints those below it. */
const texts: { [Node in ast.AnyNode as Node['kind']]: (node: Node, p: Printer) => string } = {
  // ---- queries

  Query: ({ with: common, body, orderBy, limit, offset }, p) => {
    if (offset && !limit) throw new SqlError('OFFSET needs a LIMIT')
    const rows = [p.clause('LIMIT', limit), p.clause('OFFSET', offset)]
    return words(common && p.text(common), p.text(body), p.clause('ORDER BY', orderBy), ...rows)
  },
  With: ({ recursive, ctes }, p) => `WITH ${recursive ? 'RECURSIVE ' : ''}${p.list(ctes)}`,
  CommonTable: ({ name, query }, p) => `${printName(name)} AS (${p.text(query)})`,
  QueryInParentheses: ({ query }, p) => `(${p.text(query)})`,
  SetOperation: ({ left, right, ...operation }, p) => {
    const text = printOperator(operation)
    const first = p.enclosed(left, left.kind === 'SetOperation' && printOperator(left) !== text)
    return `${first} ${text} ${p.enclosed(right, right.kind === 'SetOperation')}`
  },
  Select: ({ distinct, as, items, from, where, groupBy, having, qualify, windows }, p) => {
    if (items.some(item => item.kind === 'SelectStar' && item.rename.length > 0))
      return renameItems(items, from, where, p)
    return words(
      `SELECT${distinct ? ' DISTINCT' : ''}${as ? ` AS ${as}` : ''}`,
      p.list(items),
      p.clause('FROM', from),
      p.clause('WHERE', where),
      p.clause('GROUP BY', groupBy),
      p.clause('HAVING', having),
      p.clause('QUALIFY', qualify),
      p.clause('WINDOW', windows),
    )
  },
  SelectColumn: ({ expression, alias }, p) => p.text(expression) + as(alias),
  SelectStar: ({ of, except, replace }, p) =>
    words(
      of ? `${p.operand(of, precedence.suffix)}.*` : '*',
      names('EXCEPT', except),
      replace.length > 0 && `REPLACE (${p.list(replace)})`,
    ),
  GroupBy: ({ grouping, items }, p) => {
    if (grouping === 'ALL') return 'ALL'
    return grouping === 'LIST' ? p.list(items) : `${grouping} (${p.list(items)})`
  },
  OrderItem: ({ expression, direction, nulls }, p) =>
    words(p.text(expression), direction, nulls && `NULLS ${nulls}`),

  // ---- FROM

  TableReference: (node, p) => {
    const text = p.table(node)
    const alias = node.alias ?? (text === null ? null : impliedAlias(node))
    return (text ?? printPath(node.path)) + as(alias) + withOffset(node.offset)
  },
  UnnestReference: ({ array, alias, offset }, p) =>
    `UNNEST(${p.text(array)})${as(alias)}${withOffset(offset)}`,
  DerivedTable: ({ query, alias }, p) => `(${p.text(query)})${as(alias)}`,
  Pivot: ({ of, aggregates, by, values, alias }, p) =>
    `${p.text(of)} PIVOT(${p.list(aggregates)} FOR ${p.compared(by)} IN (${p.list(values)}))${as(alias)}`,
  Unpivot: ({ of, nulls, values, name, groups, alias }, p) => {
    const columns = `(${values.map(printName).join(', ')}) FOR ${printName(name)} IN (${p.list(groups)})`
    return `${p.text(of)} UNPIVOT${nulls ? ` ${nulls} NULLS ` : ''}(${columns})${as(alias)}`
  },
  UnpivotGroup: ({ columns, label }, p) => `(${p.list(columns)})${label ? ` AS ${p.text(label)}` : ''}`,
  // Joins and commas group from the left; any other grouping needs parentheses.
  Join: ({ type, left, right, on, using }, p) => {
    if (hasComma(right)) throw new SqlError('a comma cannot join tables to the right of another join')
    if (hasComma(left) && (type === 'RIGHT' || type === 'FULL')) {
      throw new SqlError(`${type} JOIN cannot follow a comma`)
    }
    const item = p.enclosed(right, right.kind === 'Join')
    if (type === 'COMMA') return `${p.text(left)}, ${item}`
    const word = type === 'INNER' ? 'JOIN' : `${type} JOIN`
    return words(p.text(left), word, item, p.clause('ON', on), names('USING', using))
  },
  JoinInParentheses: ({ join }, p) => {
    if (hasComma(join)) throw new SqlError('a comma cannot join tables inside parentheses')
    return `(${p.text(join)})`
  },

  // ---- windows

  NamedWindow: ({ name, window }, p) => `${printName(name)} AS ${p.text(window)}`,
  Window: ({ base, partitionBy, orderBy, frame }, p) => {
    const order = p.clause('ORDER BY', orderBy)
    return `(${words(base && printName(base), p.clause('PARTITION BY', partitionBy), order, frame && p.text(frame))})`
  },
  Frame: ({ unit, start, end }, p) =>
    words(unit, end && 'BETWEEN', p.text(start), end && `AND ${p.text(end)}`),
  FrameBound: ({ bound, count }, p) => words(count && p.text(count), bound),

  // ---- values

  Literal: printLiteral,
  TypedLiteral: ({ type, value }) => `${type} ${printLiteral(value)}`,
  IntervalLiteral: ({ value, part, to }, p) => {
    const end = to === null ? '' : ` TO ${printPart(to, intervalParts)}`
    return `INTERVAL ${p.compared(value)} ${printPart(part, intervalParts)}${end}`
  },
  ParameterReference: printParameter,
  Path: ({ parts }) => printPath(parts),
  // Without parentheses, a field of a path would read as a longer path.
  FieldAccess: ({ of, field }, p) => {
    const text = of.kind === 'Path' ? p.enclosed(of, true) : p.operand(of, precedence.suffix)
    return `${text}.${printField(field)}`
  },
  Subscript: ({ of, mode, index }, p) =>
    `${p.operand(of, precedence.suffix)}[${mode ?? ''}${p.enclosed(index, mode !== null)}]`,
  ArrayLiteral: ({ keyword, type, items }, p) =>
    `${keyword ? 'ARRAY' : ''}${type ? `<${printType(type)}>` : ''}[${p.list(items)}]`,
  StructLiteral: ({ type, items }, p) => `${type ? printType(type) : 'STRUCT'}(${p.list(items)})`,
  Tuple: ({ items }, p) => `(${p.list(items)})`,
  Parenthesized: ({ expression }, p) => `(${p.text(expression)})`,
  Exists: ({ query }, p) => `EXISTS(${p.text(query)})`,
  ArraySubquery: ({ query }, p) => `ARRAY(${p.text(query)})`,
  ScalarSubquery: ({ query }, p) => `(${p.text(query)})`,

  // ---- operators

  // `- -1`, since `--1` is a comment.
  Unary: ({ operator, operand }, p) => {
    if (operator === 'NOT') return `NOT ${p.operand(operand, precedence.not)}`
    const text = p.operand(operand, precedence.sign)
    return operator + (text.startsWith('-') ? ' ' : '') + text
  },
  // Operators of one precedence group from the left, comparisons not at all.
  Binary: (node, p) => {
    const own = precedenceOf(node)
    const first = own === precedence.comparison ? own + 1 : own
    return `${p.operand(node.left, first)} ${node.operator} ${p.operand(node.right, own + 1)}`
  },
  Like: ({ left, not, right }, p) => `${p.compared(left)}${negation(not)} LIKE ${p.compared(right)}`,
  LikeAny: ({ operand, not, quantifier, among }, p) =>
    `${p.compared(operand)}${negation(not)} LIKE ${quantifier} ${p.text(among)}`,
  In: ({ operand, not, among }, p) => `${p.compared(operand)}${negation(not)} IN ${p.text(among)}`,
  InList: ({ items }, p) => `(${p.list(items)})`,
  InQuery: ({ query }, p) => `(${p.text(query)})`,
  InUnnest: ({ array }, p) => `UNNEST(${p.text(array)})`,
  Between: ({ operand, not, low, high }, p) =>
    `${p.compared(operand)}${negation(not)} BETWEEN ${p.compared(low)} AND ${p.compared(high)}`,
  Is: ({ operand, not, what }, p) => `${p.compared(operand)} IS${negation(not)} ${what}`,
  IsDistinctFrom: ({ left, not, right }, p) =>
    `${p.compared(left)} IS${negation(not)} DISTINCT FROM ${p.compared(right)}`,

  // ---- calls and the like

  Case: ({ operand, branches, otherwise }, p) =>
    words(
      'CASE',
      operand && p.text(operand),
      ...branches.map(branch => p.text(branch)),
      p.clause('ELSE', otherwise),
      'END',
    ),
  CaseBranch: ({ when, then }, p) => `WHEN ${p.text(when)} THEN ${p.text(then)}`,
  Cast: ({ safe, operand, type, format, zone }, p) => {
    const inside = words(
      p.text(operand),
      `AS ${printType(type)}`,
      p.clause('FORMAT', format),
      p.clause('AT TIME ZONE', zone),
    )
    return `${safe ? 'SAFE_CAST' : 'CAST'}(${inside})`
  },
  Extract: ({ part, operand, zone }, p) => {
    const from = words(
      printPart(part, extractParts),
      p.clause('FROM', operand),
      p.clause('AT TIME ZONE', zone),
    )
    return `EXTRACT(${from})`
  },
  Call: (node, p) => {
    const { star, distinct, nulls, having, orderBy, limit, over } = node
    const inside = words(
      distinct && 'DISTINCT',
      star ? '*' : p.list(node.arguments),
      nulls && `${nulls} NULLS`,
      having && p.text(having),
      p.clause('ORDER BY', orderBy),
      p.clause('LIMIT', limit),
    )
    const window = over && `OVER ${'kind' in over ? p.text(over) : printName(over)}`
    return words(`${printFunction(node)}(${inside})`, window)
  },
  HavingExtreme: ({ extreme, expression }, p) => `HAVING ${extreme} ${p.text(expression)}`,
  WithExpression: ({ variables, body }, p) => {
    const named = variables.map(({ alias, expression }) => `${printName(alias!)} AS ${p.text(expression)}`)
    return `WITH(${[...named, p.text(body)].join(', ')})`
  },
  NamedArgument: ({ name, value }, p) => `${printName(name)} => ${p.text(value)}`,
  Lambda: ({ parameters, body }, p) => {
    const list = parameters.map(printName).join(', ')
    return `${parameters.length === 1 ? list : `(${list})`} -> ${p.text(body)}`
  },
}

/** In the form of CORRESPONDING, which the reference reads in more of its versions than BY NAME. */
function printOperator({ operator, byName }: Pick<ast.SetOperation, 'operator' | 'byName'>): string {
  if (!byName) return operator
  const { mode, on } = byName
  return words(
    (mode === 'LEFT' || mode === 'FULL') && mode,
    operator,
    mode === 'STRICT' && mode,
    'CORRESPONDING',
    names('BY', on),
  )
}

function negation(not: boolean): string {
  return not ? ' NOT' : ''
}

function as(alias: Name | null): string {
  return alias ? ` AS ${printName(alias)}` : ''
}

function words(...texts: (string | false | null)[]): string {
  return texts.filter(Boolean).join(' ')
}

function names(keyword: string, list: ast.Identifier[]): string {
  return list.length > 0 ? `${keyword} (${list.map(printName).join(', ')})` : ''
}

/** No SELECT can say RENAME, so that the pipe is printed as one. */
function renameItems(
  [star, ...more]: ast.SelectItem[],
  from: ast.From | null,
  where: ast.Expression | null,
  p: Printer,
): string {
  if (star?.kind !== 'SelectStar' || more.length > 0)
    throw new SqlError('RENAME stands for all columns of a pipe')
  const names = star.rename.map(({ column, name }) => `${printName(column)} AS ${printName(name)}`)
  return words(p.clause('FROM', from), p.clause('|> WHERE', where), `|> RENAME ${names.join(', ')}`)
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
  const kind =
    token && token.kind in literalKinds
      ? literalKinds[token.kind as keyof typeof literalKinds]
      : constants[text]
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

/** As GoogleSQL text. Throws SqlError for a size that is no whole number, or a field that cannot be named. */
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
