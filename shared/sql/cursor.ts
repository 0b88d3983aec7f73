import { placeOf, SqlError } from './error.ts'
import type { Limits } from './limits.ts'
import { reservedWords, unsupported } from './grammar.ts'
import { instead, symbols, words } from './instead.ts'
import { nearestName } from './nearest.ts'
import type { Token } from './tokens.ts'
import { tokenize } from './tokens.ts'
import type { Identifier } from './tree.ts'

/** The tokens of one text and a position among them, with the steps that the parser's rules are made of. */
export class Cursor {
  protected readonly limits: Limits
  private readonly sql: string
  private readonly tokens: Token[]
  private readonly parentheses: Map<number, Parenthesis>
  private index = 0
  private depth = 0

  constructor(sql: string, limits: Limits) {
    this.sql = sql
    this.limits = limits
    this.tokens = tokenize(sql, limits)
    this.parentheses = matchParentheses(this.tokens)
  }

  protected get token(): Token {
    return this.tokens[this.index]!
  }

  /** The token `count` further on; the end repeats. */
  protected ahead(count: number): Token {
    return this.tokens[this.index + count] ?? this.tokens.at(-1)!
  }

  protected next(): Token {
    const token = this.token
    if (token.kind !== 'end') this.index++
    return token
  }

  protected atEnd(): boolean {
    return this.token.kind === 'end'
  }

  protected isWord(word: string, ahead = 0): boolean {
    const token = this.ahead(ahead)
    return token.kind === 'word' && token.value === word
  }

  protected isSymbol(symbol: string, ahead = 0): boolean {
    const token = this.ahead(ahead)
    return token.kind === 'symbol' && token.text === symbol
  }

  /** Steps over these words if all of them come next. */
  protected takeWords(...words: string[]): boolean {
    const here = words.every((word, ahead) => this.isWord(word, ahead))
    if (here) this.index += words.length
    return here
  }

  protected takeSymbol(symbol: string): boolean {
    const here = this.isSymbol(symbol)
    if (here) this.index++
    return here
  }

  /** Steps over one of these words, and returns it. */
  protected takeOneOf<Word extends string>(...words: Word[]): Word | null {
    return words.find(word => this.takeWords(word)) ?? null
  }

  protected expectWords(...words: string[]): void {
    if (!this.takeWords(...words)) throw this.unexpected(words.join(' '))
  }

  protected expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected(symbol)
  }

  protected expectOneOf<Word extends string>(...words: Word[]): Word {
    const word = this.takeOneOf(...words)
    if (word === null) throw this.unexpected(words.join(' or '))
    return word
  }

  /** At a `(` that holds a query. */
  protected atQueryInParentheses(): boolean {
    return this.isSymbol('(') && this.parentheses.get(this.index)!.query
  }

  /** The token after the `)` that closes the `(` here. */
  protected afterParentheses(): Token {
    const close = this.parentheses.get(this.index)?.close ?? -1
    return close < 0 ? this.tokens.at(-1)! : this.tokens[close + 1]!
  }

  protected list<Item>(item: () => Item, atEnd = () => false): Item[] {
    const items = [item()]
    while (this.takeSymbol(',') && !atEnd()) items.push(item())
    return items
  }

  /** A list of columns or fields: their names are compared with those of others. */
  protected columns<Item>(column: () => Item, atEnd?: () => boolean): Item[] {
    let count = 0
    return this.list(() => {
      if (++count > this.limits.columns)
        throw this.refusal(
          `a list has over ${this.limits.columns} columns: name fewer, or fields of a record`,
        )
      return column()
    }, atEnd)
  }

  protected parenthesized<Content>(content: () => Content): Content {
    this.expectSymbol('(')
    const inside = content()
    this.expectSymbol(')')
    return inside
  }

  /** A name: a word that is not reserved, or anything in backticks. */
  protected identifier(): Identifier {
    const { kind, text, value } = this.token
    if (kind === 'word' && reservedWords.has(value) && !unsupported.has(value)) {
      throw (
        this.superfluous() ??
        this.refusal(`there is ${text} where a name should be; a reserved word is one only in backticks`)
      )
    }
    if (!this.atName()) throw this.unexpected('a name')
    return this.anyIdentifier()
  }

  /** After a dot a reserved word is a name like any other. */
  protected anyIdentifier(): Identifier {
    const { kind, text, value, at } = this.token
    if (kind !== 'word' && kind !== 'quoted') throw this.unexpected('a name')
    this.index++
    return { name: kind === 'quoted' ? value : text, quoted: kind === 'quoted', at }
  }

  protected atName(ahead = 0): boolean {
    const { kind, value } = this.ahead(ahead)
    return kind === 'quoted' || (kind === 'word' && !reservedWords.has(value))
  }

  /** Limits how deep rules recurse, so that no query overflows the stack. */
  protected nested<Content>(rule: () => Content): Content {
    if (this.depth === this.limits.nesting) {
      throw this.refusal(
        `parentheses, calls and subqueries are nested over ${this.limits.nesting} levels deep: name inner ones in WITH`,
      )
    }
    this.depth++
    const content = rule()
    this.depth--
    return content
  }

  protected checkLinks(links: number): void {
    if (links > this.limits.links)
      throw this.refusal(
        `a chain of operators, joins or names of WITH has over ${this.limits.links} links: write IN (...) for many OR, or split it by parentheses or WITH`,
      )
  }

  protected unexpected(wanted?: string): SqlError {
    const { kind, value } = this.token
    const known = kind === 'word' ? unsupported.get(value) : null
    if (known) return this.refusal(known)
    const dialect = this.ofOtherDialect()
    if (dialect) return dialect
    const misspelt = this.misspelt(0) ?? this.misspelt(-1)
    if (misspelt) return misspelt
    if (['ORDER', 'GROUP', 'PARTITION'].includes(value) && kind === 'word' && !this.isWord('BY', 1))
      return this.refusal(`${this.found(1)} where BY should be`, this.ahead(1).at)
    if (!wanted && kind === 'word' && clauses.includes(value))
      return this.refusal(`there is ${value} where it cannot be: ${orderOfClauses}`)
    const quotes =
      wanted === 'a name' && kind === 'string' ? ': text in quotes is a string, a name has backticks' : ''
    const found = this.found(0)
    return this.refusal(
      wanted ? `${found} where ${wanted} should be${quotes}` : `${found} where it cannot be`,
    )
  }

  /** For a keyword that stands there twice, or behind a comma too many. */
  protected superfluous(): SqlError | null {
    const { text, value } = this.token
    if (this.isWord(value, -1)) return this.refusal(`there is ${text} twice`)
    const comma = this.isSymbol(',', -1) && clauses.includes(value)
    return comma
      ? this.refusal(`there is ${text} behind a comma: leave the comma out`, this.ahead(-1).at)
      : null
  }

  /** What stands there, for a message. */
  protected found(ahead: number): string {
    const { kind, text } = this.ahead(ahead)
    if (kind === 'end') return 'the query ends'
    return `there is ${text.length > 40 ? text.slice(0, 40).toWellFormed() + '...' : text}`
  }

  /** For a word or symbol of another dialect; a word may have been taken for an alias, and stopped at what follows. */
  private ofOtherDialect(): SqlError | null {
    for (const ahead of [0, -1, 1]) {
      const { kind, value, at } = this.ahead(ahead)
      // `x NOT ILIKE y` stops at NOT.
      if (ahead === 1 && !this.isWord('NOT')) continue
      if (ahead === -1 && value === 'OFFSET') continue
      const message = kind === 'word' ? instead(words, value) : null
      if (message) return this.refusal(message, at)
    }
    const { kind, text, at } = this.token
    if (kind !== 'symbol') return null
    const before = this.ahead(-1)
    const after = this.ahead(1)
    const pairs = [
      before.end === at ? { symbol: before.text + text, at: before.at } : null,
      after.at === this.token.end ? { symbol: text + after.text, at } : null,
      { symbol: text, at },
    ]
    for (const pair of pairs) {
      const message = pair && instead(symbols, pair.symbol)
      if (message) return this.refusal(message, pair.at)
    }
    return null
  }

  /** For a word that is almost a keyword; the parser may have taken it for an alias, and stopped at the next word. */
  protected misspelt(ahead: -1 | 0): SqlError | null {
    const { kind, text, value, at } = this.ahead(ahead)
    if (kind !== 'word' || value.length < 3 || reservedWords.has(value)) return null
    const keyword = nearestName(value, clauseWords)
    if (keyword === null || keyword === value) return null
    return this.refusal(`there is ${text} where ${keyword} is expected`, at)
  }

  protected refusal(message: string, at = this.token.at): SqlError {
    return new SqlError(message, placeOf(this.sql, at))
  }
}

const clauses = ['FROM', 'WHERE', 'GROUP', 'HAVING', 'QUALIFY', 'WINDOW', 'ORDER', 'LIMIT']

const orderOfClauses =
  'the order of clauses is SELECT, FROM, WHERE, GROUP BY, HAVING, QUALIFY, WINDOW, ORDER BY, LIMIT'

/** Keywords between the parts of a query, where a misspelt one looks like an alias. */
const clauseWords = [
  ...clauses,
  'SELECT',
  'GROUP BY',
  'ORDER BY',
  'JOIN',
  'UNION',
  'CROSS',
  'OFFSET',
  'UNNEST',
]

interface Parenthesis {
  /** Index of the token that closes it, -1 if none does. */
  close: number
  /** Whether it holds a query rather than an expression or a join. */
  query: boolean
}

/** What may follow `(SELECT ...)` when that is itself the start of a query. */
const afterQuery = new Set([')', '|>', 'UNION', 'INTERSECT', 'EXCEPT', 'ORDER', 'LIMIT'])

/**
 * Every `(` by its index. `((SELECT 1) UNION ALL ...)` holds a query and `((SELECT 1) + 1)` an expression; which
 * shows only after the end of the inner one, so it is decided once, from the inside out.
 */
function matchParentheses(tokens: Token[]): Map<number, Parenthesis> {
  const found = new Map<number, Parenthesis>()
  const open: number[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'symbol') continue
    if (token.text === '(') {
      open.push(index)
      found.set(index, { close: -1, query: startsQuery(tokens, index + 1) })
    } else if (token.text === ')') {
      const start = open.pop()
      if (start === undefined) continue
      const parenthesis = found.get(start)!
      parenthesis.close = index
      const inner = found.get(start + 1)
      if (inner?.query) parenthesis.query = continuesQuery(tokens, inner.close + 1)
    }
  }
  return found
}

/** What stands before a set operator, as in LEFT OUTER UNION; before JOIN it is a table in parentheses that goes on. */
function continuesQuery(tokens: Token[], index: number): boolean {
  let at = index
  while (['INNER', 'LEFT', 'FULL', 'OUTER'].includes(keyOf(tokens[at]!))) at++
  return afterQuery.has(keyOf(tokens[at]!))
}

/** `WITH (` is not a query but an expression. */
function startsQuery(tokens: Token[], index: number): boolean {
  const key = keyOf(tokens[index]!)
  return key === 'SELECT' || key === 'FROM' || (key === 'WITH' && tokens[index + 1]!.text !== '(')
}

function keyOf(token: Token): string {
  return token.kind === 'word' ? token.value : token.kind === 'symbol' ? token.text : ''
}
