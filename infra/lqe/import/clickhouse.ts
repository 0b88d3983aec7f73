/**
 * ClickHouse's SQL where it is GoogleSQL with the same meaning. Everything is refused but what stands in the tables below:
 * most of what both parsers take differs in NULLs, names or types (https://clickhouse.com/docs/sql-reference).
 * Columns with a time are taken to be in UTC.
 */
import { placeOf, SqlError } from '../../../shared/sql/error.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { nameKey } from '../../../shared/sql/relations.ts'
import { type Token, tokenize } from '../../../shared/sql/tokens.ts'
import type { AnyNode, Call, Expression, Path, Select, SelectColumn } from '../../../shared/sql/tree.ts'
import { children, descendants, descendantsHere } from '../../../shared/sql/walk.ts'

/** How a call is written here: another name, and text around its arguments. */
interface Rewrite {
  name: string
  before?: string
  after?: string
  /** How many arguments it may have. */
  arguments: number
}

const trunc = (part: string): Rewrite => ({ name: 'TIMESTAMP_TRUNC', after: `, ${part}`, arguments: 1 })
const dateTrunc = (part: string): Rewrite => ({
  name: 'DATE_TRUNC',
  before: 'DATE(',
  after: `), ${part}`,
  arguments: 1,
})
const extract = (part: string): Rewrite => ({ name: 'EXTRACT', before: `${part} FROM `, arguments: 1 })
const same = (name: string, count: number): Rewrite => ({ name, arguments: count })

/** ClickHouse's own functions, whose names have their case. */
const functions: Record<string, Rewrite> = {
  countIf: same('COUNTIF', 1),
  uniqExact: { name: 'COUNT', before: 'DISTINCT ', arguments: 1 },
  lowerUTF8: same('LOWER', 1),
  upperUTF8: same('UPPER', 1),
  lengthUTF8: same('CHAR_LENGTH', 1),
  // To the second, as a DateTime is.
  now: { name: 'TIMESTAMP_TRUNC', before: 'CURRENT_TIMESTAMP(), SECOND', arguments: 0 },
  today: same('CURRENT_DATE', 0),
  toDate: same('DATE', 1),
  toStartOfMinute: trunc('MINUTE'),
  toStartOfHour: trunc('HOUR'),
  toStartOfDay: trunc('DAY'),
  toMonday: dateTrunc('ISOWEEK'),
  toStartOfMonth: dateTrunc('MONTH'),
  toStartOfQuarter: dateTrunc('QUARTER'),
  toStartOfYear: dateTrunc('YEAR'),
  toYear: extract('YEAR'),
  toMonth: extract('MONTH'),
  toDayOfMonth: extract('DAY'),
  toHour: extract('HOUR'),
  toMinute: extract('MINUTE'),
  toSecond: extract('SECOND'),
}

/** Functions of standard SQL, in any case. */
const standard: Record<string, Rewrite> = {
  IF: same('IF', 3),
  IFNULL: same('IFNULL', 2),
  NULLIF: same('NULLIF', 2),
  ABS: same('ABS', 1),
  COALESCE: same('COALESCE', Number.POSITIVE_INFINITY),
}

/** Over no rows they are 0, NaN or '' in ClickHouse; a group has rows. */
const aggregates = new Set(['SUM', 'AVG', 'MIN', 'MAX'])

/** Why the other functions that people use are not among them. */
const reasons: Record<string, string> = {
  UNIQ: 'estimates: write uniqExact, if it is to be exact',
  LOWER: 'changes ASCII only: write lowerUTF8',
  UPPER: 'changes ASCII only: write upperUTF8',
  LENGTH: 'counts bytes, or elements: write lengthUTF8',
  ROUND: 'rounds halves to even numbers',
  ANY: 'skips NULL',
}

/** Words that stand before JOIN or behind a table in ClickHouse, and would be read as the table's alias. */
const notAliases = new Set([
  'FINAL',
  'ASOF',
  'SEMI',
  'ANTI',
  'GLOBAL',
  'PASTE',
  'SAMPLE',
  'SETTINGS',
  'FORMAT',
])

interface Edit {
  at: number
  end: number
  text: string
}

/**
 * The query in GoogleSQL, on the same lines.
 * @throws SqlError at the first part that has no equal
 */
export function googleSqlOf(sql: string): string {
  const tokens = tokenize(sql)
  for (const token of tokens) if (token.kind === 'string') assertPlain(token, sql)
  const edits: Edit[] = []
  for (const node of descendants(parse(sql))) edits.push(...editsOf(node, sql, tokens))
  // From the last to the first; of two at one place, what is put in stands before what is replaced.
  edits.sort((a, b) => b.at - a.at || b.end - a.end)
  return edits.reduce((text, { at, end, text: by }) => text.slice(0, at) + by + text.slice(end), sql)
}

/** A string is one in single quotes, without escapes: the other forms are read otherwise. */
function assertPlain({ text, at }: Token, sql: string): void {
  if (text.startsWith('"')) throw refusal(sql, at, 'is a name in ClickHouse: write it in backticks')
  if (/^'(?!'')[^\\]*$/.test(text) || text === "''") return
  throw refusal(
    sql,
    at,
    'has a backslash or quotes, which ClickHouse reads otherwise: write the text without',
  )
}

function refusal(sql: string, at: number, why: string): SqlError {
  const word = /^(?:\w+|"[^"]*"|'(?:[^'\\]|\\.)*'|\S)/.exec(sql.slice(at))?.[0] ?? ''
  return new SqlError(`${word} ${why}`, placeOf(sql, at))
}

/** Kinds that mean the same wherever they stand. */
const plain = new Set<AnyNode['kind']>(
  `With CommonTable QueryInParentheses SelectColumn DerivedTable Path Literal ParameterReference Parenthesized
  IntervalLiteral Unary Like In Between Is Case CaseBranch ScalarSubquery Exists`.split(
    /\s+/,
  ) as AnyNode['kind'][],
)

type Check = (node: never, sql: string, tokens: Token[]) => Edit[]

/** The other kinds that are taken, with what has to hold; they give the changes. */
const checks: {
  [Kind in AnyNode['kind']]?: (node: Extract<AnyNode, { kind: Kind }>, sql: string, tokens: Token[]) => Edit[]
} = {
  Query: ({ body, orderBy, limit }, sql) => {
    if (body.kind === 'SetOperation' && (orderBy[0] ?? limit))
      throw refusal(
        sql,
        (orderBy[0] ?? limit)!.at,
        'is of the last SELECT alone in ClickHouse: put the UNION into a subquery',
      )
    return []
  },
  Select: checkSelect,
  InList: ({ items }, sql) => {
    const nothing = items.find(item => item.kind === 'Literal' && item.literal === 'NULL')
    if (nothing) throw refusal(sql, nothing.at, 'in a list is passed over by ClickHouse')
    return []
  },
  Call: checkCall,
  TableReference: ({ alias }, sql) => {
    if (alias && !alias.quoted && notAliases.has(alias.name.toUpperCase()))
      throw refusal(sql, alias.at, 'has no equal')
    return []
  },
  Join: ({ type, at }, sql) => {
    if (type === 'LEFT' || type === 'RIGHT' || type === 'FULL')
      throw refusal(sql, at, `is joined by a ${type} JOIN, which fills in 0 and '' where GoogleSQL has NULL`)
    return []
  },
  SelectStar: () => [],
  SetOperation: ({ operator, byName, at }, sql) => {
    if (!operator.startsWith('UNION') || byName) throw refusal(sql, at, `is under ${operator}, which differs`)
    return []
  },
  GroupBy: ({ grouping, at }, sql) => {
    if (grouping !== 'LIST') throw refusal(sql, at, `has ${grouping}, whose other groups have NULL here`)
    return []
  },
  // NULLs are last in ClickHouse, in both directions.
  OrderItem: ({ expression, direction, nulls }, sql, tokens) => {
    if (nulls !== null || direction === 'DESC') return []
    const end = endOf(tokens, expression.at)
    return [{ at: end, end, text: ' NULLS LAST' }]
  },
  Binary: ({ operator, left, right, at }, sql) => {
    if (operator === '/' && !isNumber(right, true))
      throw refusal(sql, at, 'is divided by what may be 0: ClickHouse gives inf, GoogleSQL an error')
    const isInterval = right.kind === 'IntervalLiteral' || left.kind === 'IntervalLiteral'
    if (isInterval && !isTime(left))
      throw refusal(sql, at, 'has an INTERVAL: a date becomes a DATETIME by it in GoogleSQL')
    if (operator === '-' && !isInterval && !isNumber(left) && !isNumber(right))
      throw refusal(
        sql,
        at,
        'is in a subtraction: of two times, ClickHouse gives seconds, and GoogleSQL an INTERVAL',
      )
    return []
  },
  TypedLiteral: ({ type, at }, sql) => {
    if (type !== 'DATE') throw refusal(sql, at, 'has no equal')
    return []
  },
  Extract: ({ part, at }, sql) => {
    if (!/^(YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)$/.test(part)) throw refusal(sql, at, `of ${part} has no equal`)
    return []
  },
}

function editsOf(node: AnyNode, sql: string, tokens: Token[]): Edit[] {
  if (plain.has(node.kind)) return []
  const check = checks[node.kind] as Check | undefined
  if (!check) throw refusal(sql, node.at, `begins a ${node.kind}, for which there is no sure equal`)
  return check(node as never, sql, tokens)
}

function isNumber(node: Expression, nonZero = false): boolean {
  const isNumeric = node.kind === 'Literal' && (node.literal === 'INTEGER' || node.literal === 'FLOAT')
  return isNumeric && !(nonZero && Number(node.text) === 0)
}

/** What surely is a time, and no date. */
function isTime(node: Expression): boolean {
  if (node.kind === 'Parenthesized') return isTime(node.expression)
  return node.kind === 'Call' && /^(now|toStartOf(Minute|Hour|Day))$/.test(node.name[0]!.name)
}

/** Conditions give 1 or 0 in ClickHouse, and true or false here. */
const conditions = new Set(['Like', 'In', 'Between', 'Is', 'Exists'])
const comparison = /^(=|!=|<>|<|>|<=|>=|AND|OR)$/

function isCondition(node: Expression): boolean {
  if (node.kind === 'Parenthesized') return isCondition(node.expression)
  if (node.kind === 'Binary') return comparison.test(node.operator)
  return conditions.has(node.kind) || (node.kind === 'Unary' && node.operator === 'NOT')
}

/** The condition in an expression whose value is used, and not only whether it holds. */
function conditionIn(node: AnyNode): AnyNode | undefined {
  if (isCondition(node as Expression)) return node
  const asked: AnyNode[] = node.kind === 'CaseBranch' ? [node.when] : []
  if (node.kind === 'Call' && /^(if|countIf)$/i.test(node.name[0]!.name)) asked.push(node.arguments[0]!)
  if (node.kind === 'Query') return undefined
  for (const child of children(node)) {
    const found = asked.includes(child) ? undefined : conditionIn(child)
    if (found) return found
  }
  return undefined
}

function checkSelect(select: Select, sql: string): Edit[] {
  const { items, from, having, groupBy } = select
  const hasStar = items.some(({ kind }) => kind === 'SelectStar')
  if (hasStar && from?.kind === 'Join')
    throw refusal(sql, items[0]!.at, 'is over a join, where * differs: name the columns')
  const edits = items.flatMap((item, at) => {
    const condition = conditionIn(item)
    if (condition)
      throw refusal(
        sql,
        condition.at,
        'begins a condition, which is 1 or 0 in ClickHouse: write if(..., 1, 0)',
      )
    return item.kind === 'SelectColumn' ? checkName(item, hasStar ? null : at + 1, select, sql) : []
  })
  if (!groupBy)
    for (const part of [...items, ...(having ? [having] : [])])
      for (const node of descendantsHere(part))
        if (node.kind === 'Call' && aggregates.has(node.name[0]!.name.toUpperCase()))
          throw refusal(
            sql,
            node.at,
            'without GROUP BY: over no rows, ClickHouse gives 0 and the like, GoogleSQL NULL',
          )
  return edits
}

/**
 * ClickHouse sees a name of the SELECT in all its clauses, before a column of that name; GoogleSQL in the last clauses alone,
 * and GROUP BY takes the column first, so that it gets the item's number.
 * @param number of the item; `null` beside `*`
 */
function checkName(item: SelectColumn, number: number | null, select: Select, sql: string): Edit[] {
  const { alias, expression } = item
  if (!alias || (expression.kind === 'Path' && expression.parts.at(-1)!.name === alias.name)) return []
  const names = (node: AnyNode) =>
    node.kind === 'Path' && node.parts.length === 1 && nameKey(node.parts[0]!.name) === nameKey(alias.name)
  const uses = (part: AnyNode | null) => (part ? [...descendants(part)].find(names) : undefined)
  const others = select.items.filter(other => other !== item)
  const early = [...others, select.where].map(uses).find(Boolean)
  if (early)
    throw refusal(
      sql,
      early.at,
      'is a name of the same SELECT, which GoogleSQL does not see here: write its expression',
    )
  const late = uses(select.having)
  if (late && uses(expression))
    throw refusal(sql, late.at, 'is a name of the same SELECT and a column: use another name')
  const keys = (select.groupBy?.items ?? []).filter(names) as Path[]
  if (keys[0] && number === null) throw refusal(sql, keys[0].at, 'is a name beside *: name the columns')
  return keys.map(({ at, parts: [key] }) => ({
    at,
    end: at + key!.name.length + (key!.quoted ? 2 : 0),
    text: String(number),
  }))
}

function checkCall(call: Call, sql: string, tokens: Token[]): Edit[] {
  const name = call.name.map(({ name }) => name).join('.')
  const upper = name.toUpperCase()
  const count = call.arguments.length
  if (call.over ?? call.nulls ?? call.having ?? call.limit ?? call.orderBy[0])
    throw refusal(sql, call.at, 'with OVER or the like has no sure equal')
  if (upper === 'COUNT') return countEdits(call, tokens)
  if (aggregates.has(upper) && count === 1 && !call.distinct) return []
  const rewrite = Object.hasOwn(functions, name) ? functions[name] : standard[upper]
  if (!rewrite || call.distinct)
    throw refusal(sql, call.at, reasons[upper] ?? 'is a function of ClickHouse without a sure equal')
  if (count > rewrite.arguments || (count < rewrite.arguments && Number.isFinite(rewrite.arguments)))
    throw refusal(sql, call.at, `has ${count} arguments, and an equal for ${rewrite.arguments} only`)
  const [open, close] = parentheses(tokens, call.at)
  return [
    { at: call.at, end: call.at + call.name[0]!.name.length, text: rewrite.name },
    { at: open.end, end: open.end, text: rewrite.before ?? '' },
    { at: close.at, end: close.at, text: rewrite.after ?? '' },
  ].filter(({ at, end, text }) => text !== '' || at !== end)
}

/** `count()` counts rows. */
function countEdits(call: Call, tokens: Token[]): Edit[] {
  const [open] = parentheses(tokens, call.at)
  return call.arguments.length === 0 && !call.star ? [{ at: open.end, end: open.end, text: '*' }] : []
}

function parentheses(tokens: Token[], at: number): [open: Token, close: Token] {
  const first = tokens.findIndex(token => token.at > at && token.text === '(')
  let depth = 0
  for (const token of tokens.slice(first)) {
    if (token.text === '(') depth++
    if (token.text === ')' && --depth === 0) return [tokens[first]!, token]
  }
  throw new Error('a call that parsed has both parentheses')
}

/** Where an item of ORDER BY ends that begins here: before a comma, LIMIT, or what closes around it. */
function endOf(tokens: Token[], at: number): number {
  let depth = 0
  let end = at
  for (const { kind, text, value, end: after } of tokens.filter(token => token.at >= at)) {
    const isEnd = [',', ')', ';'].includes(text) || kind === 'end' || value === 'LIMIT'
    if (depth === 0 && isEnd) return end
    if (text === '(') depth++
    if (text === ')') depth--
    end = after
  }
  return end
}
