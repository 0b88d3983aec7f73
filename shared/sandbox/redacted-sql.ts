/**
 * A caller whose answers are redacted against his wish may send SQL in which stored text stays as it is: redaction
 * finds what is personal in a text by its form and by the name of its column, so neither may change.
 * `shared/sandbox/README.md`, "Redacted answers", has what is in and out, and why.
 */
import { decode } from '../redact/escapes.ts'
import { isPersonal, kindOf, type NameKind } from '../redact/names.ts'
import { keysOfPivot, keysOfUnpivot, matchedNames, nameOfColumn, nameOfPivoted } from '../sql/columns.ts'
import { extractParts } from '../sql/grammar.ts'
import { inReadingOrder, nameKey, readsItself } from '../sql/relations.ts'
import type {
  AnyNode,
  Call,
  Cast,
  CommonTable,
  Expression,
  From,
  GroupBy,
  Identifier,
  Join,
  Pivot,
  Query,
  QueryBody,
  Select,
  SelectColumn,
  SelectItem,
  Unpivot,
  UnnestReference,
} from '../sql/tree.ts'
import type { SqlType } from '../sql/types.ts'
import { children, descendants } from '../sql/walk.ts'
import { Violation } from './caller-rules.ts'
import {
  chosen,
  computed,
  elementOf,
  type Flow,
  hasSign,
  isOpen,
  isPersonalFlow,
  isStored,
  list,
  listed,
  made,
  meets,
  nothing,
  numeric,
  partOf,
  personalOf,
  plain,
  ratio,
  record,
  resolve,
  type Scope,
  signed,
  type Source,
  storedRecord,
  ofText,
  summed,
  together,
  union,
  varies,
  without,
} from './flows.ts'
import type { Columns } from './shapes.ts'

/** The functions that may take stored text, by what they do with it. Any other may only be compared with constants. */
const uses = {
  /** The value is an argument's, as it is. */
  keeps: `
    ANY_VALUE APPROX_QUANTILES APPROX_TOP_COUNT APPROX_TOP_SUM ARRAY_AGG ARRAY_CONCAT ARRAY_CONCAT_AGG
    ARRAY_FIRST ARRAY_LAST ARRAY_REVERSE ARRAY_SLICE COALESCE FIRST_VALUE GREATEST IF IFNULL JSON_KEYS LAG
    LAST_VALUE LAX_STRING LEAD LEAST LTRIM MAX MAX_BY MIN MIN_BY NTH_VALUE NULLIF NULLIFZERO PARSE_JSON
    PERCENTILE_DISC RTRIM STRING TRIM ZEROIFNULL`,
  /** A count or an order, whatever the arguments are. */
  counts: `
    APPROX_COUNT_DISTINCT ARRAY_LENGTH BYTE_LENGTH CHARACTER_LENGTH CHAR_LENGTH COUNT COUNTIF CUME_DIST
    DENSE_RANK GROUPING JSON_TYPE LENGTH LOGICAL_AND LOGICAL_OR OCTET_LENGTH PERCENT_RANK RANK
    ROW_NUMBER TYPEOF`,
  /** Whether the first argument matches the others, which are constants. */
  matches: 'CONTAINS_SUBSTR ENDS_WITH REGEXP_CONTAINS STARTS_WITH',
  /** Another scale of a number: what is shown of it to eight digits tells no more of the number itself. */
  scales: `
    ABS CBRT CEIL CEILING DIV FLOAT64 FLOOR IEEE_DIVIDE INT64 ROUND SAFE_DIVIDE SAFE_MULTIPLY SAFE_NEGATE
    SQRT TRUNC`,
  /** A sum over rows, in which nothing may cancel out. */
  sums: 'AVG PERCENTILE_CONT SUM',
  /** Takes times, or a text that is one as a whole; or gives a truth. */
  times: `
    BOOL DATE DATETIME DATETIME_ADD DATETIME_BUCKET DATETIME_DIFF DATETIME_SUB DATETIME_TRUNC DATE_ADD
    DATE_BUCKET DATE_DIFF DATE_SUB DATE_TRUNC GENERATE_DATE_ARRAY GENERATE_TIMESTAMP_ARRAY IS_INF IS_NAN
    JUSTIFY_DAYS JUSTIFY_HOURS JUSTIFY_INTERVAL LAST_DAY LAX_BOOL SIGN TIME TIMESTAMP TIMESTAMP_ADD
    TIMESTAMP_BUCKET TIMESTAMP_DIFF TIMESTAMP_SUB TIMESTAMP_TRUNC TIME_ADD TIME_DIFF TIME_SUB TIME_TRUNC
    UNIX_DATE UNIX_MICROS UNIX_MILLIS UNIX_SECONDS WEEK`,
  /** Formats numbers and times by a constant. */
  formats: 'FORMAT FORMAT_DATE FORMAT_DATETIME FORMAT_TIME FORMAT_TIMESTAMP',
  /** Joins texts of computed numbers with constants. */
  concats: 'CONCAT',
  /** Joins texts by a delimiter. */
  joins: 'ARRAY_TO_STRING STRING_AGG',
  /** Takes a part of JSON by a constant path. */
  picks: `
    JSON_EXTRACT JSON_EXTRACT_ARRAY JSON_EXTRACT_SCALAR JSON_EXTRACT_STRING_ARRAY JSON_QUERY
    JSON_QUERY_ARRAY JSON_VALUE JSON_VALUE_ARRAY`,
  /** Writes names into the text. */
  writes: 'TO_JSON TO_JSON_STRING',
  /** The place of a number among constant ones. */
  buckets: 'RANGE_BUCKET',
}

type Use = keyof typeof uses

const useOf = new Map(
  Object.entries(uses).flatMap(([use, names]) =>
    names.match(/\S+/g)!.map(name => [name, use as Use] as const),
  ),
)

/** Of functions that keep some of their arguments: `v` a value, `!` what has to be constant, `-` what chooses. Of others, all are values. */
const roles = new Map(
  `IF -vv, LAG v!v, LEAD v!v, ARRAY_SLICE v!!, NTH_VALUE v!, APPROX_QUANTILES v!, APPROX_TOP_COUNT v!, APPROX_TOP_SUM v-!,
   MAX_BY v-, MIN_BY v-, NULLIF v-, PERCENTILE_DISC v!`
    .split(/,\s*/)
    .map(entry => entry.split(' ') as [string, string]),
)

/** Of two stored numbers: what they make is computed with no more. */
const divisions: ReadonlySet<string> = new Set(['/', 'SAFE_DIVIDE', 'IEEE_DIVIDE'])

/** Lists and JSON: an element has the name of the whole. Of a record, it would lose its own. */
const lists =
  /^(?:APPROX_(?:QUANTILES|TOP_.*)|ARRAY_(?:AGG|CONCAT|CONCAT_AGG|REVERSE|SLICE)|.*_ARRAY|JSON_(?:EXTRACT|KEYS|QUERY)|PARSE_JSON|REGEXP_EXTRACT_ALL|SPLIT|TO_CODE_POINTS|TO_JSON)$/

/** Of constants, these make a value for each row, or many. */
const generates =
  /^(?:.*_AGG|.*_ARRAY|AVG|BIT_(?:AND|OR|XOR)|CORR|COUNT.*|COVAR_.*|REGEXP_EXTRACT_ALL|SPLIT|STDDEV.*|SUM|TO_CODE_POINTS|VAR.*)$/

/** A time, which is compared with times only. */
const makesTimes =
  /^(?:(?:PARSE_)?(?:DATE|DATETIME|TIME|TIMESTAMP)(?:_(?!DIFF$).*)?|GENERATE_(?:DATE|TIMESTAMP)_ARRAY|JUSTIFY_.*|LAST_DAY|MAKE_INTERVAL)$/

/** The last argument is a part of a date, which is written like a column. */
const takesPart = /_(?:DIFF|TRUNC)$|^LAST_DAY$/

/** What these show tells which of their values is the greater, or whether they are equal. */
const compares: ReadonlySet<string> = new Set(['GREATEST', 'LEAST', 'NULLIF'])

/** Between these, no class of personal data goes on, and no sign of a version reaches what follows. */
const delimiters = new Set([',', ', ', ';', '; ', ' | '])

/** Decimal numbers among other text: no conversion of a text, in another base, or by an argument's width. */
const formatsNumbers = /^(?:[^%]|%%|%[-+ 0#']*\d*(?:\.\d+)?[diufFeEgG])*$/

const comparisons: ReadonlySet<string> = new Set('= != <> < > <= >='.split(' '))
const arithmetic: ReadonlySet<string> = new Set('+ - * / | ^ & << >>'.split(' '))
const numbers: ReadonlySet<string> = new Set('INT64 FLOAT64 NUMERIC BIGNUMERIC'.split(' '))

const scalars: ReadonlySet<string> = new Set(
  'BOOL INT64 FLOAT64 NUMERIC BIGNUMERIC DATE DATETIME TIME TIMESTAMP INTERVAL STRING JSON'.split(' '),
)

export interface StoredText {
  /** The first part of the query that changes a text or its name beyond what redaction follows; `null` = none. */
  problem: Violation | null
  /** By key: names that the query gives to columns and fields, where their values are of another kind than they say. */
  names: ReadonlyMap<string, NameKind>
}

/**
 * @param query of a caller, as it runs
 * @param columns of the tables that it may read, by key
 */
export function storedTextIn(query: Query, columns: ReadonlyMap<string, Columns> = new Map()): StoredText {
  const text = new Text(columns)
  text.flow(query)
  return { problem: text.problem ?? text.writesNames(), names: text.renamed() }
}

/** A column of a query, and what it has in each part of a set operation. */
interface Column {
  name: string | null
  values: Expression[]
}

class Text {
  problem: Violation | null = null
  /** The kinds of the values under a name that the query gives, by its key. */
  private readonly given = new Map<string, Set<unknown>>()
  private readonly flows = new Map<AnyNode, Flow>()
  private scope: Scope
  private readonly sources = new Map<Select, readonly Source[]>()
  private hasNewNames = false
  private depth = 0
  private comparisons = 0
  /** Whether FROM has rows beside those of one table. */
  private isJoined = false
  private written: Call | null = null

  constructor(columns: ReadonlyMap<string, Columns>) {
    const tables = [...columns].map(([key, known]): [string, Flow] => [key, rowOfTable(known)])
    this.scope = { sources: [], tables: new Map(tables), outer: null }
  }

  renamed(): Map<string, NameKind> {
    const names = new Map<string, NameKind>()
    for (const [name, kinds] of this.given) {
      const own = kindOf(name)
      if (isPersonal(own)) continue
      if ([...kinds].some(kind => isPersonal(kind as NameKind)) || kinds.has('text')) names.set(name, 'datum')
      else if (kinds.has('number')) names.set(name, 'number')
      else if (
        (own === 'version' || own === 'id') &&
        [...kinds].some(kind => kind !== own && kind !== 'signed')
      )
        names.set(name, 'other')
    }
    return names
  }

  /** In JSON text the names of fields are part of the text, and redaction goes by them. */
  writesNames(): Violation | null {
    if (!this.written || !this.hasNewNames) return null
    return new Violation(
      `${nameOf(this.written)} writes names of this query into a text: leave out AS, or select the values themselves`,
      this.written.at,
    )
  }

  /** What the value of an expression, or the row of a query, may hold of stored text. Each node is read once. */
  flow(node: AnyNode): Flow {
    const flow = this.flows.get(node) ?? this.flowOf(node)
    this.flows.set(node, flow)
    return flow
  }

  private flowOf(node: AnyNode): Flow {
    switch (node.kind) {
      case 'Path': {
        const [first, ...fields] = node.parts.map(({ name }) => name)
        return fields.reduce(partOf, resolve(first!, this.scope))
      }
      case 'FieldAccess':
        return isConstant(node.of) ? nothing : elementOf(partOf(this.flow(node.of), node.field.name))
      case 'Subscript':
        return this.subscript(node)
      case 'Parenthesized':
        return this.flow(node.expression)
      case 'NamedArgument':
        return this.flow(node.value)
      case 'ScalarSubquery':
        return this.value(node.query)
      case 'ArraySubquery':
        return union([this.value(node.query), listed, list])
      case 'QueryInParentheses':
        return this.flow(node.query)
      case 'Query':
        return this.query(node)
      case 'Select':
        return this.select(node)
      case 'SetOperation':
        return this.setOperation(node)
      case 'SelectColumn':
        return this.column(node)
      case 'SelectStar':
        return union([...(this.rowOf([node]).inAll ?? nothing)].map(kind => new Set([kind])))
      case 'Case':
        return this.cases(node)
      case 'ArrayLiteral':
        return union([this.typed(node.type, this.merge(node.items, node), node), listed, list])
      case 'StructLiteral':
      case 'Tuple':
        return this.struct(node)
      case 'Cast':
        return this.cast(node)
      case 'Call':
        return this.call(node)
      case 'Binary':
        if (node.operator === '||') return this.joined([node.left, node.right], '||', node)
        if (arithmetic.has(node.operator)) return this.arithmetic(node)
        if (isConstant(node.left) || isConstant(node.right)) this.compared(node)
        if (comparisons.has(node.operator)) this.meet([node.left, node.right], node)
        return this.truth(node)
      case 'Unary':
        this.refusePersonal(node)
        if (node.operator === 'NOT') return this.truth(node)
        if (!isStored(this.flow(node.operand))) return computed(this.all(node))
        if (node.operator === '~') this.refuseChange('~', node)
        return numeric(this.flow(node.operand), true)
      case 'Extract':
        this.refusePersonal(node)
        if (union(this.all(node)).has('number')) this.refuseChange('EXTRACT', node)
        return computed(this.all(node))
      case 'IntervalLiteral':
        if (isStored(this.flow(node.value))) this.refuseChange('INTERVAL', node)
        return this.truth(node)
      case 'Like':
      case 'LikeAny':
        this.needConstants([node.kind === 'Like' ? node.right : node.among], 'LIKE')
        this.compared(node)
        return this.truth(node)
      case 'In':
        if (isConstant(node.among)) this.compared(node)
        this.meet([node.operand, node.among], node)
        return this.truth(node)
      case 'Between':
        if (isConstant(node.low) && isConstant(node.high)) this.compared(node)
        this.meet([node.operand, node.low, node.high], node)
        return this.truth(node)
      case 'IsDistinctFrom':
        this.meet([node.left, node.right], node)
        return this.truth(node)
      case 'InQuery':
        return this.value(node.query)
      case 'InList':
      case 'InUnnest':
        return union(this.all(node))
      case 'Exists':
        this.all(node)
        return plain
      case 'Lambda': {
        const parameters = node.parameters.map(({ name }) => ({ name: nameKey(name), value: storedRecord }))
        return this.inside(parameters, () => this.flow(node.body))
      }
      case 'WithExpression':
        return this.within(() => this.withExpression(node.variables, node.body))
      case 'GroupBy':
      case 'Window':
        for (const child of children(node)) this.refuseMixed(this.flow(child), child)
        return nothing
      case 'OrderItem':
      case 'HavingExtreme':
        this.refuseMixed(this.flow(node.expression), node)
        return nothing
      case 'TypedLiteral':
      case 'Literal':
      case 'ParameterReference':
        return nothing
      // Conditions, and what is in no answer; FROM, WITH and `*` are read with their query.
      case 'CaseBranch':
      case 'CommonTable':
      case 'DerivedTable':
      case 'Frame':
      case 'FrameBound':
      case 'Is':
      case 'Join':
      case 'JoinInParentheses':
      case 'NamedWindow':
      case 'Pivot':
      case 'TableReference':
      case 'UnnestReference':
      case 'Unpivot':
      case 'UnpivotGroup':
      case 'With':
        return this.truth(node)
    }
  }

  private all(node: AnyNode): Flow[] {
    return children(node).map(child => this.flow(child))
  }

  /** A truth or a time. */
  private truth(node: AnyNode): Flow {
    return this.all(node).some(varies) ? plain : nothing
  }

  /** Of a text in any form, compared with constants, only the truth leaves. */
  private compared(node: AnyNode): void {
    this.comparisons++
    this.all(node)
    this.comparisons--
  }

  private isComparedByConstants(values: Expression[]): boolean {
    return this.comparisons > 0 && values.filter(isConstant).length >= values.length - 1
  }

  private refuse(message: string, { at }: AnyNode): void {
    this.problem ??= new Violation(message, at)
  }

  // ---- names

  private give(name: string, flow: Flow): void {
    if (!isStored(flow) && !flow.has('signed')) return
    const kinds = this.given.get(nameKey(name)) ?? new Set()
    for (const kind of flow) kinds.add(kind)
    this.given.set(nameKey(name), kinds)
  }

  /** The columns of the whole query are in no value. */
  private rename(name: string, flow: Flow): void {
    if (varies(flow) && this.depth > 1) this.hasNewNames = true
    this.give(name, flow)
  }

  private within<Result>(flow: () => Result): Result {
    this.depth++
    const found = flow()
    this.depth--
    return found
  }

  /** With these names in sight, and those around. */
  private inside<Result>(sources: readonly Source[], read: () => Result, scope = this.scope): Result {
    const outer = this.scope
    this.scope = { sources, tables: scope.tables, outer: scope }
    const result = read()
    this.scope = outer
    return result
  }

  private column({ expression, alias, at }: SelectColumn): Flow {
    const flow = this.flow(expression)
    const own = nameOfColumn({ kind: 'SelectColumn', expression, alias: null, at })
    const isNew = own !== null && this.isRow(expression)
    if (alias && (own === null || isNew || nameKey(own) !== nameKey(alias.name)))
      this.rename(alias.name, flow)
    else if (isNew) this.rename(own, flow)
    if (!alias && own === null) this.refuseHidden(personalOf(flow), expression)
    return flow
  }

  /** Whether it is a range variable. */
  private isRow(expression: Expression): boolean {
    if (expression.kind !== 'Path' || expression.parts.length > 1) return false
    const key = nameKey(expression.parts[0]!.name)
    for (let scope: Scope | null = this.scope; scope; scope = scope.outer)
      if (scope.sources.some(({ name }) => name === key)) return true
    return false
  }

  /** Where there is no name that could say it. */
  private refuseHidden(flow: Flow, node: AnyNode): void {
    if (isPersonalFlow(flow)) this.refuse('this is redacted by its name: name it with AS', node)
    if (flow.has('number')) this.refuse('this is computed from stored numbers: name it with AS', node)
  }

  // ---- queries

  /** @returns its row */
  private query(node: Query): Flow {
    const { scope } = this
    const tables = new Map(scope.tables)
    for (const cte of inReadingOrder(node.with))
      tables.set(nameKey(cte.name.name), this.commonTable(cte, tables, node.with!.recursive))
    this.scope = { ...scope, tables }
    const row = this.within(() => this.flow(node.body))
    const sources = node.body.kind === 'Select' ? this.sources.get(node.body)! : []
    this.inside([...sources, { name: null, value: row }], () => this.keys(node.orderBy, node.body))
    this.scope = scope
    return row
  }

  /** It sees no rows outside. */
  private commonTable(cte: CommonTable, tables: Map<string, Flow>, isRecursive: boolean): Flow {
    if (isRecursive && readsItself(cte)) this.refuseRows('WITH RECURSIVE', cte)
    const { scope } = this
    this.scope = { sources: [], tables, outer: null }
    const row = this.within(() => this.flow(cte.query))
    this.scope = scope
    return row
  }

  /** A query as a value: its one column, or its record. */
  private value(query: Query): Flow {
    const row = this.flow(query)
    const first = selectsOf(query.body)[0]!
    return first.as || !row.fields
      ? row
      : union([...row.fields.values(), ...(row.isOpen ? [storedRecord] : [])])
  }

  private select(node: Select): Flow {
    const sources = node.from ? this.from(node.from, []) : []
    this.sources.set(node, sources)
    const { isJoined } = this
    this.isJoined =
      sources.length > 1 || sources.some(({ value }) => value.has('made') || value.has('listed'))
    const row = this.selected(node, sources)
    this.isJoined = isJoined
    return row
  }

  private selected(node: Select, sources: readonly Source[]): Flow {
    return this.inside(sources, () => {
      const items = node.items.map(item => this.flow(item))
      if (node.where) this.flow(node.where)
      this.nameless(node.items, items)
      const row = this.rowOf(node.items)
      if (node.distinct) for (const item of node.items) this.refuseMixed(this.flow(item), item)
      this.inside(
        [...sources, { name: null, value: row }],
        () => {
          if (node.groupBy) this.groupBy(node.groupBy, node)
          for (const part of [node.having, node.qualify, ...node.windows]) if (part) this.flow(part)
        },
        { ...this.scope.outer!, tables: this.scope.tables },
      )
      if (node.as !== 'VALUE') return this.hidesNone(node, row)
      this.refuseHidden(items[0]!, node.items[0]!)
      return items[0]!
    })
  }

  private hidesNone(node: Select, row: Flow): Flow {
    if (node.as === 'STRUCT')
      for (const item of node.items)
        if (item.kind === 'SelectColumn' && nameOfColumn(item) === null)
          this.refuseHidden(this.flow(item), item)
    return row
  }

  /** GoogleSQL calls the columns without a name `f0_`, `f1_`, ... */
  private nameless(items: SelectItem[], flows: Flow[]): void {
    items.forEach((item, at) => {
      if (item.kind === 'SelectColumn' && nameOfColumn(item) === null && flows[at]!.has('number'))
        for (let other = 0; other <= at; other++) this.give(`f${other}_`, flows[at]!)
    })
  }

  /** A record of these. What is left of a `*` takes fields of an array's elements. */
  private rowOf(items: SelectItem[]): Flow {
    const fields = new Map<string, Flow>()
    let rest = nothing
    items.forEach((item, at) => {
      if (item.kind === 'SelectColumn') return add(fields, nameOfColumn(item), at, this.flow(item))
      const value = item.of ? this.flow(item.of) : storedRecord
      for (const [key, flow] of value.fields ?? [])
        if (!item.except.some(({ name }) => nameKey(name) === key)) fields.set(key, flow)
      for (const column of item.replace) add(fields, nameOfColumn(column), at, this.flow(column))
      if (isOpen(value)) rest = union([rest, new Set(value)])
    })
    return record(fields, rest)
  }

  private groupBy(node: GroupBy, select: Select): void {
    if (node.grouping === 'ALL') for (const item of select.items) this.refuseMixed(this.flow(item), item)
    this.flow(node)
    this.keys(node.items, select)
  }

  /** Keys may be the numbers of columns; behind a `*` that is any. */
  private keys(keys: AnyNode[], of: QueryBody): void {
    const isSelect = of.kind === 'Select'
    const columns = isSelect
      ? of.items.map(item => this.flow(item))
      : [...(this.flow(of).fields?.values() ?? [])]
    const hasStar = isSelect && of.items.some(({ kind }) => kind === 'SelectStar')
    for (const key of keys.flatMap(keysIn)) {
      const place = hasStar ? union(columns) : columns[Number(key.kind === 'Literal' && key.text) - 1]
      this.refuseMixed(key.kind === 'Literal' && place ? place : this.flow(key), key)
    }
  }

  /** The first query names the columns of all, but BY NAME. */
  private setOperation(node: QueryBody & { kind: 'SetOperation' }): Flow {
    const rows = [this.flow(node.left), this.flow(node.right)]
    const [first, ...others] = selectsOf(node)
    if (first!.as === 'VALUE') return varied(union(rows))
    const star = [first!, ...others].flatMap(({ items }) => items).find(({ kind }) => kind === 'SelectStar')
    if (star) this.refuse('* in a set operation hides which column is which: name the columns', star)
    const fields = new Map<string, Flow>()
    this.columnsOf(node).forEach(({ name, values }, at) => {
      const flow = this.merge(values, node)
      if (node.operator !== 'UNION ALL') this.refuseMixed(flow, node)
      if (name === null) this.refuseHidden(flow, values[0]!)
      else this.rename(name, flow)
      add(fields, name, at, flow)
    })
    return varied(record(fields))
  }

  private columnsOf(body: QueryBody): Column[] {
    if (body.kind === 'QueryInParentheses') return this.columnsOf(body.query.body)
    if (body.kind === 'Select')
      return body.items.flatMap(item =>
        item.kind === 'SelectColumn' ? { name: nameOfColumn(item), values: [item.expression] } : [],
      )
    const left = this.columnsOf(body.left)
    const right = this.columnsOf(body.right)
    const { byName } = body
    if (!byName)
      return left.map(({ name, values }, at) => ({ name, values: [...values, ...(right[at]?.values ?? [])] }))
    const names = [left, right].map(columns => columns.flatMap(({ name }) => name ?? []))
    const matched = matchedNames(byName, names[0]!, names[1]!)
    const all = [...left, ...right]
    return ('problem' in matched ? names.flat() : matched).map(name => ({
      name,
      values: all.flatMap(column =>
        column.name !== null && nameKey(column.name) === nameKey(name) ? column.values : [],
      ),
    }))
  }

  // ---- FROM

  /**
   * @param left the rows that an array sees; a subquery sees those around FROM alone
   * @returns what it adds to them
   */
  private from(from: From, left: readonly Source[]): Source[] {
    switch (from.kind) {
      case 'JoinInParentheses':
        return this.from(from.join, [])
      case 'Join':
        return this.join(from, left)
      case 'TableReference': {
        const name = from.path.at(-1)!.name
        const known = from.path.length === 1 ? this.scope.tables.get(nameKey(name)) : undefined
        return this.range(from.alias ?? from.path.at(-1)!, known ?? storedRecord)
      }
      case 'DerivedTable':
        return this.range(from.alias, this.flow(from.query))
      case 'UnnestReference':
        return this.unnest(from, left)
      case 'Pivot':
      case 'Unpivot':
        return this.range(from.alias, this.turned(from))
    }
  }

  private range(alias: Identifier | null, value: Flow): Source[] {
    if (alias) this.give(alias.name, value.fields ? storedRecord : value)
    return [{ name: alias && nameKey(alias.name), value }]
  }

  private unnest(from: UnnestReference, left: readonly Source[]): Source[] {
    const array = this.inside(left, () => this.flow(from.array))
    if (array.has('made') && !isStored(array) && !isShort(from.array))
      this.refuseRows('this array', from.array)
    if (!from.alias) this.refuseHidden(array, from)
    const element = elementOf(chosen(union([array, ...(varies(array) ? [] : [listed])]), []))
    const { offset } = from
    return [
      ...this.range(from.alias, element),
      ...(offset ? [{ name: nameKey(offset.name), value: made }] : []),
    ]
  }

  private join(node: Join, left: readonly Source[]): Source[] {
    const ours = this.from(node.left, left)
    const isApart = node.type === 'RIGHT' || node.type === 'FULL'
    const theirs = this.from(node.right, isApart ? [] : [...left, ...ours])
    const all = [...ours, ...theirs]
    if (node.on) this.inside([...left, ...all], () => this.flow(node.on!))
    for (const { name } of node.using) {
      const sides = [ours, theirs].map(sources => this.inside(sources, () => resolve(name, this.scope)))
      this.refuseMeeting(sides, node)
      // The columns of both sides become one.
      if (node.type === 'FULL') this.give(name, signed)
      all.push({
        name: null,
        value: record(
          new Map([[nameKey(name), together([...sides, ...(node.type === 'FULL' ? [signed] : [])])]]),
        ),
      })
    }
    return all
  }

  /** The columns that PIVOT and UNPIVOT pass on, and those that they make. */
  private turned(node: Pivot | Unpivot): Flow {
    const [source] = this.from(node.of, [])
    const row = source!.value
    const columns = [...(row.fields ?? [])].map(([name, flow]) => ({ name, flow }))
    const kept = node.kind === 'Pivot' ? keysOfPivot(node, columns) : keysOfUnpivot(node, columns)
    const fields = new Map(kept.map(({ name, flow }) => [name, flow]))
    this.inside([source!], () => {
      for (const child of children(node)) if (child !== node.of) this.flow(child)
      if (node.kind === 'Pivot')
        this.pivot(
          node,
          kept.map(({ flow }) => flow),
          fields,
        )
      else this.unpivot(node, fields)
    })
    return record(fields, isOpen(row) ? row : nothing)
  }

  private pivot(node: Pivot, keys: Flow[], fields: Map<string, Flow>): void {
    for (const key of [...keys, this.flow(node.by)]) this.refuseMixed(key, node)
    for (const aggregate of node.aggregates)
      for (const value of node.values) {
        const name = nameOfPivoted(aggregate, value)
        const flow = this.flow(aggregate.expression)
        if (name === null || isPersonalFlow(flow)) this.refuseHidden(flow, aggregate)
        if (name === null) continue
        this.rename(name, flow)
        add(fields, name, 0, flow)
      }
  }

  private unpivot(node: Unpivot, fields: Map<string, Flow>): void {
    const flow = this.merge(
      node.groups.flatMap(({ columns }) => columns),
      node,
    )
    for (const { name } of node.values) {
      this.rename(name, flow)
      add(fields, name, 0, chosen(flow, [plain]))
    }
    add(fields, node.name.name, 0, listed)
  }

  // ---- expressions

  /** Structs that become one take the names of one. */
  private merge(values: Expression[], node: AnyNode): Flow {
    const flows = values.map(value => this.flow(value))
    const held = flows.filter(flow => flow.has('struct') || varies(flow))
    if (held.length > 1 && held.some(flow => flow.has('struct')) && held.some(isStored))
      this.refuse('of several records, one names the fields of all: choose among their fields', node)
    const mayCancel = values.some(({ kind }, at) => kind !== 'Literal' && hasSign(flows[at]!))
    return together([...flows, ...(held.some(isStored) && mayCancel ? [signed] : [])])
  }

  private cases(node: Expression & { kind: 'Case' }): Flow {
    const whens = node.branches.map(({ when }) => when)
    if (node.operand) this.meet([node.operand, ...whens], node)
    const values = [...node.branches.map(({ then }) => then), ...(node.otherwise ? [node.otherwise] : [])]
    return chosen(
      this.merge(values, node),
      [node.operand, ...whens].map(by => (by ? this.flow(by) : nothing)),
    )
  }

  private withExpression(variables: SelectColumn[], body: Expression): Flow {
    const [first, ...others] = variables
    if (!first) return this.flow(body)
    const value = record(new Map([[nameKey(first.alias!.name), this.flow(first)]]))
    return this.inside([{ name: null, value }], () => this.withExpression(others, body))
  }

  private struct(node: Expression & { kind: 'StructLiteral' | 'Tuple' }): Flow {
    return this.within(() => {
      const types = node.kind === 'StructLiteral' ? node.type?.fields : undefined
      const fields = new Map<string, Flow>()
      node.items.forEach((item, at) => {
        const field = types?.[at]
        const flow = field ? this.typed(field.type, this.flow(item), item) : this.flow(item)
        const name = field ? field.name : item.kind === 'SelectColumn' ? nameOfColumn(item) : null
        if (field?.name) this.rename(field.name, flow)
        else if (name === null) this.refuseHidden(flow, item)
        add(fields, name, at, flow)
      })
      return record(fields)
    })
  }

  /** The value as one of a type that the query writes, which may name the fields of records. */
  private typed(type: SqlType | null, flow: Flow, node: AnyNode): Flow {
    if (!type || !namesFields(type)) return flow
    if (isStored(flow))
      this.refuse('this type gives names to the fields of what is stored: leave it out', node)
    return new Set([...flow, 'struct' as const])
  }

  private cast(node: Cast): Flow {
    const flow = union(this.all(node))
    const { type } = node
    const isNumber = numbers.has(type.kind)
    const isText = type.kind === 'STRING' || type.kind === 'JSON'
    if (!isStored(flow)) {
      if (namesFields(type)) return this.typed(type, flow, node)
      return !flow.has('plain') && (isText || isNumber) ? flow : isText || isNumber ? made : this.truth(node)
    }
    if (node.format || flow.has('struct') || !scalars.has(type.kind)) this.refuseChange('this CAST', node)
    if (isText) return flow
    if (isPersonalFlow(flow) && !node.safe) this.refuse('this is redacted by its name: write SAFE_CAST', node)
    if (isPersonalFlow(flow)) return flow
    if (!isNumber && type.kind !== 'BOOL' && flow.has('number'))
      this.refuseChange(`CAST to ${type.kind}`, node)
    if (!isNumber) return plain
    return union([numeric(flow, hasSign(flow)), isComputed(flow) ? nothing : ofText])
  }

  /** An element of an array, or a field of JSON by its name. */
  private subscript({ of, mode, index }: Expression & { kind: 'Subscript' }): Flow {
    const flow = this.flow(of)
    const element = elementOf(flow)
    if (isStored(this.flow(index))) this.refuse('what is stored cannot choose an element here', index)
    if (!isStored(flow)) return chosen(element, [this.flow(index)])
    if (mode === null && index.kind !== 'Literal')
      this.refuse('this may name a field of JSON: write a literal, or OFFSET', index)
    else if (mode === null && index.kind === 'Literal' && index.literal === 'STRING')
      return union([element, partOf(element, index.value), list])
    else if (!mode?.startsWith('SAFE_') && !flow.has('list'))
      // records have no SAFE_OFFSET
      this.refuse(
        'this may be a field of a record, without its name: write the name, or SAFE_OFFSET for a list',
        index,
      )
    return element
  }

  private call(node: Call): Flow {
    const flow = elementOf(this.called(node))
    return lists.test(nameOf(node)) ? union([flow, list]) : flow
  }

  private called(node: Call): Flow {
    const name = nameOf(node)
    for (const child of children(node)) if (!node.arguments.includes(child as never)) this.flow(child)
    const use = useOf.get(name)
    if (use === 'matches') this.comparisons++
    const flows = node.arguments.map((argument, at) =>
      isPart(name, argument, at) ? nothing : this.flow(argument),
    )
    if (use === 'matches') this.comparisons--
    const first = node.arguments[0]!
    if (!flows.some(isStored)) return this.ofOwn(name, node, flows)
    this.refuseMixed(union(flows), node)
    switch (use) {
      case 'keeps':
        if (name.endsWith('TRIM') && flows.length > 1)
          this.refuseChange(`${name} of other characters than blanks`, node)
        if (name === 'PARSE_JSON') this.refuseHidden(flows[0]!, node)
        if (compares.has(name)) this.meet(node.arguments, node)
        return name.startsWith('APPROX_TOP_') ? this.top(name, flows, node) : this.kept(name, node)
      case 'counts':
        return made
      case 'matches':
        this.needConstants(node.arguments.slice(1), name)
        return plain
      case 'scales':
        return this.scaled(name, node.arguments, node)
      case 'sums':
        this.refusePersonal(node)
        this.needConstants(node.arguments.slice(1), name)
        return this.summed(name, union(flows), node)
      case 'times':
        this.refusePersonal(node)
        // DATE, DATETIME and TIME of three and more are made of numbers.
        if (
          flows.some(flow => flow.has('number')) ||
          (/^(?:DATE|TIME)(?:TIME)?$/.test(name) && flows.length > 2)
        )
          this.refuseChange(name, node)
        return makesTimes.test(name) ? plain : made
      case 'formats': {
        this.refusePersonal(node)
        const isNumber = name === 'FORMAT'
        if (first.kind !== 'Literal' || (isNumber && !formatsNumbers.test(first.value)))
          this.refuseChange(isNumber ? 'FORMAT with other conversions than %d, %f, %e and %g' : name, node)
        if (!isNumber && flows.some(flow => flow.has('number'))) this.refuseChange(name, node)
        return isNumber ? numeric(union(flows), true) : made
      }
      case 'concats':
        return this.joined(node.arguments, name, node)
      case 'joins': {
        const delimiter = node.arguments[1]
        if (delimiter && !(delimiter.kind === 'Literal' && delimiters.has(delimiter.value)))
          this.refuse(`${name} here takes the delimiters ',' and ';', with a space or without`, delimiter)
        return union(flows)
      }
      case 'picks':
        return this.picked(node, flows[0]!)
      case 'writes':
        this.written = node
        return new Set(flows.flatMap(flow => [...flow]).map(kind => (kind === 'struct' ? 'other' : kind)))
      case 'buckets': {
        this.refusePersonal(node)
        const [, among] = node.arguments
        const numbers = among?.kind === 'ArrayLiteral' ? among.items : []
        if (
          numbers.length === 0 ||
          numbers.some(item => item.kind !== 'Literal' || !/^(INTEGER|FLOAT)$/.test(item.literal))
        )
          this.refuse(`${name} here takes a list of numbers`, among ?? node)
        return made
      }
      case undefined:
        if (!this.isComparedByConstants(node.arguments)) this.refuseChange(name, node)
        return union(flows).has('made') ? numeric(union(flows), true) : made
    }
  }

  /** What a function makes of nothing stored: a value of a list stays one, and so does a time. */
  private ofOwn(name: string, node: Call, flows: Flow[]): Flow {
    if (makesTimes.test(name)) return flows.some(varies) || generates.test(name) ? plain : nothing
    const role = roles.get(name) ?? ''
    const use = useOf.get(name)
    if (use === 'counts' || node.over || generates.test(name)) {
      if (use !== 'keeps' || !flows.some(varies)) return made
    }
    if (use !== 'keeps' || name.endsWith('TRIM'))
      return use === 'matches' ? this.truth(node) : computed(flows)
    if (name === 'STRING' || name === 'PARSE_JSON' || name === 'LAX_STRING') return computed(flows)
    if (name.startsWith('APPROX_TOP_')) return this.top(name, flows, node)
    return chosen(
      union(flows.filter((_, at) => (role[at] ?? 'v') === 'v')),
      flows.filter((_, at) => role[at] === '-'),
    )
  }

  /** Records of a value and its count or sum. */
  private top(name: string, flows: Flow[], node: Call): Flow {
    this.needConstants(node.arguments.slice(name === 'APPROX_TOP_COUNT' ? 1 : 2), name)
    const sum = name === 'APPROX_TOP_SUM' ? this.summed(name, flows[1]!, node) : made
    this.rename('value', flows[0]!)
    this.rename('sum', sum)
    return record(
      new Map([
        ['value', flows[0]!],
        [name === 'APPROX_TOP_SUM' ? 'sum' : 'count', sum],
      ]),
    )
  }

  private kept(name: string, node: Call): Flow {
    const all = node.arguments
    const role = roles.get(name) ?? 'v'.repeat(all.length)
    const as = (kind: string) => all.filter((_, at) => role[at] === kind)
    this.needConstants(as('!'), name)
    const merged = this.merge(as('v'), node)
    const flow = chosen(
      merged,
      as('-').map(by => this.flow(by)),
    )
    return name === 'APPROX_QUANTILES' ? without(flow, 'text') : flow
  }

  /** The part has the last name of its path. */
  private picked(node: Call, flow: Flow): Flow {
    const [, path] = node.arguments
    if (flow.has('number')) this.refuseChange(nameOf(node), node)
    if (!path) return flow
    if (path.kind !== 'Literal') {
      this.refuse('the path into JSON has to be a literal', path)
      return flow
    }
    if (!isStored(flow)) return computed([flow])
    const element = elementOf(flow)
    const keys = decode(path.value).match(/(["'])(?:(?!\1)[^\\]|\\.)*\1|[^.[\]$"'\d][^.[\]$"']*/g) ?? []
    const names = keys.map(key => key.replaceAll(/["'\\]/g, ''))
    return names.length === 0 ? flow : union([personalOf(flow), names.reduce(partOf, element)])
  }

  // ---- numbers

  /** A number near a card's, or the half of one, has no form to find it by: a stored number is only scaled, to be shown in part. */
  private arithmetic(node: Expression & { kind: 'Binary' }): Flow {
    const { operator, left, right } = node
    const isMove = /^[+-]$/.test(operator) && [left, right].some(({ kind }) => kind === 'IntervalLiteral')
    if (!isMove || union(this.all(node)).has('number')) return this.scaled(operator, [left, right], node)
    this.refusePersonal(node)
    return this.truth(node)
  }

  /** Powers show one digit after the other: two stored numbers are only divided, and what that makes not by a third. */
  private scaled(what: string, values: Expression[], node: AnyNode): Flow {
    this.refusePersonal(node)
    const flows = values.map(value => this.flow(value))
    const flow = union(flows)
    const stored = flows.filter(isStored).length
    if (stored === 0) return computed(flows)
    if (this.comparisons > 0) return union([numeric(flow, true), meets(flows) ? made : nothing])
    const isScale = /^[*/A-Z]/.test(what) && values.every(({ kind }) => kind !== 'IntervalLiteral')
    if (!isScale)
      this.refuse(
        `${what} takes no stored numbers or times here, since what is near a number tells it: select both and compute with ` +
          'the answer, take the time between two with TIMESTAMP_DIFF, or compare the result with a constant',
        node,
      )
    if (stored > 1 && (!divisions.has(what) || flow.has('ratio')))
      this.refuse(
        `${what} takes one stored number here, and constants or counts; only / divides two, once`,
        node,
      )
    // By a number that the query makes for each row, rounding would show the stored one digit by digit.
    if (flows.some((flow, at) => varies(flow) && !isStored(flow) && !isCount(values[at]!)))
      this.refuse(
        `${what} takes a stored number and constants or counts here, and nothing that differs by row`,
        node,
      )
    const isSigned = !isScaled(values, flows) || what === 'SAFE_NEGATE'
    return union([numeric(flow, isSigned), stored > 1 ? ratio : nothing])
  }

  private summed(name: string, flow: Flow, node: Call): Flow {
    if (flow.has('signed'))
      this.refuse(
        `${name} here takes stored numbers, also scaled by a literal: compute with the sums instead`,
        node,
      )
    if (!isStored(flow)) return made
    return union([without(numeric(flow, false), 'text'), this.isJoined || node.over ? summed : nothing])
  }

  /** Texts of computed numbers, joined with constants, are known as such by the name of their column. */
  private joined(parts: Expression[], what: string, node: AnyNode): Flow {
    const flows = parts.map(part => this.flow(part))
    const held = union(flows)
    if (!isStored(held)) return computed(flows)
    if (!isComputed(held) && !this.isComparedByConstants(parts)) this.refuseChange(what, node)
    return varies(without(held, 'number'))
      ? union([held, computed(flows.filter(flow => !isStored(flow)))])
      : held
  }

  // ---- refusals

  private refuseChange(what: string, node: AnyNode): void {
    this.refuse(
      `${what} makes another text or number of what is stored, which redaction would not know: select the column itself, ` +
        'or compare it with =, LIKE or REGEXP_CONTAINS',
      node,
    )
  }

  /** What a query makes row by row and keeps where it equals a stored value spells that. */
  private meet(operands: readonly AnyNode[], node: AnyNode): void {
    this.refuseMeeting(
      operands.map(operand => {
        const flow = this.flow(operand)
        return isConstant(operand) ? nothing : flow
      }),
      node,
    )
  }

  private refuseMeeting(flows: readonly Flow[], node: AnyNode): void {
    const isOfBoth = flows.some(flow => flow.has('mixed') || (flow.has('made') && flow.has('number')))
    if (isOfBoth || meets(flows)) this.refuseSpelling(node)
  }

  private refuseMixed(flow: Flow, node: AnyNode): void {
    if (flow.has('mixed')) this.refuseSpelling(node)
  }

  private refuseSpelling(node: AnyNode): void {
    this.refuse(
      'this compares what is stored with values that the query makes for its rows, which would spell it: compare with a ' +
        'literal, a parameter, a list that you write, or another column',
      node,
    )
  }

  /** By rows of its own a query could try all values. */
  private refuseRows(what: string, node: AnyNode): void {
    this.refuse(
      `${what} makes rows, beside which stored values could be spelt: write a list, or use GENERATE_DATE_ARRAY or ` +
        'GENERATE_TIMESTAMP_ARRAY',
      node,
    )
  }

  private refusePersonal(node: AnyNode): void {
    if (isPersonalFlow(union(this.all(node))))
      this.refuse('this is redacted by its name: it cannot be computed with', node)
  }

  private needConstants(patterns: AnyNode[], what: string): void {
    for (const pattern of patterns) {
      this.flow(pattern)
      if (!isConstant(pattern)) this.refuse(`${what} here takes a constant`, pattern)
    }
  }
}

function isConstant(node: AnyNode): boolean {
  return ![...descendants(node)].some(({ kind }) => kind === 'Path' || kind === 'Select')
}

/** Whether it is a computed number for sure: a name may be that of a column as well. */
function isComputed(flow: Flow): boolean {
  return [...flow].every(kind => !isStored(new Set([kind])) || /^(?:number|ratio|text)$/.test(kind))
}

/** `GENERATE_ARRAY(0, 23)`: as good as written. */
function isShort(array: Expression): boolean {
  if (array.kind !== 'Call' || nameOf(array) !== 'GENERATE_ARRAY' || array.arguments.length > 2) return false
  const [first, last] = array.arguments.map(item => (item.kind === 'Literal' ? Number(item.text) : NaN))
  return last! - first! <= mostListed
}
const mostListed = 100

/** Of rows, beside an aggregate of the same. */
function isCount(value: Expression): boolean {
  return (
    value.kind === 'Call' && !value.over && /^(?:APPROX_COUNT_DISTINCT|COUNT|COUNTIF)$/.test(nameOf(value))
  )
}

/** One stored value, by literals, which have no sign of their own. */
function isScaled(values: Expression[], flows: Flow[]): boolean {
  return values.every((value, at) =>
    at === 0 ? isStored(flows[at]!) && !hasSign(flows[at]!) : value.kind === 'Literal',
  )
}

function namesFields(type: SqlType): boolean {
  return type.kind === 'STRUCT' || (type.kind === 'ARRAY' && namesFields(type.element))
}

/** In capitals, and without SAFE. */
function nameOf({ name }: Call): string {
  return name
    .map(part => part.name.toUpperCase())
    .join('.')
    .replace(/^SAFE\./, '')
}

function selectsOf(body: QueryBody): Select[] {
  if (body.kind === 'Select') return [body]
  return body.kind === 'SetOperation'
    ? [...selectsOf(body.left), ...selectsOf(body.right)]
    : selectsOf(body.query.body)
}

/** A key, or those of a grouping set. */
function keysIn(key: AnyNode): AnyNode[] {
  if (key.kind === 'OrderItem' || key.kind === 'Parenthesized') return keysIn(key.expression)
  return key.kind === 'Tuple' ? key.items.flatMap(keysIn) : [key]
}

/** Whether it is a part of a date. */
function isPart(name: string, argument: Expression, at: number): boolean {
  if (argument.kind !== 'Path' || argument.parts.length > 1 || at === 0 || !takesPart.test(name)) return false
  return extractParts.has(argument.parts[0]!.name.toUpperCase())
}

function rowOfTable(columns: Columns): Flow {
  if ('unknown' in columns) return storedRecord
  return record(new Map(columns.map(({ name }) => [nameKey(name), new Set([kindOf(name)])])))
}

/** Two of one name are in sight as either. No name has NUL, so that one without is found by none. */
function add(fields: Map<string, Flow>, name: string | null, at: number, flow: Flow): void {
  const key = name === null ? `\0${at}` : nameKey(name)
  const other = fields.get(key)
  fields.set(key, other ? union([other, flow]) : flow)
}

/** A row of several. */
function varied(row: Flow): Flow {
  if (!row.fields) return chosen(row, [plain])
  const fields = new Map([...row.fields].map(([name, flow]) => [name, chosen(flow, [plain])]))
  return record(fields, row.isOpen ? row : nothing)
}
