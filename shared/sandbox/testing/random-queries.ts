import type { Random } from './random.ts'

/** A random query within the sandbox, and the endpoint's tables that it reads, in small letters. */
export interface RandomQuery {
  sql: string
  tables: Set<string>
}

export function randomQuery(random: Random, tables: readonly string[]): RandomQuery {
  const writer = new QueryWriter(random, tables)
  return { sql: writer.query(4, []), tables: writer.used }
}

const columns = ['id', 'timestamp', 'event_message', 'metadata', 'm.request', 'r.path', 'x', '`a b`']
const constants = [
  '1',
  '0.5',
  "'a'",
  '"it\'s"',
  "r'\\d+'",
  'NULL',
  'TRUE',
  "DATE '2026-01-01'",
  '@project',
  'INTERVAL 1 DAY',
]
const calls = [
  'ABS',
  'lower',
  'Coalesce',
  'SAFE.SUBSTR',
  'NET.HOST',
  'IF',
  'TIMESTAMP_TRUNC',
  'JSON_VALUE',
  'CONCAT',
]
const aggregates = ['COUNT', 'SUM', 'min', 'ARRAY_AGG', 'APPROX_QUANTILES']
const operators = [
  '+',
  '-',
  '*',
  '/',
  '||',
  '=',
  '<',
  '>=',
  '!=',
  'AND',
  'OR',
  'LIKE',
  'IS DISTINCT FROM',
  '|',
  '<<',
]
const joins = ['JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT OUTER JOIN', 'FULL JOIN']
const setOperators = [
  'UNION ALL',
  'UNION DISTINCT',
  'INTERSECT DISTINCT',
  'EXCEPT DISTINCT',
  'UNION ALL BY NAME',
  'FULL OUTER UNION ALL BY NAME',
  'LEFT EXCEPT DISTINCT BY NAME ON (x)',
  'INTERSECT DISTINCT CORRESPONDING',
]
const types = ['INT64', 'STRING', 'ARRAY<INT64>', 'STRUCT<a STRING, b ARRAY<DATE>>', 'NUMERIC(10, 2)']

/** Writes text, not trees, so that the parser is tested too. `scope` holds the common tables that are visible. */
class QueryWriter {
  readonly used = new Set<string>()
  private readonly random: Random
  private readonly tables: readonly string[]

  constructor(random: Random, tables: readonly string[]) {
    this.random = random
    this.tables = tables
  }

  query(depth: number, outer: readonly string[]): string {
    const scope = [...outer]
    const common = depth > 1 && this.random.oneIn(4) ? this.commonTables(depth - 1, scope) : ''
    return [
      common,
      this.body(depth, scope),
      this.maybe(
        4,
        () => `ORDER BY ${this.expression(depth - 1, scope)} ${this.random.pick(['ASC', 'DESC', ''])}`,
      ),
      this.maybe(4, () => this.random.pick(['LIMIT 10', 'LIMIT @project OFFSET 5'])),
    ].join(this.random.pick([' ', '\n', ' /* x */ ', '\t-- y\n']))
  }

  /** Adds them to `scope`. The names come again in a WITH inside another, and stand for something else there. */
  private commonTables(depth: number, scope: string[]): string {
    const names = ['c1', 'c2', 'c3'].slice(this.random.below(3))
    const tables = names.map(name => {
      const text = `${name} AS (${this.query(depth, scope)})`
      scope.push(name)
      return text
    })
    return `WITH ${tables.join(', ')}`
  }

  private body(depth: number, scope: readonly string[]): string {
    if (depth > 1 && this.random.oneIn(6)) {
      const operator = this.random.pick(setOperators)
      return this.random.some(2, 3, () => this.select(depth - 1, scope)).join(` ${operator} `)
    }
    return this.select(depth, scope)
  }

  private select(depth: number, scope: readonly string[]): string {
    const expression = () => this.expression(depth - 1, scope)
    if (this.random.oneIn(10)) return this.piped(depth, scope)
    const items = this.random.some(1, 3, () => expression() + this.maybe(2, () => ' AS x'))
    const from = this.random.oneIn(8) ? '' : `FROM ${this.from(depth - 1, scope)}`
    if (!from) return `SELECT ${items.join(', ')}`
    return [
      `SELECT ${this.maybe(6, () => 'DISTINCT')} ${items.join(', ')}${this.maybe(5, () => ',')}`,
      from,
      this.maybe(2, () => `WHERE ${expression()}`),
      this.maybe(4, () => `GROUP BY ${expression()}`),
      this.maybe(6, () => `HAVING ${expression()}`),
      this.maybe(8, () => `QUALIFY ROW_NUMBER() OVER (PARTITION BY ${expression()} ORDER BY id) = 1`),
      this.maybe(8, () => `WINDOW w AS (PARTITION BY ${expression()})`),
    ].join(' ')
  }

  private piped(depth: number, scope: readonly string[]): string {
    const expression = () => this.expression(depth - 1, scope)
    const operators = this.random.some(1, 3, () =>
      this.random.pick([
        () => `|> WHERE ${expression()}`,
        () => `|> ORDER BY ${expression()} |> LIMIT 5`,
        () => `|> AS piped`,
      ])(),
    )
    const last = this.random.pick([
      () => `|> SELECT ${expression()} AS x, ${expression()}`,
      () => `|> AGGREGATE COUNT(*) AS n, MAX(${expression()}) AS m GROUP BY (${expression()}) AS k`,
    ])()
    const table = this.random.pick(this.tables)
    this.used.add(table.toLowerCase())
    return `(FROM ${this.spelled(table)} ${operators.join(' ')} ${last})`
  }

  private from(depth: number, scope: readonly string[]): string {
    const joined = this.random.some(0, 2, () => {
      const right = this.table(depth, scope)
      return this.random.oneIn(3)
        ? ` ${this.random.pick([',', 'CROSS JOIN'])} ${right}`
        : ` ${this.random.pick(joins)} ${right} ON ${this.expression(depth - 1, scope)}`
    })
    // A comma ends a chain of joins, so that RIGHT and FULL never follow one.
    const commasLast = joined.toSorted((a, b) => Number(a.startsWith(' ,')) - Number(b.startsWith(' ,')))
    return this.table(depth, scope) + commasLast.join('')
  }

  private table(depth: number, scope: readonly string[]): string {
    const alias = this.random.pick(['', ' AS t', ' u', ' AS edge_logs', ' `T`'])
    if (depth > 0 && this.random.oneIn(5)) return `(${this.query(depth - 1, scope)})${alias}`
    if (depth > 0 && this.random.oneIn(8)) return this.turned(depth, scope)
    if (this.random.oneIn(4)) return `UNNEST(${this.expression(depth - 1, scope)})${alias}`
    if (scope.length > 0 && this.random.oneIn(2)) return this.spelled(this.random.pick(scope)) + alias
    const table = this.random.pick(this.tables)
    this.used.add(table.toLowerCase())
    return this.spelled(table) + alias
  }

  /** PIVOT and UNPIVOT of a table whose columns are known. */
  private turned(depth: number, scope: readonly string[]): string {
    const expression = () => this.expression(depth - 1, scope)
    const table = this.random.pick(this.tables)
    this.used.add(table.toLowerCase())
    const operator = this.random.pick([
      () =>
        `PIVOT (COUNT(*) AS n, MAX(${expression()}) AS m FOR (${expression()}) IN (1, 'a', ${expression()} AS x))`,
      () => `PIVOT (SUM(${expression()}) FOR id IN ('a' AS ok)) AS p`,
      () => `UNPIVOT (v FOR k IN (id AS 'first'))`,
      () => 'UNPIVOT INCLUDE NULLS ((v) FOR k IN ((id)))',
    ])()
    return `${this.spelled(table)}${this.random.pick(['', ' AS t'])} ${operator}`
  }

  private spelled(name: string): string {
    return this.random.pick([name, name, name.toUpperCase(), `\`${name}\``])
  }

  private expression(depth: number, scope: readonly string[]): string {
    if (depth <= 0 || this.random.oneIn(3)) return this.random.pick([...columns, ...constants])
    const inner = () => this.expression(depth - 1, scope)
    const subquery = () => this.query(depth - 1, scope)
    const forms: (() => string)[] = [
      () => `(${inner()} ${this.random.pick(operators)} ${inner()})`,
      () => `${this.random.pick(calls)}(${inner()}, ${inner()})`,
      () => `${this.random.pick(aggregates)}(${this.maybe(3, () => 'DISTINCT ')}${inner()})`,
      () => `COUNT(*) OVER (PARTITION BY ${inner()} ORDER BY ${inner()} ROWS 1 PRECEDING)`,
      () => `CASE WHEN ${inner()} THEN ${inner()} ELSE ${inner()} END`,
      () => `${this.random.pick(['CAST', 'SAFE_CAST'])}(${inner()} AS ${this.random.pick(types)})`,
      () => `EXTRACT(HOUR FROM ${inner()} AT TIME ZONE 'UTC')`,
      () => `[${inner()}, ${inner()}][SAFE_OFFSET(${inner()})]`,
      () => `STRUCT(${inner()} AS a).a`,
      () => `(${inner()}, ${inner()})`,
      () => `(${inner()} IS NOT NULL)`,
      () => `(${inner()} IN (${inner()}, ${inner()}))`,
      () => `(${inner()} BETWEEN ${inner()} AND ${inner()})`,
      () => `(${subquery()})`,
      () => `EXISTS (${subquery()})`,
      () => `ARRAY(${subquery()})`,
      () => `(${inner()} NOT IN (${subquery()}))`,
    ]
    return this.random.pick(forms)()
  }

  private maybe(oneIn: number, text: () => string): string {
    return this.random.oneIn(oneIn) ? text() : ''
  }
}
