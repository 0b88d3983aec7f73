/**
 * A caller whose answers are redacted against his wish may send SQL in which stored text stays as it is: redaction
 * finds what is personal in a text by its form and by the name of its column, so neither may change.
 * `shared/sandbox/README.md`, "Redacted answers", has what is in and out, and why.
 */
import { decode } from '../redact/escapes.ts'
import { describes, isPersonal, kindOf, type NameKind } from '../redact/names.ts'
import { nameOfColumn, nameOfPivoted } from '../sql/columns.ts'
import { nameKey } from '../sql/relations.ts'
import type { AnyNode, Call, Cast, Expression, Query, QueryBody, Select, SelectColumn } from '../sql/tree.ts'
import type { SqlType } from '../sql/types.ts'
import { children, descendants } from '../sql/walk.ts'
import { Violation } from './caller-rules.ts'

/**
 * What a value holds: text or numbers of columns with names of these kinds, or fields. Of numbers: what the query gives the
 * name to by itself (`constant`), what may be negative, so that sums of it may cancel out (`signed`), what is divided by
 * another stored number (`ratio`), and what was a text, maybe a phone number (`text`). Empty for what holds nothing stored.
 */
type Held = NameKind | 'struct' | 'constant' | 'signed' | 'ratio' | 'text'
type Flow = ReadonlySet<Held>

const nothing: Flow = new Set()
/** Names of fields, and constants. */
const constantRecord: Flow = new Set(['struct'])
const storedRecord: Flow = new Set(['struct', 'other'])
const signed: Flow = new Set(['signed'])
const ratio: Flow = new Set(['ratio'])
const ofText: Flow = new Set(['text'])
/** What holds of a record or a text and of all its parts. */
const asAbove: Flow = new Set(['constant', 'number', 'signed', 'ratio', 'text'])
const constant: Flow = new Set(['constant'])

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
  /^(?:APPROX_(?:QUANTILES|TOP_.*)|ARRAY_(?:AGG|CONCAT|CONCAT_AGG|REVERSE|SLICE)|.*_ARRAY|JSON_(?:EXTRACT|KEYS|QUERY)|PARSE_JSON|REGEXP_EXTRACT_ALL|SPLIT|TO_JSON)$/

/** Between these, no class of personal data goes on, and no sign of a version reaches what follows. */
const delimiters = new Set([',', ', ', ';', '; ', ' | '])

/** Decimal numbers among other text: no conversion of a text, in another base, or by an argument's width. */
const formatsNumbers = /^(?:[^%]|%%|%[-+ 0#']*\d*(?:\.\d+)?[diufFeEgG])*$/

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

/** @param query of a caller, as it runs */
export function storedTextIn(query: Query): StoredText {
  const text = new Text()
  // A name may be given on under another, and after it: until no more are found.
  for (let round = 0, known = -1; known !== text.known && text.problem === null; round++) {
    known = text.known
    text.read(query, round < mostRounds)
  }
  return { problem: text.problem ?? text.writesNames(), names: text.renamed() }
}

/** Queries that people write take two or three. */
const mostRounds = 20

class Text {
  problem: Violation | null = null
  /** The kinds of the values under a name, by its key. */
  private readonly given = new Map<string, Set<Held>>()
  private readonly flows = new Map<AnyNode, Flow>()
  /** By key, those in a SELECT over what is stored; `*` where it may read any. */
  private readonly namesRead = new Set<string>()
  private readonly commonTables = new Set<string>()
  private readonly elements = new Set<string>()
  /** Names that the query gives to lists, and to all else. */
  private readonly lists = new Set<string>()
  private readonly others = new Set<string>()
  private hasNewNames = false
  private depth = 0
  private comparisons = 0
  private written: Call | null = null

  get known(): number {
    return [...this.given.values()].reduce((sum, kinds) => sum + kinds.size, 0)
  }

  renamed(): Map<string, NameKind> {
    const names = new Map<string, NameKind>()
    for (const [name, kinds] of this.given) {
      const own = kindOf(name)
      if (isPersonal(own)) continue
      if (isPersonalFlow(kinds) || kinds.has('text')) names.set(name, 'datum')
      else if (kinds.has('number')) names.set(name, 'number')
      else if (
        (own === 'version' || own === 'id') &&
        [...kinds].some(kind => kind !== own && kind !== 'signed' && kind !== 'constant')
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

  read(query: Query, isInTime: boolean): void {
    this.flows.clear()
    for (const node of descendants(query))
      if (node.kind === 'CommonTable') this.commonTables.add(nameKey(node.name.name))
    this.flow(query)
    if (!isInTime) this.refuse('too many names are given on to others: use the names of the columns', query)
  }

  /** What the value of an expression, or the columns of a query, may hold of stored text. Each node is read once. */
  private flow(node: AnyNode): Flow {
    const flow = this.flows.get(node) ?? this.flowOf(node)
    this.flows.set(node, flow)
    return flow
  }

  private flowOf(node: AnyNode): Flow {
    switch (node.kind) {
      case 'Path':
        if (this.isOwn(node.parts.map(({ name }) => name))) return constant
        return this.field(
          node.parts.map(({ name }) => name),
          nothing,
        )
      case 'FieldAccess':
        return isConstant(node.of) ? nothing : this.field([node.field.name], this.flow(node.of))
      case 'Subscript':
        return this.subscript(node)
      case 'Parenthesized':
        return this.flow(node.expression)
      case 'NamedArgument':
        return this.flow(node.value)
      case 'ScalarSubquery':
      case 'ArraySubquery':
      case 'QueryInParentheses':
        return this.flow(node.query)
      case 'DerivedTable':
        if (node.alias) this.give(node.alias.name, storedRecord)
        return this.flow(node.query)
      case 'Query':
        return this.within(() => {
          for (const child of children(node)) if (child !== node.body) this.flow(child)
          return this.flow(node.body)
        })
      case 'Select':
        return this.select(node)
      case 'SetOperation':
        return this.setOperation(node)
      case 'SelectColumn':
        return this.column(node)
      case 'SelectStar':
        for (const child of children(node)) this.flow(child)
        for (const { column, name } of node.rename) this.rename(name.name, this.named(column.name))
        return new Set(['other'])
      case 'Case': {
        for (const child of children(node)) if (child.kind !== 'CaseBranch') this.flow(child)
        for (const { when } of node.branches) this.flow(when)
        return this.merge(
          [...node.branches.map(({ then }) => then), ...(node.otherwise ? [node.otherwise] : [])],
          node,
        )
      }
      case 'ArrayLiteral':
        return this.typed(node.type, this.merge(node.items, node), node)
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
        else this.all(node)
        return nothing
      case 'Unary':
        this.refusePersonal(node)
        if (!isStored(this.flow(node.operand)) || node.operator === 'NOT') return nothing
        if (node.operator === '~') this.refuseChange('~', node)
        return numeric(this.flow(node.operand), true)
      case 'Extract':
        this.refusePersonal(node)
        if (union(this.all(node)).has('number')) this.refuseChange('EXTRACT', node)
        return nothing
      case 'IntervalLiteral':
        if (this.flow(node.value).size > 0) this.refuseChange('INTERVAL', node)
        return nothing
      case 'Like':
      case 'LikeAny':
        this.needConstants([node.kind === 'Like' ? node.right : node.among], 'LIKE')
        this.compared(node)
        return nothing
      case 'TableReference':
        this.give((node.alias ?? node.path.at(-1)!).name, storedRecord)
        return nothing
      case 'UnnestReference': {
        const flow = this.flow(node.array)
        if (node.alias) this.give(node.alias.name, flow.size > 0 ? flow : constant)
        else this.refuseHidden(flow, node)
        if (node.alias) this.elements.add(nameKey(node.alias.name))
        return nothing
      }
      case 'Pivot': {
        if (node.alias) this.give(node.alias.name, storedRecord)
        this.all(node)
        for (const aggregate of node.aggregates)
          for (const value of node.values) {
            const name = nameOfPivoted(aggregate, value)
            const flow = this.flow(aggregate.expression)
            if (name !== null) this.rename(name, flow)
            if (name === null || isPersonalFlow(flow)) this.refuseHidden(flow, aggregate)
          }
        return nothing
      }
      case 'Unpivot': {
        if (node.alias) this.give(node.alias.name, storedRecord)
        this.all(node)
        const flow = this.merge(
          node.groups.flatMap(({ columns }) => columns),
          node,
        )
        for (const { name } of node.values) this.rename(name, flow)
        return nothing
      }
      case 'Join':
        this.all(node)
        // The columns of both sides become one.
        if (node.type === 'FULL') for (const { name } of node.using) this.give(name, signed)
        return nothing
      case 'In':
        if (isConstant(node.among)) this.compared(node)
        else this.all(node)
        return nothing
      case 'Lambda':
        return this.flow(node.body)
      case 'WithExpression':
        return this.within(() => this.all(node).at(-1)!)
      case 'Between':
        if (isConstant(node.low) && isConstant(node.high)) this.compared(node)
        else this.all(node)
        return nothing
      // Constants, conditions, and what is in no answer.
      case 'CaseBranch':
      case 'CommonTable':
      case 'Exists':
      case 'Frame':
      case 'FrameBound':
      case 'GroupBy':
      case 'HavingExtreme':
      case 'InList':
      case 'InQuery':
      case 'InUnnest':
      case 'Is':
      case 'IsDistinctFrom':
      case 'JoinInParentheses':
      case 'Literal':
      case 'NamedWindow':
      case 'OrderItem':
      case 'ParameterReference':
      case 'TypedLiteral':
      case 'UnpivotGroup':
      case 'Window':
      case 'With':
        this.all(node)
        return nothing
    }
  }

  private all(node: AnyNode): Flow[] {
    return children(node).map(child => this.flow(child))
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

  private named(name: string): Flow {
    const given = this.given.get(nameKey(name))
    const isBoth = given?.has('constant') && isStored(given)
    return new Set([...(given ?? []), kindOf(name), ...(isBoth ? signed : [])])
  }

  /** A field below a personal name is personal as well, unless it only describes the value; one of a constant is constant. */
  private field(names: string[], record: Flow): Flow {
    const last = names.at(-1)!
    const above = union([record, ...names.slice(0, -1).map(name => this.named(name))])
    const passed = [...above].filter(
      kind => asAbove.has(kind) || (isPersonalKind(kind) && !describes(last, kind as NameKind)),
    )
    return union([this.named(last), new Set(passed)])
  }

  /** A name that the query gives to what holds nothing stored, and that it reads from no table. */
  private isOwn(names: string[]): boolean {
    const given = this.given.get(nameKey(names.at(-1)!))
    return names.length <= 2 && given?.size === 1 && given.has('constant') && !this.readsStored(names.at(-1)!)
  }

  private readsStored(name: string): boolean {
    return this.namesRead.has('*') || this.namesRead.has(nameKey(name))
  }

  private give(name: string, flow: Flow, isList = false): void {
    if (flow.size === 0) return
    ;(isList ? this.lists : this.others).add(nameKey(name))
    const kinds = this.given.get(nameKey(name)) ?? new Set()
    for (const kind of flow) kinds.add(kind)
    this.given.set(nameKey(name), kinds)
  }

  /** The columns of the whole query are in no value. */
  private rename(name: string, flow: Flow, isList = false): void {
    if (flow.size > 0 && this.depth > 1) this.hasNewNames = true
    this.give(name, flow.size > 0 ? flow : constant, isList)
  }

  private within(flow: () => Flow): Flow {
    this.depth++
    const found = flow()
    this.depth--
    return found
  }

  private column({ expression, alias, at }: SelectColumn): Flow {
    const flow = this.flow(expression)
    const own = nameOfColumn({ kind: 'SelectColumn', expression, alias: null, at })
    const isElement = own !== null && this.elements.has(nameKey(own))
    if (alias && (own === null || isElement || nameKey(own) !== nameKey(alias.name)))
      this.rename(alias.name, flow, this.isList(expression))
    else if (isElement) this.rename(own, flow)
    if (!alias && own === null) this.refuseHidden(personalOf(flow), expression)
    return flow
  }

  /** Where there is no name that could say it. */
  private refuseHidden(flow: Flow, node: AnyNode): void {
    if (isPersonalFlow(flow)) this.refuse('this is redacted by its name: name it with AS', node)
    if (flow.has('number')) this.refuse('this is computed from stored numbers: name it with AS', node)
  }

  // ---- queries

  private select(node: Select): Flow {
    // FROM first: it gives names.
    if (node.from) this.flow(node.from)
    if (node.from && this.isOverStored(node.from))
      for (const below of descendants(node))
        if (below.kind === 'FieldAccess') this.namesRead.add(nameKey(below.field.name))
        else if (below.kind === 'Path') for (const { name } of below.parts) this.namesRead.add(nameKey(name))
        else if (below.kind === 'SelectStar') this.namesRead.add('*')
    const items = node.items.map(item => this.flow(item))
    for (const child of children(node))
      if (child !== node.from && !node.items.includes(child as never)) this.flow(child)
    node.items.forEach((item, at) => {
      // GoogleSQL calls the columns without a name `f0_`, `f1_`, ...
      if (item.kind === 'SelectColumn' && nameOfColumn(item) === null && items[at]!.has('number'))
        for (let other = 0; other <= at; other++) this.give(`f${other}_`, items[at]!)
    })
    const flow = union(items)
    if (node.as === 'STRUCT') {
      for (const item of node.items)
        if (item.kind === 'SelectColumn' && nameOfColumn(item) === null)
          this.refuseHidden(this.flow(item), item)
      return recordOf(flow)
    }
    if (node.as === 'VALUE') this.refuseHidden(flow, node.items[0]!)
    return flow
  }

  private isOverStored(from: AnyNode): boolean {
    if (from.kind === 'TableReference') return !this.commonTables.has(nameKey(from.path.at(-1)!.name))
    if (from.kind === 'UnnestReference') return isStored(this.flow(from.array))
    if (from.kind === 'DerivedTable') return false
    return children(from).some(child => this.isOverStored(child))
  }

  /** The first query names the columns of all, but BY NAME. */
  private setOperation(node: QueryBody & { kind: 'SetOperation' }): Flow {
    const flow = union([this.flow(node.left), this.flow(node.right)])
    const [first, ...others] = selectsOf(node)
    if (others.some(({ items }) => items.some(({ kind }) => kind === 'SelectStar')))
      this.refuse('* in a set operation hides which column is which: name the columns', node)
    first!.items.forEach((item, at) => {
      if (item.kind === 'SelectStar') return this.refuse('* in a set operation: name the columns', item)
      const columns = [first!, ...others].flatMap(({ items }) => {
        const column = items[at]
        return column?.kind === 'SelectColumn' ? [column.expression] : []
      })
      const all = this.merge(columns, item)
      const name = nameOfColumn(item)
      if (name !== null) this.rename(name, all)
      else this.refuseHidden(all, item)
    })
    return flow
  }

  // ---- expressions

  /** Structs that become one take the names of one. */
  private merge(values: Expression[], node: AnyNode): Flow {
    const flows = values.map(value => this.flow(value))
    const held = flows.filter(flow => flow.size > 0)
    if (held.length > 1 && held.some(flow => flow.has('struct')) && held.some(isStored))
      this.refuse('of several records, one names the fields of all: choose among their fields', node)
    const mayCancel = values.some((value, at) =>
      flows[at]!.size > 0 ? hasSign(flows[at]!) : value.kind !== 'Literal',
    )
    return union([...held, ...(held.some(isStored) && mayCancel ? [signed] : [])])
  }

  private struct(node: Expression & { kind: 'StructLiteral' | 'Tuple' }): Flow {
    return this.within(() => {
      const fields = node.kind === 'StructLiteral' ? node.type?.fields : undefined
      const flows = node.items.map((item, at) => {
        const field = fields?.[at]
        const flow = field ? this.typed(field.type, this.flow(item), item) : this.flow(item)
        if (field?.name) this.rename(field.name, flow)
        else if (field || item.kind !== 'SelectColumn' || nameOfColumn(item) === null)
          this.refuseHidden(flow, item)
        return flow
      })
      return recordOf(union(flows))
    })
  }

  /** The value as one of a type that the query writes, which may name the fields of records. */
  private typed(type: SqlType | null, flow: Flow, node: AnyNode): Flow {
    if (!type || !namesFields(type)) return flow
    for (const name of fieldsOf(type)) this.give(name, constant)
    if (isStored(flow))
      this.refuse('this type gives names to the fields of what is stored: leave it out', node)
    return constantRecord
  }

  private cast(node: Cast): Flow {
    const flow = union(this.all(node))
    const { type } = node
    if (flow.size === 0) return this.typed(type, flow, node)
    if (node.format || flow.has('struct') || !scalars.has(type.kind)) this.refuseChange('this CAST', node)
    if (type.kind === 'STRING' || type.kind === 'JSON') return flow
    if (isPersonalFlow(flow) && !node.safe) this.refuse('this is redacted by its name: write SAFE_CAST', node)
    if (isPersonalFlow(flow)) return flow
    if (!numbers.has(type.kind) && type.kind !== 'BOOL' && flow.has('number'))
      this.refuseChange(`CAST to ${type.kind}`, node)
    if (!numbers.has(type.kind)) return nothing
    return union([numeric(flow, hasSign(flow)), isComputed(flow) ? nothing : ofText])
  }

  /** An element of an array, or a field of JSON by its name. */
  private subscript({ of, mode, index }: Expression & { kind: 'Subscript' }): Flow {
    const flow = this.flow(of)
    if (this.flow(index).size > 0) this.refuse('what is stored cannot choose an element here', index)
    if (!isStored(flow)) return flow
    if (mode === null && index.kind !== 'Literal')
      this.refuse('this may name a field of JSON: write a literal, or OFFSET', index)
    else if (mode === null && index.kind === 'Literal' && index.literal === 'STRING')
      return union([flow, this.named(index.value)])
    else if (!mode?.startsWith('SAFE_') && !this.isList(of))
      // records have no SAFE_OFFSET
      this.refuse(
        'this may be a field of a record, without its name: write the name, or SAFE_OFFSET for a list',
        index,
      )
    return flow
  }

  private isList(node: Expression): boolean {
    if (node.kind === 'Parenthesized') return this.isList(node.expression)
    if (node.kind === 'Call') return lists.test(nameOf(node))
    if (node.kind === 'Subscript') return node.index.kind === 'Literal' && node.index.literal === 'STRING'
    if (node.kind !== 'Path') return node.kind === 'ArrayLiteral' || node.kind === 'ArraySubquery'
    const name = node.parts.at(-1)!.name
    return this.lists.has(nameKey(name)) && !this.others.has(nameKey(name)) && !this.readsStored(name)
  }

  private call(node: Call): Flow {
    const name = nameOf(node)
    for (const child of children(node)) if (!node.arguments.includes(child as never)) this.flow(child)
    const use = useOf.get(name)
    if (use === 'matches') this.comparisons++
    const flows = node.arguments.map(argument => this.flow(argument))
    if (use === 'matches') this.comparisons--
    const [first] = node.arguments
    if (!first || flows.every(flow => flow.size === 0)) return nothing
    switch (use) {
      case 'keeps':
        if (name.endsWith('TRIM') && flows.length > 1)
          this.refuseChange(`${name} of other characters than blanks`, node)
        if (name === 'PARSE_JSON') this.refuseHidden(flows[0]!, node)
        // Records of a value and its count or sum.
        if (name.startsWith('APPROX_TOP_')) this.rename('value', flows[0]!)
        if (name === 'APPROX_TOP_SUM') this.rename('sum', this.summed(name, flows[1]!, node))
        return this.kept(name, node)
      case 'counts':
        return nothing
      case 'matches':
        this.needConstants(node.arguments.slice(1), name)
        return nothing
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
        return nothing
      case 'formats': {
        this.refusePersonal(node)
        const isNumber = name === 'FORMAT'
        if (first.kind !== 'Literal' || (isNumber && !formatsNumbers.test(first.value)))
          this.refuseChange(isNumber ? 'FORMAT with other conversions than %d, %f, %e and %g' : name, node)
        if (!isNumber && flows.some(flow => flow.has('number'))) this.refuseChange(name, node)
        return isNumber ? numeric(union(flows), true) : nothing
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
        return nothing
      }
      case undefined:
        if (!flows.some(isStored)) return constant
        if (!this.isComparedByConstants(node.arguments)) this.refuseChange(name, node)
        return nothing
    }
  }

  private kept(name: string, node: Call): Flow {
    const all = node.arguments
    const role = roles.get(name) ?? 'v'.repeat(all.length)
    const as = (kind: string) => all.filter((_, at) => role[at] === kind)
    this.needConstants(as('!'), name)
    const flow = this.merge(as('v'), node)
    return name === 'APPROX_QUANTILES' ? withoutText(flow) : flow
  }

  /** The part has the last name of its path. */
  private picked(node: Call, flow: Flow): Flow {
    const [json, path] = node.arguments
    if (flow.has('number')) this.refuseChange(nameOf(node), node)
    if (!path) return flow
    if (path.kind !== 'Literal') {
      this.refuse('the path into JSON has to be a literal', path)
      return flow
    }
    if (this.flow(json!).size === 0) return nothing
    const keys = decode(path.value).match(/(["'])(?:(?!\1)[^\\]|\\.)*\1|[^.[\]$"'\d][^.[\]$"']*/g) ?? []
    const names = keys.map(key => key.replaceAll(/["'\\]/g, ''))
    return names.length === 0 ? flow : union([personalOf(flow), this.field(names, flow)])
  }

  // ---- numbers

  /** A number near a card's, or the half of one, has no form to find it by: a stored number is only scaled, to be shown in part. */
  private arithmetic(node: Expression & { kind: 'Binary' }): Flow {
    const { operator, left, right } = node
    const isMove = /^[+-]$/.test(operator) && [left, right].some(({ kind }) => kind === 'IntervalLiteral')
    if (!isMove || union(this.all(node)).has('number')) return this.scaled(operator, [left, right], node)
    this.refusePersonal(node)
    return nothing
  }

  /** Powers show one digit after the other: two stored numbers are only divided, and what that makes not by a third. */
  private scaled(what: string, values: Expression[], node: AnyNode): Flow {
    this.refusePersonal(node)
    const flows = values.map(value => this.flow(value))
    const flow = union(flows)
    const stored = flows.filter(isStored).length
    if (stored === 0) return nothing
    if (this.comparisons > 0) return numeric(flow, true)
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
    const isSigned = !isScaled(values, flows) || what === 'SAFE_NEGATE'
    return union([numeric(flow, isSigned), stored > 1 ? ratio : nothing])
  }

  private summed(name: string, flow: Flow, node: AnyNode): Flow {
    if (flow.has('signed'))
      this.refuse(
        `${name} here takes stored numbers, also scaled by a literal: compute with the sums instead`,
        node,
      )
    return isStored(flow) ? withoutText(numeric(flow, false)) : nothing
  }

  /** Texts of computed numbers, joined with constants, are known as such by the name of their column. */
  private joined(parts: Expression[], what: string, node: AnyNode): Flow {
    const held = union(parts.map(part => this.flow(part)))
    if (!isComputed(held) && !this.isComparedByConstants(parts)) this.refuseChange(what, node)
    return held
  }

  // ---- refusals

  private refuseChange(what: string, node: AnyNode): void {
    this.refuse(
      `${what} makes another text or number of what is stored, which redaction would not know: select the column itself, ` +
        'or compare it with =, LIKE or REGEXP_CONTAINS',
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

/** Whether more than constants is in it. */
function isStored(flow: Flow): boolean {
  return [...flow].some(kind => kind !== 'struct' && kind !== 'signed' && kind !== 'constant')
}

/** Whether it is a computed number for sure: a name may be that of a column as well. */
function isComputed(flow: Flow): boolean {
  return [...flow].every(kind => kind !== 'constant' && asAbove.has(kind))
}

/** One stored value, by literals, which have no sign of their own. */
function isScaled(values: Expression[], flows: Flow[]): boolean {
  return values.every((value, at) =>
    at === 0 ? isStored(flows[at]!) && !hasSign(flows[at]!) : value.kind === 'Literal',
  )
}

/** A number over many rows is no phone number. */
function withoutText(flow: Flow): Flow {
  return new Set([...flow].filter(kind => kind !== 'text'))
}

/** A number that is computed from what is stored in `flow`. */
function numeric(flow: Flow, isSigned: boolean): Flow {
  const kinds = [...flow].filter(kind => kind === 'ratio' || kind === 'text')
  return new Set<Held>(['number', ...(isSigned ? signed : nothing), ...kinds])
}

function hasSign(flow: Flow): boolean {
  return flow.has('signed') || flow.has('constant')
}

function personalOf(flow: Flow): Flow {
  return new Set([...flow].filter(isPersonalKind))
}

function recordOf(fields: Flow): Flow {
  return isStored(fields) ? storedRecord : constantRecord
}

function fieldsOf(type: SqlType): string[] {
  if (type.kind === 'ARRAY') return fieldsOf(type.element)
  if (type.kind !== 'STRUCT') return []
  return type.fields.flatMap(({ name, type: own }) => [...(name === null ? [] : [name]), ...fieldsOf(own)])
}

function namesFields(type: SqlType): boolean {
  return type.kind === 'STRUCT' || (type.kind === 'ARRAY' && namesFields(type.element))
}

function union(flows: Flow[]): Flow {
  return new Set(flows.flatMap(flow => [...flow]))
}

function isPersonalKind(kind: Held): boolean {
  return isPersonal(kind as NameKind)
}

function isPersonalFlow(flow: Flow): boolean {
  return [...flow].some(isPersonalKind)
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
