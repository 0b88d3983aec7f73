import { Cursor } from './cursor.ts'
import { SqlError } from './error.ts'
import {
  castTypes,
  hintFor,
  nearestName,
  parts as otherParts,
  pipeOperators,
  types,
  unsupported,
} from './hints.ts'
import { defaultLimits, type Limits } from './limits.ts'
import {
  binaryPrecedence,
  extractParts,
  hasComma,
  intervalParts,
  literalKinds,
  precedence,
  precedenceOf,
  reservedFunctions,
  reservedWords,
} from './grammar.ts'
import * as pipes from './pipes.ts'
import type * as ast from './tree.ts'
import type { ScalarName, SqlType, StructField, StructType } from './types.ts'
import { hasSize, scalarAliases, scalarNames } from './types.ts'
import { heightOf } from './walk.ts'

/**
 * Parses one GoogleSQL query.
 * @throws SqlError, with its place, for other and further statements, for syntax that is malformed or not supported
 * (`shared/sql/README.md`, "What is accepted"), and for a query beyond the limits
 */
export function parse(sql: string, limits: Partial<Limits> = {}): ast.Query {
  const bounds = { ...defaultLimits, ...limits }
  const query = new Parser(sql, bounds).statement()
  // Chains inside chains may keep to the limits of nesting and links, and still make a tree too high to recurse over.
  if (heightOf(query) > bounds.height)
    throw new SqlError('the query is too deep: split its chains of operators')
  return query
}

const scalars: ReadonlyMap<string, ScalarName> = new Map([
  ...scalarNames.map(name => [name, name] as const),
  ...Object.entries(scalarAliases),
])

/** Most digits behind the point and before it, of a text its length (Data types, "Parameterized data types"). */
const sizes: Partial<Record<ScalarName, [behind: number, before: number]>> = {
  BIGNUMERIC: [38, 38],
  BYTES: [0, Infinity],
  NUMERIC: [9, 29],
  STRING: [0, Infinity],
}

function sizeHint(kind: ScalarName, size: number[]): string | null {
  const [behind, before] = sizes[kind] ?? [-1, 0]
  const [precision = 0, scale = 0] = size
  const fits = scale <= behind && precision >= Math.max(1, scale) && precision <= before + scale
  if (fits && size.length <= (behind > 0 ? 2 : 1)) return null
  if (behind <= 0)
    return behind < 0 ? `no size: write ${kind}` : `one size from 1: write it as in ${kind}(10)`
  return `(precision, scale): up to ${before} digits before the point and ${behind} behind it, as in (10, 2)`
}

const typedLiterals = ['BIGNUMERIC', 'DATE', 'DATETIME', 'JSON', 'NUMERIC', 'TIME', 'TIMESTAMP'] as const
const signs = ['-', '+', '~'] as const
/** They begin what follows the arguments of a call. */
const afterArguments: ReadonlySet<string> = new Set(['IGNORE', 'RESPECT', 'HAVING', 'ORDER', 'LIMIT'])
const subscriptModes = ['OFFSET', 'ORDINAL', 'SAFE_OFFSET', 'SAFE_ORDINAL'] as const
/** The words that begin a comparison; NOT may stand before the first three. */
const comparisonWords = ['LIKE', 'IN', 'BETWEEN', 'IS'] as const
const tooMany = {
  ctes: 'common tables',
  selects: 'SELECTs and operators of pipes: let one EXTEND or SELECT make several columns',
  sources: `tables, subqueries and arrays in FROM and JOIN: read each table once, with CASE or IF for its parts`,
}
/** Operators of a FROM item, which are no reserved words and look like its alias. */
const tableOperators = ['PIVOT', 'UNPIVOT', 'MATCH_RECOGNIZE'] as const
const setWords = ['UNION', 'INTERSECT', 'EXCEPT'] as const
/** What may stand before a set operator that matches columns by name; OUTER alone is FULL OUTER. */
const setModes = ['INNER', 'LEFT', 'FULL', 'OUTER'] as const

const pipeOperatorNames =
  'WHERE, SELECT, EXTEND, SET, DROP, RENAME, AS, WITH, AGGREGATE, DISTINCT, ORDER BY, LIMIT, JOIN, UNION, INTERSECT, EXCEPT, PIVOT and UNPIVOT'

type OrderedItem = { item: ast.SelectItem } & Pick<ast.OrderItem, 'direction' | 'nulls'>

type Pipe = pipes.Pipe

interface Operator {
  name: string
  precedence: number
}

/** Recursive descent: one method for each rule of the grammar, the outermost first. */
class Parser extends Cursor {
  private readonly counts = { selects: 0, sources: 0, ctes: 0 }

  // ---- queries

  /** The whole text: one query, and a `;` at most. */
  statement(): ast.Query {
    if (this.atEnd()) throw this.refusal('the query is empty')
    const query = this.query()
    this.takeSymbol(';')
    if (this.atEnd()) return query
    if (this.isSymbol(';')) throw this.refusal('there is ; twice: leave one out')
    throw this.isSymbol(';', -1) ? this.refusal('only one statement is allowed') : this.unexpected()
  }

  private query(): ast.Query {
    return this.nested(() => {
      const { at } = this.token
      const common = this.with()
      const query = this.takeWords('FROM') ? this.pipes(pipes.pipeOver(this.from())) : this.plainQuery()
      return { ...query, with: pipes.withMore(common, query.with), at }
    })
  }

  /** A query without its WITH; the operators of a pipe may follow it. */
  private plainQuery(): ast.Query {
    const { at } = this.token
    const body = this.body()
    const orderBy = this.orderBy()
    const limit = this.rowCount('LIMIT')
    const offset = limit && this.rowCount('OFFSET')
    const query: ast.Query = { kind: 'Query', with: null, body, orderBy, limit, offset, at }
    return this.isSymbol('|>') ? this.pipes(pipes.pipeOverQuery(query)) : query
  }

  private subquery(): ast.Query {
    return this.parenthesized(() => this.query())
  }

  private with(): ast.With | null {
    const { at } = this.token
    if (!this.takeWords('WITH')) return null
    const recursive = this.takeWords('RECURSIVE')
    const ctes = this.list(() => {
      if (this.isWord('SELECT'))
        throw this.refusal('there is SELECT where a table should be: leave out the comma')
      return this.commonTable()
    })
    return { kind: 'With', recursive, ctes, at }
  }

  private commonTable(): ast.CommonTable {
    const { at } = this.token
    this.countOf('ctes')
    const name = this.identifier()
    this.expectWords('AS')
    return { kind: 'CommonTable', name, query: this.subquery(), at }
  }

  private body(): ast.QueryBody {
    let left = this.operand()
    const first = this.token.value
    for (let links = 1; ; links++) {
      const { value, at } = this.token
      const operator = this.setOperator()
      if (!operator) return left
      this.checkLinks(links)
      if (left.kind === 'SetOperation' && !sameOperation(left, operator))
        throw this.refusal(`${first} and ${value} in one query need parentheses`, at)
      left = { kind: 'SetOperation', ...operator, left, right: this.operand(), at: left.at }
    }
  }

  /** How many words a mode before a set operator has; `null` where no set operator comes next. */
  private wordsOfMode(): number | null {
    const mode = setModes.some(word => this.isWord(word)) ? 1 : 0
    const words = mode === 1 && this.isWord('OUTER', 1) ? 2 : mode
    return setWords.some(word => this.isWord(word, words)) ? words : null
  }

  private setOperator(): SetOperator | null {
    if (this.wordsOfMode() === null) return null
    const { at } = this.token
    const mode = this.takeOneOf(...setModes)
    if (mode === 'LEFT' || mode === 'FULL') this.takeWords('OUTER')
    const operator: ast.SetOperator = `${this.expectOneOf(...setWords)} ${this.expectOneOf('ALL', 'DISTINCT')}`
    const byName = this.byName(mode === 'OUTER' ? 'FULL' : mode)
    if (mode && !byName) throw this.refusal(`${mode} ${operator} needs BY NAME after it`, at)
    return { operator, byName }
  }

  /** `BY NAME [ON (...)]` or `[STRICT] CORRESPONDING [BY (...)]`. */
  private byName(mode: 'INNER' | 'LEFT' | 'FULL' | null): ast.ByName | null {
    if (this.takeWords('BY', 'NAME'))
      return { mode: mode ?? 'STRICT', on: this.takeWords('ON') ? this.identifiers() : [] }
    const strict = mode === null && this.takeWords('STRICT')
    if (strict) this.expectWords('CORRESPONDING')
    else if (!this.takeWords('CORRESPONDING')) return null
    return {
      mode: mode ?? (strict ? 'STRICT' : 'INNER'),
      on: this.takeWords('BY') ? this.identifiers() : [],
    }
  }

  private operand(): ast.QueryBody {
    const { kind, text, at } = this.token
    if (this.isSymbol('(')) return { kind: 'QueryInParentheses', query: this.subquery(), at }
    if (this.isWord('SELECT')) return this.select()
    if (this.isWord('FROM')) throw this.refusal('a query that begins with FROM needs parentheses here')
    if (kind !== 'word') throw this.unexpected('SELECT')
    throw this.misspelt(0) ?? this.refusal(`only SELECT queries are allowed: this starts with ${text}`)
  }

  private select(): ast.Select {
    this.countOf('selects')
    const { at } = this.next()
    if (this.isWord('WITH') && !this.isSymbol('(', 1)) throw this.refusal('SELECT WITH is not supported')
    const distinct = this.takeOneOf('DISTINCT', 'ALL') === 'DISTINCT'
    if (distinct && this.isWord('ON'))
      throw this.refusal(
        'DISTINCT ON is not supported: write QUALIFY ROW_NUMBER() OVER (PARTITION BY x ORDER BY y) = 1',
      )
    return {
      kind: 'Select',
      distinct,
      as: this.takeWords('AS') ? this.expectOneOf('STRUCT', 'VALUE') : null,
      items: this.items(() => this.selectItem()),
      from: this.takeWords('FROM') ? this.from() : null,
      where: this.takeWords('WHERE') ? this.expression() : null,
      groupBy: this.groupBy(),
      having: this.takeWords('HAVING') ? this.expression() : null,
      qualify: this.takeWords('QUALIFY') ? this.expression() : null,
      windows: this.takeWords('WINDOW') ? this.list(() => this.namedWindow()) : [],
      at,
    }
  }

  private countOf(what: keyof typeof tooMany, { at } = this.token): void {
    if (++this.counts[what] > this.limits[what])
      throw this.refusal(`the query has over ${this.limits[what]} ${tooMany[what]}`, at)
  }

  // ---- pipes: operators after a query or a FROM, each of which makes one more query of it

  private pipes(start: Pipe): ast.Query {
    let pipe = start
    let common: ast.With | null = null
    for (let links = 1; this.takeSymbol('|>'); links++) {
      this.checkLinks(links)
      this.countOf('selects')
      if (this.isWord('WITH')) common = pipes.withMore(common, this.with())
      else pipe = this.pipeOperator(pipe)
    }
    return { ...pipes.pipedQuery(pipe), with: common }
  }

  private pipeOperator(pipe: Pipe): Pipe {
    const { kind, text, value, at } = this.token
    const isWord = kind === 'word'
    const clause = isWord ? this.pipeClauses[value] : undefined
    if (clause) return clause(pipe, this.next().at)
    const operator = isWord ? this.pipeOperators[value] : undefined
    if (operator) return operator(pipe)
    const refused = isWord ? hintFor([...pipeOperators, ...unsupported], value) : null
    if (refused) throw this.refusal(refused, at)
    const known = [...Object.keys(this.pipeClauses), ...Object.keys(this.pipeOperators)]
    const near = isWord ? nearestName(value, known) : null
    if (near) throw this.refusal(`there is ${text} where ${near} is expected`, at)
    throw this.refusal(`${this.found(0)} where a pipe operator should be: one of ${pipeOperatorNames}`, at)
  }

  /** By their word, which stands before this token, at a place. */
  private readonly pipeClauses: Partial<Record<string, (pipe: Pipe, at: number) => Pipe>> = {
    WHERE: pipe => pipes.filter(pipes.settle(pipe), this.expression()),
    SELECT: (pipe, at) => this.pipeSelect(pipe, at),
    EXTEND: pipe =>
      this.pipeColumns(
        pipe,
        {},
        this.items(() => this.selectItem()),
      ),
    SET: pipe => this.pipeColumns(pipe, { replace: this.columns(() => this.assignment()) }),
    DROP: pipe => this.pipeColumns(pipe, { except: this.columns(() => this.identifier()) }),
    RENAME: pipe => this.pipeColumns(pipe, { rename: this.columns(() => this.renaming()) }),
    AS: pipe => pipes.withAlias(pipe, this.identifier()),
    AGGREGATE: (pipe, at) => this.pipeAggregate(pipe, at),
    DISTINCT: pipe => pipes.distinct(pipe),
  }

  /** By the first of their words, which is this token. */
  private readonly pipeOperators: Partial<Record<string, (pipe: Pipe) => Pipe>> = {
    ORDER: pipe => {
      const orderBy = this.orderBy()
      return { ...pipes.readBy(pipes.settle(pipe), orderBy), orderBy }
    },
    LIMIT: pipe => this.pipeLimit(pipe),
    ...each('UNION INTERSECT EXCEPT', (pipe: Pipe) => this.pipeSetOperation(pipe)),
    ...each('JOIN INNER CROSS LEFT RIGHT FULL OUTER', (pipe: Pipe) =>
      this.wordsOfMode() === null ? this.pipeJoin(pipe) : this.pipeSetOperation(pipe),
    ),
    ...each('PIVOT UNPIVOT', (pipe: Pipe) => pipes.pipeOver(this.turned(pipes.turnable(pipe)))),
  }

  private pipeSelect(pipe: Pipe, at: number): Pipe {
    const distinct = this.takeOneOf('DISTINCT', 'ALL') === 'DISTINCT'
    const as = this.takeWords('AS') ? this.expectOneOf('STRUCT', 'VALUE') : null
    return this.pipeOf(pipe, { distinct, as, items: this.items(() => this.selectItem()), at })
  }

  /** A pipe over a SELECT with these clauses, which sees no range variable of those before. */
  private pipeOf(pipe: Pipe, clauses: Partial<ast.Select> & Pick<ast.Select, 'items'>): Pipe {
    return pipes.pipeOverQuery(
      pipes.queryOf(pipes.selectOver(pipes.readBy(pipes.settle(pipe), clauses.items), clauses), pipe),
    )
  }

  /** All columns with these changes, and more behind them. */
  private pipeColumns(pipe: Pipe, star: Partial<ast.SelectStar>, items: ast.SelectItem[] = []): Pipe {
    return pipes.passedOn(pipes.readBy(pipes.settle(pipe), [...(star.replace ?? []), ...items]), star, items)
  }

  /** `column [AS] name` */
  private renaming(): ast.Renaming {
    const column = this.identifier()
    this.takeWords('AS')
    return { column, name: this.identifier() }
  }

  /** `column = value` */
  private assignment(): ast.SelectColumn {
    const { at } = this.token
    const alias = this.identifier()
    this.expectSymbol('=')
    return { kind: 'SelectColumn', expression: this.expression(), alias, at }
  }

  /**
   * `AGGREGATE ... GROUP BY ...`: the keys come first, and are grouped by their number. What has an order suffix orders the
   * rows, in the order of the columns; after GROUP AND ORDER BY every key does.
   */
  private pipeAggregate(pipe: Pipe, at: number): Pipe {
    const values = this.isWord('GROUP') ? [] : this.items(() => this.orderedItem(this.selectItem()))
    const grouped = this.takeWords('GROUP')
    const sorted = grouped && this.takeWords('AND', 'ORDER')
    if (grouped) this.expectWords('BY')
    const keys = grouped ? this.list(() => this.orderedItem(this.pipeKey())) : []
    const all = [...keys, ...values]
    const items = all.map(({ item }) => item)
    const numbers = items.map((item, index): ast.Literal => {
      return { kind: 'Literal', literal: 'INTEGER', text: String(index + 1), value: '', at: item.at }
    })
    const groupBy: ast.GroupBy = {
      kind: 'GroupBy',
      grouping: 'LIST',
      items: numbers.slice(0, keys.length),
      at,
    }
    const orderBy = all.flatMap(({ direction, nulls }, index): ast.OrderItem[] => {
      if (!direction && !nulls && !(sorted && index < keys.length)) return []
      const expression = numbers[index]!
      return [{ kind: 'OrderItem', expression, direction, nulls, at: expression.at }]
    })
    return { ...this.pipeOf(pipe, { items, groupBy: grouped ? groupBy : null, at }), orderBy }
  }

  private orderedItem(item: ast.SelectItem): OrderedItem {
    return { item, ...this.orderSuffix() }
  }

  private pipeKey(): ast.SelectColumn {
    const key = this.column()
    if (key.expression.kind === 'Literal')
      throw this.refusal('in a pipe, GROUP BY takes no number of a column', key.at)
    return key
  }

  private pipeLimit(pipe: Pipe): Pipe {
    const uncut = pipe.limit ? pipes.settle(pipe) : pipe
    const limit = this.rowCount('LIMIT')
    return { ...uncut, limit, offset: this.rowCount('OFFSET') }
  }

  private pipeSetOperation(pipe: Pipe): Pipe {
    const operator = this.setOperator()!
    const { at } = pipe
    let left: ast.QueryBody = { kind: 'QueryInParentheses', query: pipes.pipedQuery(pipe), at }
    for (const right of this.list(() => this.operand()))
      left = { kind: 'SetOperation', ...operator, left, right, at }
    return pipes.pipeOverQuery(pipes.queryOf(left, pipe))
  }

  private pipeJoin(pipe: Pipe): Pipe {
    const { at } = this.token
    const left = pipes.joinable(pipe)
    const type = this.joinType()!
    if (hasComma(left.from) && (type === 'RIGHT' || type === 'FULL'))
      throw this.refusal(`${type} JOIN behind a comma needs parentheses`, at)
    const join = this.join(left.from, type, at)
    pipes.readBy(left, [join.right, ...(join.on ? [join.on] : [])])
    return pipes.pipeOver(join, left.hidden)
  }

  // ---- select lists

  /** The select list; a comma may follow its last item. */
  private items<Item>(item: () => Item): Item[] {
    return this.columns(item, () => this.atEndOfItems())
  }

  private atEndOfItems(): boolean {
    return (
      this.atEnd() ||
      this.isWord('FROM') ||
      this.isWord('GROUP') ||
      [')', ';', '|>'].some(symbol => this.isSymbol(symbol))
    )
  }

  private selectItem(): ast.SelectItem {
    const { at } = this.token
    if (this.takeSymbol('*')) return this.star(null, at)
    const expression = this.expression()
    if (!this.isSymbol('.')) return { kind: 'SelectColumn', expression, alias: this.alias(), at }
    if (precedenceOf(expression) < precedence.suffix) throw this.unexpected()
    this.next()
    this.next()
    return this.star(expression, at)
  }

  private star(of: ast.SelectStar['of'], at: number): ast.SelectStar {
    if ((this.isWord('EXCEPT') || this.isWord('REPLACE')) && this.atName(1))
      throw this.refusal(`${this.token.value} behind * takes parentheses: write ${this.token.value} (...)`)
    const except = this.isSymbol('(', 1) && this.takeWords('EXCEPT') ? this.identifiers() : []
    const replaces = this.isSymbol('(', 1) && this.takeWords('REPLACE')
    const replace = replaces ? this.parenthesized(() => this.columns(() => this.replacement())) : []
    return pipes.starOf(at, { of, except, replace })
  }

  private column(alias = () => this.alias()): ast.SelectColumn {
    const { at } = this.token
    return { kind: 'SelectColumn', expression: this.expression(), alias: alias(), at }
  }

  private replacement(): ast.SelectColumn {
    return this.column(() => {
      this.expectWords('AS')
      return this.identifier()
    })
  }

  private groupBy(): ast.GroupBy | null {
    const { at } = this.token
    if (!this.takeWords('GROUP', 'BY')) return null
    // All rows are one group.
    if (this.isSymbol('(') && this.isSymbol(')', 1))
      return { kind: 'GroupBy', grouping: 'GROUPING SETS', items: [this.groupingSet()], at }
    const sets = this.takeWords('GROUPING', 'SETS') ? 'GROUPING SETS' : null
    const grouping = sets ?? this.takeOneOf('ALL', 'ROLLUP', 'CUBE') ?? 'LIST'
    const setsOf = () =>
      this.parenthesized(() => this.list(() => (sets ? this.setsInside() : [this.groupingSet()])))
    const items = grouping === 'ALL' ? [] : grouping === 'LIST' ? this.expressions() : setsOf().flat()
    return { kind: 'GroupBy', grouping, items, at }
  }

  /** ROLLUP and CUBE inside GROUPING SETS stand for sets: for the first keys, and for any of them. */
  private setsInside(): ast.Expression[] {
    const { at } = this.token
    const shape = this.takeOneOf('ROLLUP', 'CUBE')
    if (!shape) return [this.groupingSet()]
    const keys = this.parenthesized(() => this.list(() => this.groupingSet()))
    if (shape === 'CUBE' && keys.length > 8)
      throw this.refusal('CUBE inside GROUPING SETS takes up to 8 keys', at)
    const parts =
      shape === 'ROLLUP'
        ? [...keys.map((_, at) => keys.slice(0, at + 1)), []]
        : keys.reduce<ast.Expression[][]>((all, key) => [...all, ...all.map(part => [...part, key])], [[]])
    return parts.map(part => ({
      kind: 'Tuple',
      items: part.flatMap(key => (key.kind === 'Tuple' ? key.items : key)),
      at,
    }))
  }

  /** A key, or keys in parentheses: none stand for the total. */
  private groupingSet(): ast.Expression {
    const { at } = this.token
    if (!this.isSymbol('(') || !this.isSymbol(')', 1)) return this.expression()
    this.next()
    this.next()
    return { kind: 'Tuple', items: [], at }
  }

  private namedWindow(): ast.NamedWindow {
    const { at } = this.token
    const name = this.identifier()
    this.expectWords('AS')
    return { kind: 'NamedWindow', name, window: this.window(), at }
  }

  // ---- FROM: tables, arrays, subqueries and joins

  /** Commas and JOINs group from left to right: in `a, b JOIN c ON ...` the condition sees `a` too. */
  private from(): ast.From {
    let left = this.item()
    let comma = false
    for (let links = 1; ; links++) {
      const { at } = this.token
      const type = this.takeSymbol(',') ? 'COMMA' : this.joinType()
      if (!type) return left
      this.checkLinks(links)
      if (comma && (type === 'RIGHT' || type === 'FULL'))
        throw this.refusal(`${type} JOIN behind a comma needs parentheses`, at)
      comma ||= type === 'COMMA'
      left = this.join(left, type, at)
      if ((type === 'COMMA' || type === 'CROSS') && (this.isWord('ON') || this.isWord('USING')))
        throw this.refusal(
          `there is ${this.token.text} where no condition can be: write JOIN before the table`,
        )
    }
  }

  private identifiers(): ast.Identifier[] {
    return this.parenthesized(() => this.columns(() => this.identifier()))
  }

  private oneOrMore<Item>(item: () => Item): Item[] {
    return this.isSymbol('(') ? this.parenthesized(() => this.columns(item)) : [item()]
  }

  /** `AS name`, or the name alone. */
  private alias(): ast.Identifier | null {
    return this.takeWords('AS') || this.atName() ? this.identifier() : null
  }

  private joinType(): ast.Join['type'] | null {
    if (this.isWord('NATURAL')) throw this.unexpected()
    if (this.wordsOfMode() !== null) return null
    if (this.takeWords('JOIN')) return 'INNER'
    const type = this.takeOneOf('INNER', 'CROSS', 'LEFT', 'RIGHT', 'FULL')
    if (!type) return null
    if (type !== 'INNER' && type !== 'CROSS') this.takeWords('OUTER')
    this.expectWords('JOIN')
    return type
  }

  private join(left: ast.From, type: ast.Join['type'], at: number): ast.Join {
    const right = this.item()
    const conditional = type !== 'CROSS' && type !== 'COMMA'
    const on = conditional && this.takeWords('ON') ? this.expression() : null
    const using = conditional && !on && this.takeWords('USING') ? this.identifiers() : []
    if (conditional && !on && using.length === 0 && !joinsByItself(type, right))
      throw this.refusal('this join needs ON or USING', at)
    return { kind: 'Join', type, left, right, on, using, at: left.at }
  }

  private item(): ast.From {
    return this.nested(() => {
      const operand = this.isSymbol('(') ? this.inFromParentheses() : this.tableOrArray()
      const item = this.turned(operand)
      if ([...tableOperators, 'TABLESAMPLE', 'FOR'].some(word => this.isWord(word))) throw this.unexpected()
      return item
    })
  }

  private turned(of: ast.From): ast.From {
    const { at, value } = this.token
    const operator = this.operatorFollows() ? this.takeOneOf('PIVOT', 'UNPIVOT') : null
    if (!operator) return of
    if ((of.kind !== 'TableReference' && of.kind !== 'DerivedTable') || ('offset' in of && of.offset))
      throw this.refusal(`${value} goes with a table or a subquery`, at)
    const turn = operator === 'PIVOT' ? this.pivot(of) : this.unpivot(of)
    return { ...turn, alias: this.tableAlias() }
  }

  private pivot(of: ast.Pivot['of']): ast.Pivot {
    return this.parenthesized(() => {
      const aggregates = this.columns(() => this.column())
      this.expectWords('FOR')
      const by = this.arithmetic()
      this.expectWords('IN')
      const values = this.parenthesized(() => this.columns(() => this.column()))
      return { kind: 'Pivot', of, aggregates, by, values, alias: null, at: of.at }
    })
  }

  private unpivot(of: ast.Unpivot['of']): ast.Unpivot {
    const nulls = this.takeOneOf('INCLUDE', 'EXCLUDE')
    if (nulls) this.expectWords('NULLS')
    return this.parenthesized(() => {
      const values = this.oneOrMore(() => this.identifier())
      this.expectWords('FOR')
      const name = this.identifier()
      this.expectWords('IN')
      const groups = this.parenthesized(() => this.columns(() => this.unpivotGroup()))
      return { kind: 'Unpivot', of, nulls, values, name, groups, alias: null, at: of.at }
    })
  }

  private unpivotGroup(): ast.UnpivotGroup {
    const { at } = this.token
    const columns = this.oneOrMore(() => this.columnPath())
    const isLabelled = this.takeWords('AS') || ['string', 'integer'].includes(this.token.kind)
    return { kind: 'UnpivotGroup', columns, label: isLabelled ? this.unpivotLabel() : null, at }
  }

  private columnPath(): ast.Path {
    const { at } = this.token
    return { kind: 'Path', parts: this.dotted(this.identifier()), at }
  }

  private dotted(first: ast.Identifier): ast.Identifier[] {
    const names = [first]
    while (this.takeSymbol('.')) {
      this.checkLinks(names.length)
      names.push(this.anyIdentifier())
    }
    return names
  }

  private unpivotLabel(): ast.Literal {
    const { kind } = this.token
    if (kind !== 'string' && kind !== 'integer') throw this.unexpected("a label, as in a AS 'first'")
    return this.literal(literalKinds[kind])
  }

  private inFromParentheses(): ast.From {
    const { at } = this.token
    if (this.atQueryInParentheses()) {
      this.countOf('sources')
      const query = this.subquery()
      return { kind: 'DerivedTable', query, alias: this.tableAlias(), at }
    }
    const join = this.parenthesized(() => this.from())
    if (join.kind !== 'Join') throw this.refusal('parentheses in FROM hold a subquery or a join', at)
    if (hasComma(join)) throw this.refusal('a comma cannot join tables inside parentheses', at)
    return { kind: 'JoinInParentheses', join, at }
  }

  private tableOrArray(): ast.TableReference | ast.UnnestReference {
    const { at } = this.token
    this.countOf('sources')
    if (this.takeWords('UNNEST')) {
      const array = this.parenthesized(() => this.unnested())
      return { kind: 'UnnestReference', array, alias: this.tableAlias(), offset: this.withOffset(), at }
    }
    const path = this.dotted(this.dashedName())
    if (this.isSymbol('(')) throw this.tableFunction(path, at)
    return { kind: 'TableReference', path, alias: this.tableAlias(), offset: this.withOffset(), at }
  }

  private tableFunction(path: ast.Identifier[], at: number): SqlError {
    const name = path.map(part => part.name).join('.')
    if (path.length === 1 && nearestName(name, ['UNNEST']))
      return this.refusal(`there is ${name} where UNNEST is expected`, at)
    const series = /^(generate_series|numbers|range)$/i.test(name)
      ? ': write UNNEST(GENERATE_ARRAY(1, 10)) AS n'
      : ''
    return this.refusal(`table functions are not supported${series}`, at)
  }

  private unnested(): ast.Expression {
    const array = this.expression()
    if (this.isSymbol(',') || this.isWord('AS')) throw this.refusal('UNNEST takes one array, without a name')
    return array
  }

  /** The words after PIVOT and its kind decide whether it is the operator or an alias. */
  private tableAlias(): ast.Identifier | null {
    const operator = tableOperators.some(word => this.isWord(word)) && this.operatorFollows()
    const withoutLimit = this.isWord('OFFSET') && ['integer', 'parameter'].includes(this.ahead(1).kind)
    return operator || withoutLimit ? null : this.alias()
  }

  private operatorFollows(): boolean {
    return this.isSymbol('(', 1) || this.isWord('INCLUDE', 1) || this.isWord('EXCLUDE', 1)
  }

  /** `WITH OFFSET`, whose name is `offset` if no other is given. */
  private withOffset(): ast.Identifier | null {
    if (!this.isWord('OFFSET', 1) || !this.takeWords('WITH')) return null
    const { at } = this.next()
    return this.alias() ?? { name: 'offset', quoted: false, at }
  }

  /** A project may have dashes: `deno-relay-logs` is one name, if no space stands between its parts. */
  private dashedName(): ast.Identifier {
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

  // ---- operators, by precedence

  private expression(): ast.Expression {
    return this.nested(() => this.operators(precedence.or))
  }

  private expressions(): ast.Expression[] {
    return this.list(() => this.expression())
  }

  private arithmetic(): ast.Expression {
    return this.nested(() => this.operators(precedence.bitOr))
  }

  /** Precedence climbing: an operand, and all operators after it whose precedence is `lowest` or higher. */
  private operators(lowest: number): ast.Expression {
    const negated = lowest <= precedence.not && this.isWord('NOT')
    let left = negated ? this.not() : this.signed()
    // After an operator, one of higher precedence can no longer take that operator's operands.
    let highest: number = negated ? precedence.and : precedence.sign
    for (let links = 1; ; links++) {
      const operator = this.operator()
      if (!operator || operator.precedence < lowest) return left
      if (operator.precedence > highest) {
        if (operator.precedence !== precedence.comparison) return left
        const joined = this.isSymbol('||', -2) ? ', and || joins texts: the other one is written OR' : ''
        throw this.refusal(`comparisons do not chain: put one of them in parentheses${joined}`)
      }
      this.checkLinks(links)
      const comparison = operator.precedence === precedence.comparison
      left = comparison ? this.comparison(left, operator.name) : this.binary(left, operator)
      highest = comparison ? precedence.not : operator.precedence
    }
  }

  /** The operator at this token, if it is one. `>>` is two tokens, since it also closes two types. */
  private operator(): Operator | null {
    const { kind, text, value, end } = this.token
    if (kind === 'symbol') {
      const shift = text === '>' && this.isSymbol('>', 1) && this.ahead(1).at === end
      const name = shift ? '>>' : text
      const found = binaryPrecedence.get(name)
      return found ? { name, precedence: found } : null
    }
    if (kind !== 'word') return null
    const word = value === 'NOT' ? this.ahead(1).value : value
    const compares = comparisonWords.some(name => name === word) && !(value === 'NOT' && word === 'IS')
    if (compares) return { name: word, precedence: precedence.comparison }
    const found = value === 'AND' || value === 'OR' ? binaryPrecedence.get(value) : undefined
    return found ? { name: value, precedence: found } : null
  }

  private not(): ast.Unary {
    const { at } = this.next()
    return { kind: 'Unary', operator: 'NOT', operand: this.nested(() => this.operators(precedence.not)), at }
  }

  private signed(): ast.Expression {
    const { at } = this.token
    const operator = signs.find(sign => this.takeSymbol(sign))
    if (!operator) return this.suffixed()
    return { kind: 'Unary', operator, operand: this.nested(() => this.signed()), at }
  }

  private binary(left: ast.Expression, operator: Operator): ast.Binary {
    this.next()
    if (operator.name === '>>') this.next()
    const right = this.operators(operator.precedence + 1)
    return { kind: 'Binary', operator: operator.name as ast.BinaryOperator, left, right, at: left.at }
  }

  private comparison(left: ast.Expression, name: string): ast.Expression {
    const { at } = left
    const not = this.takeWords('NOT')
    switch (name) {
      case 'LIKE':
        return this.like(left, not)
      case 'IN':
        this.next()
        return { kind: 'In', not, operand: left, among: this.among(), at }
      case 'BETWEEN': {
        this.next()
        const low = this.operators(precedence.bitOr)
        this.expectWords('AND')
        return { kind: 'Between', not, operand: left, low, high: this.operators(precedence.bitOr), at }
      }
      case 'IS':
        return this.is(left)
      default:
        return this.binary(left, { name, precedence: precedence.comparison })
    }
  }

  private like(left: ast.Expression, not: boolean): ast.Like | ast.LikeAny {
    const { at } = left
    this.next()
    const word = this.takeOneOf('ANY', 'SOME', 'ALL')
    if (!word) return { kind: 'Like', not, left, right: this.operators(precedence.bitOr), at }
    const among = this.among()
    if (among.kind === 'InQuery')
      throw this.refusal(
        `LIKE ${word} takes no subquery: write EXISTS (SELECT 1 FROM ... WHERE x LIKE pattern)`,
        among.at,
      )
    return { kind: 'LikeAny', not, quantifier: word === 'ALL' ? 'ALL' : 'ANY', operand: left, among, at }
  }

  private among(): ast.In['among'] {
    const { at } = this.token
    if (this.isSymbol('['))
      throw this.refusal('there is [ where ( should be: write IN (1, 2), or IN UNNEST([1, 2])')
    if (this.takeWords('UNNEST'))
      return { kind: 'InUnnest', array: this.parenthesized(() => this.expression()), at }
    if (this.atQueryInParentheses()) return { kind: 'InQuery', query: this.subquery(), at }
    return { kind: 'InList', items: this.parenthesized(() => this.expressions()), at }
  }

  private is(operand: ast.Expression): ast.Expression {
    this.next()
    const { at } = operand
    const not = this.takeWords('NOT')
    if (this.takeWords('DISTINCT', 'FROM'))
      return { kind: 'IsDistinctFrom', not, left: operand, right: this.operators(precedence.bitOr), at }
    return { kind: 'Is', not, operand, what: this.expectOneOf('NULL', 'TRUE', 'FALSE', 'UNKNOWN'), at }
  }

  // ---- operands: literals, names, brackets, and the `.field`, `[index]` and `::type` after them

  private suffixed(): ast.Expression {
    let operand = this.primary()
    if (/^(TypedLiteral|Case)$/.test(operand.kind) && (this.isSymbol('[') || this.isSymbol('.'))) {
      // `JSON '{}'.a` reads as it is printed, and as any engine reads it: `(JSON '{}').a`. So does `CASE ... END.a`.
      operand = { kind: 'Parenthesized', expression: operand, at: operand.at }
    }
    for (let links = 1; ; links++) {
      if (this.isSymbol('[')) operand = this.subscript(operand)
      else if (this.isSymbol('.') && !this.isSymbol('*', 1)) operand = this.field(operand)
      else if (this.isSymbol('::')) operand = this.colonCast(operand)
      else return operand
      this.checkLinks(links)
    }
  }

  private subscript(of: ast.Expression): ast.Subscript {
    if (precedenceOf(of) < precedence.suffix) throw this.unexpected()
    this.expectSymbol('[')
    const mode = this.isSymbol('(', 1) ? this.takeOneOf(...subscriptModes) : null
    const index = mode ? this.parenthesized(() => this.expression()) : this.expression()
    this.expectSymbol(']')
    return { kind: 'Subscript', of, mode, index, at: of.at }
  }

  private field(of: ast.Expression): ast.Expression {
    if (precedenceOf(of) < precedence.suffix) throw this.unexpected()
    this.expectSymbol('.')
    if (of.kind !== 'Path' && (this.isSymbol('(') || this.isSymbol('(', 1))) return this.chained(of)
    const field = this.anyIdentifier()
    if (of.kind !== 'Path') return { kind: 'FieldAccess', of, field, at: of.at }
    const parts = [...of.parts, field]
    return this.isSymbol('(') ? this.call(parts) : { kind: 'Path', parts, at: of.at }
  }

  /**
   * `a::text` for `CAST(a AS STRING)`, no GoogleSQL: Supabase Studio on a machine of one's own asks so for the entries of cron jobs,
   * whatever it is told of its logs (`genCountQuery` in its Logs.utils.ts, 2026), and its blog has `timestamp::date` in a query.
   */
  private colonCast(operand: ast.Expression): ast.Cast {
    if (precedenceOf(operand) < precedence.suffix) throw this.unexpected()
    const kind = scalars.get(hintFor(castTypes, this.ahead(1).value) ?? '')
    if (!kind) throw this.refusal('casts with :: take types of PostgreSQL: write CAST(x AS type)')
    this.expectSymbol('::')
    this.next()
    return { kind: 'Cast', safe: false, operand, type: { kind }, format: null, zone: null, at: operand.at }
  }

  /** `(path).LOWER()` stands for `LOWER(path)`, and `(url).(NET.HOST)()` for `NET.HOST(url)`. */
  private chained(of: ast.Expression): ast.Call {
    const { text, value } = this.token
    if (reservedWords.has(value) && !reservedFunctions.has(value))
      throw this.refusal(`${text} takes no value before a dot: write it in the parentheses`)
    const name = this.isSymbol('(')
      ? this.parenthesized(() => this.dotted(this.identifier()))
      : [this.anyIdentifier()]
    return this.call(name, of.kind === 'Parenthesized' ? of.expression : of)
  }

  private primary(): ast.Expression {
    switch (this.token.kind) {
      case 'string':
      case 'bytes':
      case 'integer':
      case 'float':
        return this.literal(literalKinds[this.token.kind])
      case 'parameter': {
        const { value, at } = this.next()
        return { kind: 'ParameterReference', name: value, at }
      }
      case 'quoted':
        return this.pathOrCall()
      case 'symbol':
        return this.bracketed()
      case 'word':
        return this.keywords[this.token.value]?.() ?? this.named()
      case 'end':
        break
    }
    throw this.unexpected('an expression')
  }

  /** `.5` becomes `0.5`: after a word that is not reserved, GoogleSQL reads the dot as that of a field. */
  private literal(literal: ast.Literal['literal']): ast.Literal {
    const { text, value, at } = this.next()
    return { kind: 'Literal', literal, text: text.startsWith('.') ? `0${text}` : text, value, at }
  }

  private bracketed(): ast.Expression {
    const { at } = this.token
    if (this.isSymbol('(')) return this.inParentheses()
    if (!this.isSymbol('[')) throw this.unexpected('an expression')
    return { kind: 'ArrayLiteral', keyword: false, type: null, items: this.elements(), at }
  }

  private inParentheses(): ast.ScalarSubquery | ast.Tuple | ast.Parenthesized {
    const { at } = this.token
    if (this.atQueryInParentheses()) return { kind: 'ScalarSubquery', query: this.subquery(), at }
    const items = this.parenthesized(() => this.expressions())
    return items.length > 1
      ? { kind: 'Tuple', items, at }
      : { kind: 'Parenthesized', expression: items[0]!, at }
  }

  private readonly keywords: Record<string, (() => ast.Expression) | undefined> = {
    NULL: () => this.constant('NULL'),
    TRUE: () => this.constant('BOOL'),
    FALSE: () => this.constant('BOOL'),
    CASE: () => this.case(),
    CAST: () => this.cast(),
    EXTRACT: () => this.extract(),
    EXISTS: () => ({ kind: 'Exists', at: this.next().at, query: this.subquery() }),
    INTERVAL: () => this.interval(),
    ARRAY: () => this.array(),
    STRUCT: () => this.struct(),
    WITH: () => this.withExpression(),
  }

  private withExpression(): ast.WithExpression {
    const { at } = this.next()
    return this.parenthesized(() => {
      const variables: ast.SelectColumn[] = []
      while (this.atName() && this.isWord('AS', 1)) {
        this.checkLinks(variables.length)
        const name = this.token.at
        const alias = this.identifier()
        this.expectWords('AS')
        variables.push({ kind: 'SelectColumn', expression: this.expression(), alias, at: name })
        this.expectSymbol(',')
      }
      if (variables.length === 0)
        throw this.refusal('WITH in an expression names values first: WITH(a AS 1, a + 1)')
      return { kind: 'WithExpression', variables, body: this.expression(), at }
    })
  }

  /** In capitals, so that equal queries have equal text. */
  private constant(literal: 'NULL' | 'BOOL'): ast.Literal {
    const { value, at } = this.next()
    return { kind: 'Literal', literal, text: value, value: '', at }
  }

  private named(): ast.Expression {
    const { value, at } = this.token
    if (value === 'SAFE_CAST' && this.isSymbol('(', 1)) return this.cast()
    const typed = this.ahead(1).kind === 'string' ? scalars.get(value) : undefined
    const type = typedLiterals.find(name => name === typed)
    if (!type) return this.pathOrCall()
    this.next()
    return { kind: 'TypedLiteral', type, value: this.literal('STRING'), at }
  }

  private pathOrCall(): ast.Path | ast.Call {
    const { kind, value, at } = this.token
    const callable = kind === 'word' && reservedFunctions.has(value) && this.isSymbol('(', 1)
    if (this.isWord('UNNEST')) throw this.refusal('UNNEST stands in FROM: write CROSS JOIN UNNEST(x) AS y')
    const wanted = 'an expression should be; as a name it needs backticks'
    const name = callable ? this.anyIdentifier() : this.identifier(wanted)
    return this.isSymbol('(') ? this.call([name]) : { kind: 'Path', parts: [name], at }
  }

  // ---- expressions that begin with a keyword of their own

  private case(): ast.Case {
    const { at } = this.next()
    const operand = this.isWord('WHEN') ? null : this.expression()
    const branches: ast.CaseBranch[] = []
    do branches.push(this.caseBranch())
    while (this.isWord('WHEN'))
    const otherwise = this.takeWords('ELSE') ? this.expression() : null
    this.expectWords('END')
    return { kind: 'Case', operand, branches, otherwise, at }
  }

  private caseBranch(): ast.CaseBranch {
    const { at } = this.token
    this.expectWords('WHEN')
    const when = this.expression()
    this.expectWords('THEN')
    // oxlint-disable-next-line unicorn/no-thenable -- an expression, never a function
    return { kind: 'CaseBranch', when, then: this.expression(), at }
  }

  private cast(): ast.Cast {
    const { value, at } = this.next()
    return this.parenthesized(() => {
      const operand = this.expression()
      this.expectWords('AS')
      const type = this.type()
      const format = this.takeWords('FORMAT') ? this.expression() : null
      const zone = format && this.takeWords('AT', 'TIME', 'ZONE') ? this.expression() : null
      return { kind: 'Cast', safe: value === 'SAFE_CAST', operand, type, format, zone, at }
    })
  }

  private extract(): ast.Extract {
    const { at } = this.next()
    return this.parenthesized(() => {
      const part = this.part(extractParts)
      this.expectWords('FROM')
      const operand = this.expression()
      const zone = this.takeWords('AT', 'TIME', 'ZONE') ? this.expression() : null
      return { kind: 'Extract', part, operand, zone, at }
    })
  }

  private interval(): ast.IntervalLiteral {
    const { at } = this.next()
    const value = this.arithmetic()
    const text = value.kind === 'Literal' && value.literal === 'STRING' ? value.value : null
    if (text !== null && !intervalParts.has(this.token.value)) throw this.refusal(intervalOf(text), value.at)
    const part = this.part(intervalParts)
    const to = this.takeWords('TO') ? this.part(intervalParts) : null
    return { kind: 'IntervalLiteral', value, part, to, at }
  }

  private part(parts: ReadonlySet<string>): string {
    const { kind, text, value, at } = this.token
    if (kind === 'string' && parts.has(value.toUpperCase()))
      throw this.refusal(`there is ${text} where ${value.toUpperCase()} should be, without quotes`)
    if (kind !== 'word') throw this.unexpected('a part such as DAY')
    this.next()
    const weekday = this.isSymbol('(') ? `(${this.parenthesized(() => this.next().value)})` : ''
    if (parts.has(value + weekday)) return value + weekday
    const meant = hintFor(otherParts, value, parts)
    const near = meant ? `; did you mean ${meant}?` : ', such as DAY'
    const hint = value === 'EPOCH' ? ': UNIX_SECONDS(x) gives seconds since 1970' : near
    throw this.refusal(`there is ${text}${weekday} where a part of a date should be${hint}`, at)
  }

  /** `ARRAY(SELECT ...)`, `ARRAY[...]` and `ARRAY<T>[...]`. */
  private array(): ast.ArrayLiteral | ast.ArraySubquery {
    const { at } = this.next()
    if (this.isSymbol('(')) return { kind: 'ArraySubquery', query: this.subquery(), at }
    const type = this.isSymbol('<') ? this.withoutSize(this.elementType(), at) : null
    return { kind: 'ArrayLiteral', keyword: true, type, items: this.elements(), at }
  }

  /** `[...]` */
  private elements(): ast.Expression[] {
    this.expectSymbol('[')
    const items = this.isSymbol(']') ? [] : this.expressions()
    this.expectSymbol(']')
    return items
  }

  private struct(): ast.StructLiteral {
    const { at } = this.next()
    const type = this.isSymbol('(') ? null : this.withoutSize(this.structType(), at)
    const items = this.parenthesized(() =>
      this.isSymbol(')')
        ? []
        : this.columns(() => this.column(() => (this.takeWords('AS') ? this.identifier() : null))),
    )
    return { kind: 'StructLiteral', type, items, at }
  }

  // ---- calls, with the clauses inside and after their parentheses

  /** The call of `name`, from its `(` on. @param first an argument that stands before them */
  private call(name: ast.Identifier[], first: ast.Expression | null = null): ast.Call {
    const inside = this.parenthesized(() => {
      if (name[0]!.name.toUpperCase() === 'POSITION' && this.isWord('IN', 1))
        throw this.refusal('there is IN where , should be: write STRPOS(x, text)', this.ahead(1).at)
      if (first && this.isSymbol('*')) throw this.unexpected()
      if (this.isSymbol('*') && !this.isSymbol(')', 1) && !this.isWord('HAVING', 1))
        throw this.refusal(`${this.found(1)} where ) should be`, this.ahead(1).at)
      if (this.isWord('DISTINCT') && this.isSymbol('*', 1))
        throw this.refusal('DISTINCT takes values: write COUNT(DISTINCT x)', this.ahead(1).at)
      const star = this.isSymbol('*') && this.takeSymbol('*')
      const empty = star || this.isSymbol(')')
      const distinct = this.takeWords('DISTINCT')
      const isOnly = first && (this.isSymbol(')') || afterArguments.has(this.token.value))
      return {
        star,
        distinct,
        arguments: [...(first ? [first] : []), ...(empty || isOnly ? [] : this.callArguments())],
        nulls: this.nulls(),
        having: this.havingExtreme(),
        orderBy: this.orderBy(),
        limit: this.rowCount('LIMIT'),
      }
    })
    return { kind: 'Call', name, ...inside, over: this.over(), at: name[0]!.at }
  }

  private callArguments(): ast.Expression[] {
    const args = this.list(() => this.argument())
    if (this.isWord('FROM')) throw this.refusal('there is FROM where , should be: write SUBSTR(x, 1, 3)')
    if (this.isWord('AS'))
      throw this.refusal('there is AS where ) should be: a cast is CAST(x AS type) or SAFE_CAST')
    return args
  }

  private over(): ast.Call['over'] {
    if (!this.takeWords('OVER')) return null
    return this.isSymbol('(') ? this.window() : this.identifier()
  }

  private nulls(): ast.Call['nulls'] {
    const nulls = this.takeOneOf('IGNORE', 'RESPECT')
    if (nulls) this.expectWords('NULLS')
    return nulls
  }

  private havingExtreme(): ast.HavingExtreme | null {
    const { at } = this.token
    if (!this.takeWords('HAVING')) return null
    const extreme = this.expectOneOf('MAX', 'MIN')
    return { kind: 'HavingExtreme', extreme, expression: this.expression(), at }
  }

  private argument(): ast.Expression {
    const { at } = this.token
    if (this.isWord('SELECT') || (this.isWord('WITH') && !this.isSymbol('(', 1)))
      throw this.refusal('a subquery needs parentheses of its own')
    if ((this.isWord('TABLE') || this.isWord('MODEL')) && this.atName(1))
      throw this.refusal(`${this.token.value} arguments are not supported`)
    if (!this.atName() || !this.isSymbol('=>', 1)) return this.lambdaOrExpression()
    const name = this.identifier()
    this.expectSymbol('=>')
    return { kind: 'NamedArgument', name, value: this.expression(), at }
  }

  private lambdaOrExpression(): ast.Expression {
    const { at } = this.token
    const inParentheses = this.isSymbol('(')
    const after = inParentheses ? this.afterParentheses() : this.ahead(1)
    if (after.kind !== 'symbol' || after.text !== '->') return this.expression()
    const parameters = this.oneOrMore(() => this.identifier())
    this.expectSymbol('->')
    return { kind: 'Lambda', parameters, body: this.expression(), at }
  }

  // ---- ORDER BY, windows and the counts of LIMIT

  private orderBy(): ast.OrderItem[] {
    return this.takeWords('ORDER', 'BY') ? this.list(() => this.orderItem()) : []
  }

  /** The count after LIMIT or OFFSET, `null` without that word. */
  private rowCount(word: 'LIMIT' | 'OFFSET'): ast.Count | null {
    if (!this.takeWords(word)) return null
    const count = this.count('a number of rows')
    if (word === 'LIMIT' && this.isSymbol(','))
      throw this.refusal('LIMIT takes one number: for LIMIT 10, 20 write LIMIT 20 OFFSET 10')
    return count
  }

  /** A plain integer or a parameter, or another number where `numbers` says so. */
  private count(what: string, numbers: 'an integer' | 'a number' = 'an integer'): ast.Count {
    const { kind, text, value, at } = this.token
    if (kind !== 'integer' && kind !== 'parameter' && (kind !== 'float' || numbers === 'an integer'))
      throw this.unexpected(`${what} (${numbers} or a parameter)`)
    this.next()
    if (kind === 'parameter') return { kind: 'ParameterReference', name: value, at }
    return { kind: 'Literal', literal: kind === 'float' ? 'FLOAT' : 'INTEGER', text, value: '', at }
  }

  /** `(PARTITION BY ... ORDER BY ... ROWS ...)`, or the bare name of a window. */
  private window(): ast.Window {
    const { at } = this.token
    if (!this.isSymbol('('))
      return { kind: 'Window', base: this.identifier(), partitionBy: [], orderBy: [], frame: null, at }
    return this.parenthesized(() => ({
      kind: 'Window',
      base: this.atName() ? this.identifier() : null,
      partitionBy: this.takeWords('PARTITION', 'BY') ? this.expressions() : [],
      orderBy: this.orderBy(),
      frame: this.frame(),
      at,
    }))
  }

  private orderItem(): ast.OrderItem {
    const { at } = this.token
    const expression = this.expression()
    return { kind: 'OrderItem', expression, ...this.orderSuffix(), at }
  }

  private orderSuffix(): Pick<ast.OrderItem, 'direction' | 'nulls'> {
    const direction = this.takeOneOf('ASC', 'DESC')
    const nulls = this.takeWords('NULLS') ? this.expectOneOf('FIRST', 'LAST') : null
    return { direction, nulls }
  }

  private frame(): ast.Frame | null {
    const { at } = this.token
    const unit = this.takeOneOf('ROWS', 'RANGE')
    if (!unit) return null
    const between = this.takeWords('BETWEEN')
    const start = this.bound()
    if (between) this.expectWords('AND')
    return { kind: 'Frame', unit, start, end: between ? this.bound() : null, at }
  }

  private bound(): ast.FrameBound {
    const { at } = this.token
    if (this.takeWords('CURRENT', 'ROW')) return { kind: 'FrameBound', bound: 'CURRENT ROW', count: null, at }
    if (this.takeWords('UNBOUNDED')) {
      const side = this.expectOneOf('PRECEDING', 'FOLLOWING')
      return { kind: 'FrameBound', bound: `UNBOUNDED ${side}`, count: null, at }
    }
    const count = this.count('the bound of a frame', 'a number')
    return { kind: 'FrameBound', bound: this.expectOneOf('PRECEDING', 'FOLLOWING'), count, at }
  }

  // ---- types: in CAST, `ARRAY<...>[...]` and `STRUCT<...>(...)`

  private type(): SqlType {
    return this.nested(() => {
      if (this.takeWords('ARRAY')) return { kind: 'ARRAY', element: this.elementType() }
      if (this.takeWords('STRUCT')) return this.structType()
      return this.scalarType()
    })
  }

  /** `<T>`, after ARRAY. */
  private elementType(): SqlType {
    this.expectSymbol('<')
    const element = this.type()
    this.expectSymbol('>')
    return element
  }

  /** `<a INT64, STRING>`, after STRUCT. `>>` is two tokens, so `ARRAY<STRUCT<a INT64>>` needs no special case. */
  private structType(): StructType {
    if (this.takeSymbol('<>')) return { kind: 'STRUCT', fields: [] }
    this.expectSymbol('<')
    const fields = this.columns(() => this.structField())
    this.expectSymbol('>')
    return { kind: 'STRUCT', fields }
  }

  private structField(): StructField {
    const { kind } = this.ahead(1)
    const named = kind === 'word' || kind === 'quoted'
    return { name: named ? this.identifier().name : null, type: this.type() }
  }

  private scalarType(): SqlType {
    if (this.token.kind !== 'word') throw this.unexpected('a type')
    const kind = scalars.get(this.token.value)
    if (!kind) {
      const type = hintFor(types, this.token.value, scalars.keys())
      const hint = type ? `: write ${type}` : ', such as STRING or INT64'
      throw this.refusal(`${this.found(0)} where a type should be${hint}`)
    }
    const { at } = this.next()
    if (!this.isSymbol('(')) return { kind }
    const size = this.parenthesized(() => this.list(() => this.typeSize()))
    const hint = sizeHint(kind, size)
    if (hint !== null) throw this.refusal(`${kind} takes ${hint}`, at)
    return { kind, size }
  }

  private withoutSize<T extends SqlType>(type: T, at: number): T {
    if (hasSize(type))
      throw this.refusal('the type of a literal takes no size: leave it out, or use CAST', at)
    return type
  }

  private typeSize(): number {
    const size = Number(this.token.text)
    if (this.token.kind !== 'integer' || !Number.isSafeInteger(size))
      throw this.unexpected('the size of a type')
    this.next()
    return size
  }
}

/** What to write for `INTERVAL '1 hour'`. */
function intervalOf(text: string): string {
  const [, count = '1', word = ''] = /^\s*(-?\d+)\s*([a-z]*)/i.exec(text) ?? []
  const part = hintFor(otherParts, word.toUpperCase(), intervalParts) ?? 'DAY'
  return `an interval has no quotes: write INTERVAL ${count} ${part}`
}

function each<Value>(words: string, value: Value): Record<string, Value> {
  return Object.fromEntries(words.split(' ').map(word => [word, value]))
}

type SetOperator = Pick<ast.SetOperation, 'operator' | 'byName'>

/** Without parentheses, all operators of a chain are equal. */
function sameOperation(one: SetOperator, other: SetOperator): boolean {
  const names = ({ byName }: SetOperator) => byName?.on.map(({ name }) => name.toLowerCase()).join()
  return (
    one.operator === other.operator && one.byName?.mode === other.byName?.mode && names(one) === names(other)
  )
}

/** An array of the row on the left needs no condition; neither side of it can be missing. */
function joinsByItself(type: ast.Join['type'], right: ast.From): boolean {
  if (type !== 'INNER' && type !== 'LEFT') return false
  return right.kind === 'UnnestReference' || (right.kind === 'TableReference' && right.path.length > 1)
}
