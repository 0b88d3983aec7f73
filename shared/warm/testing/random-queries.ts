/** Random queries with parameters over small tables, and random sets of values for them. */
import { type Endpoint, type ParameterDefinition, typeOf } from '../../endpoints/definition.ts'
import { isoTimestamp } from '../../endpoints/timestamps.ts'
import type { Random } from '../../sandbox/testing/random.ts'
import type { Column, SqlType } from '../../sql/types.ts'
import type { Binding, Result, Row, Value } from '../../engines/engine.ts'
import type { ParameterSet } from '../batch.ts'

const scalar = (kind: 'BOOL' | 'DATE' | 'FLOAT64' | 'INT64' | 'STRING' | 'TIMESTAMP'): SqlType => ({ kind })

export const tables: Record<string, Column[]> = {
  logs: [
    { name: 'id', type: scalar('INT64') },
    { name: 'word', type: scalar('STRING') },
    { name: 'n', type: scalar('INT64') },
    { name: 'ts', type: scalar('TIMESTAMP') },
    { name: 'day', type: scalar('DATE') },
    { name: 'share', type: scalar('FLOAT64') },
    {
      name: 'tags',
      type: {
        kind: 'ARRAY',
        element: {
          kind: 'STRUCT',
          fields: [
            { name: 'label', type: scalar('STRING') },
            { name: 'size', type: scalar('INT64') },
          ],
        },
      },
    },
  ],
  names: [
    { name: 'word', type: scalar('STRING') },
    { name: 'weight', type: scalar('INT64') },
    { name: 'known', type: scalar('BOOL') },
  ],
}

const words = ['a', 'b', 'ab', 'ba', 'abc', '', 'A', 'https://a.b', null]
const numbers = [0, 1, 2, 3, -1, null]
const times = [
  '2026-01-01T00:00:00Z',
  '2026-01-01T10:30:00Z',
  '2026-01-02T00:00:00Z',
  '2026-01-03T12:00:00Z',
  null,
]
const days = ['2026-01-01', '2026-01-02', '2026-01-03', null]
const shares = [0, 0.5, -1.5, 'NaN', null]

/** Rows of both tables, with NULLs, duplicates and empty arrays. */
export function randomRows(random: Random): Record<string, Row[]> {
  const tag = () => ({ label: random.pick(words), size: random.pick(numbers) })
  const log = () => ({
    id: random.below(20),
    word: random.pick(words),
    n: random.pick(numbers),
    ts: random.pick(times),
    day: random.pick(days),
    share: random.pick(shares),
    tags: random.some(0, 3, tag),
  })
  const name = () => ({
    word: random.pick(words),
    weight: random.pick(numbers),
    known: random.pick([true, false, null]),
  })
  return { logs: random.some(25, 25, log), names: random.some(8, 8, name) }
}

/** The parameters that a query may have, with their values. */
const parameters: Record<string, { definition: ParameterDefinition; values: readonly Value[] }> = {
  num: { definition: { type: 'integer' }, values: [0, 1, 2, 7, null] },
  word: { definition: { type: 'string' }, values: ['a', 'b', 'ab', '', 'zzz', '1', 'a|b', null] },
  since: {
    definition: { type: 'string', format: 'iso-timestamp' },
    values: times.map(time => time && isoTimestamp(time)),
  },
  share: { definition: { type: 'number' }, values: shares },
  flag: { definition: { type: 'boolean' }, values: [true, false, null] },
  date: { definition: { type: 'string' }, values: days },
  pattern: {
    definition: { type: 'string' },
    values: ['^ab', 'abc?', 'a.c', 'ab+', 'b$', '(?i)AB', '[ab]c', 'a\\.b', 'b*c', 'https://a\\.b', '', null],
  },
  mode: { definition: { type: 'string' }, values: ['1', 'hour', 'day'] },
}

export function bindingsOf(names: string[], random: Random): Binding[] {
  return names.map(name => {
    const { definition, values } = parameters[name]!
    return { name, type: typeOf(definition), value: random.pick(values) }
  })
}

export function endpointOf([set]: ParameterSet[]): Endpoint {
  const names = set!.map(({ name }) => [name, parameters[name]!.definition] as const)
  return { parameters: Object.fromEntries(names), maxRows: 100_000, maxResultBytes: null } as Endpoint
}

/** What is compared of a result. */
export function shown({ columns, rows }: Pick<Result, 'columns' | 'rows'>, isOrdered: boolean): string {
  const texts = rows.map(row => JSON.stringify(row))
  return JSON.stringify([columns, isOrdered ? texts : texts.toSorted()])
}

type Kind = 'INT64' | 'STRING' | 'BOOL' | 'TIMESTAMP' | 'DATE' | 'FLOAT64'
interface Named {
  sql: string
  kind: Kind
}
interface Table {
  name: string
  columns: { name: string; kind: Kind }[]
}

const plain: Table[] = Object.entries(tables).map(([name, columns]) => ({
  name,
  columns: columns.flatMap(({ name, type }) =>
    type.kind === 'ARRAY' ? [] : { name, kind: type.kind as Kind },
  ),
}))

interface RandomQuery {
  sql: string
  /** Whether its rows have one order. */
  isOrdered: boolean
}

export function randomQuery(random: Random): RandomQuery {
  return new Writer(random).query(3, plain)
}

interface Written extends RandomQuery {
  columns: { name: string; kind: Kind }[]
  /** What ORDER BY may go by besides. */
  hidden?: string
}

class Writer {
  private readonly random: Random
  private count = 0

  constructor(random: Random) {
    this.random = random
  }

  query(depth: number, around: Table[], kinds?: Kind[]): Written {
    const { random } = this
    const sight = [...around]
    const common =
      depth > 1 && random.oneIn(2)
        ? random.some(1, 2, () => {
            const { sql, columns } = this.query(depth - 1, sight)
            const name = this.name('c')
            sight.push({ name, columns })
            return `${name} AS (${sql})`
          })
        : []
    const body = this.body(depth, sight, kinds)
    const order = this.random.oneIn(2) ? this.order(body) : ''
    const head = common.length > 0 ? `WITH ${common.join(', ')} ` : ''
    return { ...body, sql: `${head}${body.sql}${order}`, isOrdered: order !== '' }
  }

  /** By all columns, so that there is one order, and LIMIT leaves the same rows. */
  private order({ sql, columns, hidden }: Written): string {
    const { random } = this
    // GoogleSQL takes ORDER BY with FROM only.
    if (!sql.includes(' FROM ')) return ''
    const keys = columns.map(
      ({ name }, at) =>
        random.pick([name, String(at + 1)]) + random.pick(['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST']),
    )
    const limit = random.oneIn(2) ? ` LIMIT ${random.below(4)}${random.pick(['', ' OFFSET 1'])}` : ''
    if (hidden !== undefined && random.oneIn(2)) keys.unshift(hidden)
    return ` ORDER BY ${keys.join(', ')}${limit}`
  }

  private body(depth: number, sight: Table[], kinds?: Kind[]): Written {
    const { random } = this
    if (depth < 2 || !random.oneIn(5)) return this.select(depth, sight, kinds)
    const left = this.select(
      depth - 1,
      sight,
      kinds ?? random.some<Kind>(1, 2, () => random.pick<Kind>(['INT64', 'STRING'])),
    )
    const right = this.select(
      depth - 1,
      sight,
      left.columns.map(({ kind }) => kind),
    )
    const operator = random.pick(['UNION ALL', 'UNION DISTINCT', 'INTERSECT DISTINCT', 'EXCEPT DISTINCT'])
    const wrapped = random.oneIn(4) ? `(${right.sql}${this.order(right)})` : right.sql
    return { sql: `${left.sql} ${operator} ${wrapped}`, columns: left.columns, isOrdered: false }
  }

  private select(depth: number, sight: Table[], kinds?: Kind[]): Written {
    const { random } = this
    if (random.oneIn(12)) return this.withoutFrom(kinds)
    const from = this.from(depth, sight)
    const where = random.oneIn(4)
      ? ''
      : ` WHERE ${random.some(1, 3, () => this.condition(2, from.columns)).join(' AND ')}`
    const wanted =
      kinds ?? random.some(1, 3, () => random.pick<Kind>(['INT64', 'STRING', 'INT64', 'BOOL', 'TIMESTAMP']))
    const form = random.below(6)
    const tail = `${from.sql}${where}`
    if (form === 0) return this.ofAll(wanted, from.columns, tail)
    if (form <= 2) return this.grouped(wanted, from.columns, tail)
    if (form === 3) return this.windowed(wanted, from.columns, tail)
    if (form === 4 && !kinds && depth < 3) {
      const [first] = from.tables
      const columns = first!.columns
      return { sql: `SELECT ${first!.name}.* FROM ${tail}`, columns, isOrdered: false }
    }
    const columns = this.names(wanted)
    const items = columns.map(({ name, kind }) => `${this.value(kind, 2, from.columns)} AS ${name}`)
    if (random.oneIn(3))
      return { sql: `SELECT DISTINCT ${items.join(', ')} FROM ${tail}`, columns, isOrdered: false }
    const hidden = this.value('INT64', 2, from.columns)
    return { sql: `SELECT ${items.join(', ')} FROM ${tail}`, columns, isOrdered: false, hidden }
  }

  private withoutFrom(kinds: Kind[] = ['INT64', 'STRING']): Written {
    const columns = this.names(kinds)
    const items = columns.map(({ name, kind }) => `${this.value(kind, 1, [])} AS ${name}`)
    return { sql: `SELECT ${items.join(', ')}`, columns, isOrdered: false }
  }

  private ofAll(kinds: Kind[], columns: Named[], tail: string): Written {
    const named = this.names(kinds)
    const items = named.map(({ name, kind }, at) => {
      const value = this.aggregate(kind, columns)
      const isAggregate = at > 0 || value.includes('(')
      return `${isAggregate ? value : `MAX(${value})`} AS ${name}`
    })
    const having = this.random.oneIn(3) ? ` HAVING ${this.aggregate('BOOL', columns)}` : ''
    return { sql: `SELECT ${items.join(', ')} FROM ${tail}${having}`, columns: named, isOrdered: false }
  }

  private grouped(kinds: Kind[], columns: Named[], tail: string): Written {
    const { random } = this
    const named = this.names(kinds)
    const keys = random.below(named.length + 1)
    const items = named.map(({ name, kind }, at) => {
      const value = at < keys ? this.value(kind, 2, columns) : this.aggregate(kind, columns)
      return `${value} AS ${name}`
    })
    const extra = keys === 0 || random.oneIn(4) ? [random.pick(columns).sql] : []
    const by = [...named.slice(0, keys).map(({ name }, at) => random.pick([name, String(at + 1)])), ...extra]
    const having = random.oneIn(3) ? ` HAVING ${this.aggregate('BOOL', columns)}` : ''
    return {
      sql: `SELECT ${items.join(', ')} FROM ${tail} GROUP BY ${by.join(', ')}${having}`,
      columns: named,
      isOrdered: false,
    }
  }

  private windowed(kinds: Kind[], columns: Named[], tail: string): Written {
    const { random } = this
    const named = this.names(kinds)
    const partition = () =>
      random.oneIn(2) ? `PARTITION BY ${this.value(random.pick<Kind>(['INT64', 'STRING']), 1, columns)}` : ''
    const items = named.map(({ name, kind }, at) => {
      if (at > 0 && random.oneIn(2)) return `${this.value(kind, 1, columns)} AS ${name}`
      const sorted = kind === 'INT64' ? random.pick(['RANK()', 'DENSE_RANK()', 'SUM(id)', 'COUNT(*)']) : null
      const over =
        sorted === null ? partition() : `${partition()} ORDER BY ${this.value('INT64', 1, columns)}`
      const called =
        sorted?.replace('id', this.value('INT64', 0, columns)) ?? `MAX(${this.value(kind, 1, columns)})`
      return `${called} OVER (${over}) AS ${name}`
    })
    const qualify = random.oneIn(3)
      ? ` QUALIFY COUNT(*) OVER (${partition()}) > ${this.value('INT64', 1, [])}`
      : ''
    return { sql: `SELECT ${items.join(', ')} FROM ${tail}${qualify}`, columns: named, isOrdered: false }
  }

  private from(depth: number, sight: Table[]) {
    const { random } = this
    const first = this.table(depth, sight)
    const tables = [first]
    let { sql } = first
    for (let more = random.pick([0, 0, 1, 1, 2]); more > 0; more--) {
      const columns = () => tables.flatMap(columnsOf)
      if (random.oneIn(4) && tables.some(({ of }) => of === 'logs')) {
        const { name } = tables.find(({ of }) => of === 'logs')!
        const alias = this.name('g')
        tables.push({
          name: alias,
          of: '',
          sql: '',
          columns: [
            { name: 'label', kind: 'STRING' },
            { name: 'size', kind: 'INT64' },
          ],
        })
        sql += `${random.pick([' CROSS JOIN', ','])} UNNEST(${name}.tags) AS ${alias}`
        continue
      }
      const next = this.table(depth, sight)
      const shared = next.columns.filter(({ kind }) => columns().some(other => other.kind === kind))
      tables.push(next)
      if (shared.length === 0 || random.oneIn(5))
        sql = sql.includes('JOIN') ? `${sql} CROSS JOIN ${next.sql}` : `${sql}, ${next.sql}`
      else {
        const { name, kind } = random.pick(shared)
        const other = random.pick(
          columns().filter(column => column.kind === kind && !column.sql.startsWith(`${next.name}.`)),
        )
        const more = random.oneIn(3) ? ` AND ${this.condition(1, columns())}` : ''
        sql += ` ${random.pick(['JOIN', 'LEFT JOIN', 'LEFT JOIN', 'FULL JOIN', 'RIGHT JOIN'].slice(0, sql.includes(',') || random.below(6) > 0 ? 3 : 5))} ${next.sql} ON ${other.sql} = ${next.name}.${name}${more}`
      }
    }
    return { sql, tables, columns: tables.flatMap(columnsOf) }
  }

  private table(depth: number, sight: Table[]): Table & { of: string; sql: string } {
    const { random } = this
    if (depth > 1 && random.oneIn(4)) {
      const { sql, columns } = this.query(depth - 1, sight)
      const name = this.name('t')
      return { name, of: '', sql: `(${sql}) AS ${name}`, columns }
    }
    const table = random.pick([...sight, ...sight.slice(plain.length), ...sight.slice(plain.length)])
    const name = this.name(table.name === 'logs' ? 'l' : 't')
    return { name, of: table.name, sql: `${table.name} AS ${name}`, columns: table.columns }
  }

  private condition(depth: number, columns: Named[]): string {
    const { random } = this
    const column = (kind: Kind) =>
      random.pick([...columns.filter(each => each.kind === kind).map(({ sql }) => sql), this.constant(kind)])
    return random.pick([
      () => `${column('STRING')} = @word`,
      () => `REGEXP_CONTAINS(${column('STRING')}, @word)`,
      () => `REGEXP_CONTAINS(${column('STRING')}, @pattern)`,
      () => `(@word IS NULL OR STRPOS(${column('STRING')}, @word) > 0)`,
      () => `(${column('STRING')} IS NULL OR ${column('STRING')} LIKE CONCAT('%', @word, '%'))`,
      () => `${column('TIMESTAMP')} >= @since`,
      () => `(@since IS NULL OR ${column('TIMESTAMP')} < @since)`,
      () =>
        `${column('TIMESTAMP')} >= TIMESTAMP_SUB(TIMESTAMP '2026-01-03 00:00:00Z', INTERVAL CASE @mode WHEN 'hour' THEN 1 WHEN 'day' THEN 24 ELSE 48 END HOUR)`,
      () => `${column('DATE')} = @date`,
      () => `${column('DATE')} BETWEEN @date AND '2026-01-03'`,
      () => `${column('FLOAT64')} > @share`,
      () => `${column('INT64')} + @num = ${column('INT64')}`,
      () => `${column('INT64')} IN (@num, 1)`,
      () => this.value('BOOL', depth, columns),
      () => this.value('BOOL', depth, columns),
      ...this.ofTables(column('STRING'), column('INT64')),
      () => `${column('INT64')} > ${random.below(3)}`,
      () => `${column('STRING')} IS NOT NULL`,
    ])()
  }

  private value(kind: Kind, depth: number, columns: Named[]): string {
    const { random } = this
    const own = columns.filter(column => column.kind === kind)
    if (depth === 0 || random.oneIn(3))
      return own.length > 0 && !random.oneIn(4) ? random.pick(own).sql : this.constant(kind)
    const of = (other: Kind) => this.value(other, depth - 1, columns)
    const forms: Record<Kind, (() => string)[]> = {
      INT64: [
        () => `(${of('INT64')} + ${of('INT64')})`,
        () => `IF(${of('BOOL')}, ${of('INT64')}, ${of('INT64')})`,
        () => `LENGTH(${of('STRING')})`,
        () => `COALESCE(${of('INT64')}, @num)`,
        ...this.ofTags(columns),
      ],
      STRING: [
        () => `CONCAT(${of('STRING')}, ${of('STRING')})`,
        () => `COALESCE(${of('STRING')}, @word, '-')`,
        () => `CASE @mode WHEN 'hour' THEN ${of('STRING')} ELSE ${of('STRING')} END`,
      ],
      BOOL: [
        () => `(${of('INT64')} = ${of('INT64')})`,
        () => `(${of('BOOL')} OR ${of('BOOL')})`,
        () => `(${of('STRING')} IS NULL)`,
        () => `(NOT ${of('BOOL')})`,
        () => `(@flag AND ${of('BOOL')})`,
      ],
      TIMESTAMP: [
        () => `TIMESTAMP_TRUNC(${of('TIMESTAMP')}, DAY)`,
        () => `IF(@mode = 'day', TIMESTAMP_TRUNC(${of('TIMESTAMP')}, DAY), ${of('TIMESTAMP')})`,
        () => `COALESCE(${of('TIMESTAMP')}, @since)`,
      ],
      DATE: [() => `IF(${of('BOOL')}, ${of('DATE')}, ${of('DATE')})`],
      FLOAT64: [() => `IF(@flag, ${of('FLOAT64')}, @share)`],
    }
    return random.pick(forms[kind])()
  }

  /** Conditions by subqueries that read tables. */
  private ofTables(text: string, number: string): (() => string)[] {
    const { random } = this
    const inner = () => {
      const name = this.name('s')
      const columns = plain[1]!.columns.map(column => ({ sql: `${name}.${column.name}`, kind: column.kind }))
      return { columns, from: `FROM names AS ${name} WHERE ${name}.known OR ${name}.weight > @num` }
    }
    const value = (kind: Kind) => {
      const { columns, from } = inner()
      return `SELECT ${this.value(kind, 1, columns)} ${from}`
    }
    return [
      () => `${text} ${random.pick(['', 'NOT '])}IN (${value('STRING')})`,
      () => `${random.pick(['', 'NOT '])}EXISTS (${value('STRING')})`,
      () => `${number} >= (SELECT MIN(m) FROM (${value('INT64').replace(' FROM', ' AS m FROM')}))`,
      () => `${number} IN (${value('INT64')} ORDER BY 1 LIMIT 2)`,
    ]
  }

  private ofTags(columns: Named[]): (() => string)[] {
    // The range variables of the log table begin with an l.
    const log = columns.find(({ sql }) => sql.startsWith('l') && sql.endsWith('.share'))?.sql.split('.')[0]
    return log ? [() => `(SELECT COUNT(*) FROM UNNEST(${log}.tags) AS g WHERE g.label = @word)`] : []
  }

  private aggregate(kind: Kind, columns: Named[]): string {
    const { random } = this
    const of = (other: Kind) => this.value(other, 1, columns)
    const extreme = () => `${random.pick(['MIN', 'MAX'])}(${of(kind)})`
    const forms: Record<Kind, (() => string)[]> = {
      INT64: [
        () => 'COUNT(*)',
        () => `COUNTIF(${of('BOOL')})`,
        () => `(SUM(${of('INT64')}) + @num)`,
        () => `COUNT(DISTINCT ${of('STRING')})`,
        () => `IFNULL(SUM(${of('INT64')}), COUNT(*))`,
        () => '@num',
        extreme,
      ],
      STRING: [extreme, () => `CONCAT(MIN(${of('STRING')}), @word)`],
      BOOL: [
        () => `LOGICAL_OR(${of('BOOL')})`,
        () => 'COUNT(*) > @num',
        () => `(SUM(${of('INT64')}) IS NULL)`,
      ],
      TIMESTAMP: [extreme, () => '@since'],
      DATE: [extreme],
      FLOAT64: [() => `MIN(${of('FLOAT64')})`],
    }
    return random.pick(forms[kind])()
  }

  private constant(kind: Kind): string {
    const constants: Record<Kind, string[]> = {
      INT64: ['@num', '@num', '1', '2', 'CAST(NULL AS INT64)'],
      STRING: ['@word', '@word', "'a'", "''"],
      BOOL: ['@flag', 'TRUE', 'FALSE'],
      TIMESTAMP: ['@since', "TIMESTAMP '2026-01-02 00:00:00Z'"],
      DATE: ["DATE '2026-01-02'", 'CAST(@date AS DATE)'],
      FLOAT64: ['@share', '0.5'],
    }
    return this.random.pick(constants[kind])
  }

  private names(kinds: Kind[]): { name: string; kind: Kind }[] {
    return kinds.map(kind => ({ name: this.name('x'), kind }))
  }

  private name(start: string): string {
    return `${start}${++this.count}`
  }
}

function columnsOf({ name, columns }: Table): Named[] {
  return columns.map(column => ({ sql: `${name}.${column.name}`, kind: column.kind }))
}
