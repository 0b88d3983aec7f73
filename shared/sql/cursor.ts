import { placeOf, SqlError } from './error.ts'
import type { Limits } from './limits.ts'
import { reservedWords } from './grammar.ts'
import { hintFor, nearestName, symbols, unsupported, words } from './hints.ts'
import type { Token } from './tokens.ts'
import { tokenize } from './tokens.ts'
import type { Identifier } from './tree.ts'

/** The tokens of one text and a position among them, with the steps that the parser's rules are made of. */
export class Cursor {
  protected readonly limits: Limits
  private readonly sql: string
  private readonly tokens: Token[]
  private index = 0
  private depth = 0

  constructor(sql: string, limits: Limits) {
    this.sql = sql
    this.limits = limits
    this.tokens = tokenize(sql, limits)
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

  /**
   * At a `(` that holds a query: `((SELECT 1) UNION ALL ...)` does and `((SELECT 1) + 1)` does not, which shows after the end of
   * the inner ones only.
   */
  protected atQueryInParentheses(): boolean {
    let open = 0
    while (open <= this.limits.nesting && this.isSymbol('(', open)) open++
    const isExpression = this.isWord('WITH', open) && this.isSymbol('(', open + 1)
    if (open === 0 || isExpression || !['SELECT', 'FROM', 'WITH'].some(word => this.isWord(word, open)))
      return false
    let depth = open
    for (let at = open; open > 1; at++) {
      if (this.isSymbol('(', at)) depth++
      if (this.ahead(at).kind === 'end') return false
      if (!this.isSymbol(')', at) || --depth >= open) continue
      if (!this.continuesQuery(at + 1)) return false
      open--
    }
    return true
  }

  /** What may follow `(SELECT ...)` when that is itself the start of a query: before JOIN it is a table that goes on. */
  private continuesQuery(ahead: number): boolean {
    let at = ahead
    while (['INNER', 'LEFT', 'FULL', 'OUTER'].some(word => this.isWord(word, at))) at++
    const isWord = ['UNION', 'INTERSECT', 'EXCEPT', 'ORDER', 'LIMIT'].some(word => this.isWord(word, at))
    return isWord || this.isSymbol(')', at) || this.isSymbol('|>', at)
  }

  /** The token after the `)` that closes the `(` here. */
  protected afterParentheses(): Token {
    let at = 0
    for (let depth = 0; this.ahead(at).kind !== 'end'; at++) {
      if (this.isSymbol('(', at)) depth++
      if (this.isSymbol(')', at) && --depth === 0) return this.ahead(at + 1)
    }
    return this.ahead(at)
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

  /** A name: a word that is not reserved, or anything in backticks. @param wanted what should be there, for the message */
  protected identifier(wanted = 'a name should be; a reserved word is one only in backticks'): Identifier {
    const { kind, text, value } = this.token
    if (kind === 'word' && reservedWords.has(value) && !hintFor(unsupported, value))
      throw this.superfluous() ?? this.refusal(`there is ${text} where ${wanted}`)
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
    const refused = kind === 'word' ? hintFor(unsupported, value) : null
    if (refused) return this.refusal(refused)
    const meant = this.ofOtherDialect() ?? this.misspelt(0) ?? this.misspelt(-1)
    if (meant) return meant
    if (['ORDER', 'GROUP', 'PARTITION'].includes(value) && kind === 'word' && !this.isWord('BY', 1))
      return this.refusal(`${this.found(1)} where BY should be`, this.ahead(1).at)
    if (!wanted && kind === 'word' && clauses.includes(value))
      return this.refusal(`there is ${value} where it cannot be: ${orderOfClauses}`)
    const quotes =
      wanted === 'a name' && kind === 'string' ? ': text in quotes is a string, a name has backticks' : ''
    return this.refusal(`${this.found(0)} where ${wanted ? `${wanted} should be${quotes}` : 'it cannot be'}`)
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
      const message = kind === 'word' ? hintFor(words, value) : null
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
      const message = pair && hintFor(symbols, pair.symbol)
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
