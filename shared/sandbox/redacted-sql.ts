/**
 * SQL of a caller whose answers are always redacted must leave stored text unchanged: redaction finds personal data in a text by
 * its form, by its context, and by the name of its column, so none of these may change.
 * `shared/sandbox/README.md`, "Redacted answers", has the language; what is not in it is refused.
 */
import { isPersonal, kindOf, type NameKind } from '../redact/names.ts'
import { nameOfColumn } from '../sql/columns.ts'
import { inReadingOrder, nameKey, readsItself } from '../sql/relations.ts'
import type * as ast from '../sql/tree.ts'
import { children, descendants } from '../sql/walk.ts'
import { Violation } from './caller-rules.ts'
import {
  aggregates,
  comparisons,
  generates,
  isCount,
  isNumber,
  isShort,
  isSum,
  joins,
  keysIn,
  makesTimes,
  namesIn,
  numbers,
  ofOtherRows,
  remedies,
  roles,
  says,
  takesScalar,
  times,
  unmask,
  useOf,
} from './redacted-functions.ts'
import {
  chosen,
  constant,
  either,
  isConstant,
  isPersonalValue,
  isStored,
  isTime,
  made,
  type Named,
  numberOf,
  part,
  type Row,
  restOfStored,
  storedValue,
  time,
  withType,
  union,
  type Value,
  vary,
} from './redacted-values.ts'
import { functionName } from '../sql/resolve/calls.ts'
import { isWordAt } from '../sql/resolve/arguments.ts'
import type { Column, RangeVariable, Resolution } from '../sql/resolve/resolution.ts'
import { elementOf, type Type } from '../sql/resolve/types.ts'

export interface StoredText {
  /** The first part of the query that changes a text or its name beyond what redaction follows; `null` = none. */
  problem: Violation | null
  /** By key: names of the answer's columns, where their values are of another kind than they say. */
  names: ReadonlyMap<string, NameKind>
}

/**
 * @param query of a caller, as it runs
 * @param resolution of its names
 */
export function storedTextIn(query: ast.Query, resolution: Resolution): StoredText {
  return new Judge(resolution).answer(query)
}

/** Of a value's names the strongest: a secret stays one. */
const byStrength: NameKind[] = ['secret', 'line', 'datum', 'number', 'other', 'version', 'id']

class Judge {
  private problem: Violation | null = null
  private readonly resolution: Resolution
  /** Of each expression, column and range variable, which is judged once. */
  private readonly known = new Map<ast.AnyNode | Column | RangeVariable, Value>()
  private origins = 0

  constructor(resolution: Resolution) {
    this.resolution = resolution
  }

  answer(query: ast.Query): StoredText {
    const { columns, rest } = this.query(query)
    if (rest) this.use(rest)
    const names = new Map<string, NameKind>()
    const seen = new Set<string>()
    let unnamed = 0
    for (const { name, value } of columns) {
      this.use(value)
      const kind = this.kindGiven(name, value)
      // So BigQuery calls it.
      const key = name === null ? `f${unnamed++}_` : nameKey(name)
      if (seen.has(key)) this.refuse(`two columns are called ${key}: give each a name of its own`, query)
      seen.add(key)
      if (kind) names.set(key, kind)
    }
    return { problem: this.problem, names }
  }

  private kindGiven(name: string | null, value: Value): NameKind | null {
    if (!isStored(value)) return null
    const isNumber = value.holds === 'number'
    const computed: NameKind[] = isNumber ? [value.ofText && !value.sum ? 'datum' : 'number'] : []
    const kind = byStrength.find(each => computed.includes(each) || value.kinds.has(each)) ?? 'other'
    if (isNumber) return kind
    if (name !== null && nameKey(name) === value.name && kind === kindOf(name)) return null
    const own = name === null ? 'other' : kindOf(name)
    const misleads = (own === 'version' || own === 'id') && own !== kind
    return isPersonal(kind) || misleads ? kind : null
  }

  private refuse(message: string, { at }: { at: number }): void {
    this.problem ??= new Violation(message, at)
  }

  /** Uses a value beyond a comparison: its problem counts. */
  private use(value: Value): Value {
    this.problem ??= value.problem ?? null
    return value
  }

  // ---- queries

  private query(node: ast.Query): Row {
    for (const cte of inReadingOrder(node.with)) {
      if (node.with!.recursive && readsItself(cte)) this.refuse(`WITH RECURSIVE ${says.rows}`, cte)
      this.query(cte.query)
    }
    const row = this.body(node.body)
    this.keys(node.orderBy, row)
    return row
  }

  private body(node: ast.QueryBody): Row {
    if (node.kind === 'Select') return this.select(node)
    return node.kind === 'SetOperation' ? this.setOperation(node) : this.query(node.query)
  }

  private select(node: ast.Select): Row {
    if (node.from) this.from(node.from)
    if (node.where) this.use(this.value(node.where))
    const row = this.selectList(node)
    if (node.groupBy?.grouping === 'ALL' || node.distinct)
      for (const { value } of row.columns) this.use(value)
    this.keys(node.groupBy?.items ?? [], row, unmask)
    for (const part of [node.having, node.qualify]) if (part) this.use(this.value(part))
    for (const { window } of node.windows) this.parts(window)
    if (node.as) this.refuse(`SELECT AS ${node.as} makes a record: select the fields`, node)
    return row
  }

  private selectList({ items }: ast.Select): Row {
    const rests: Value[] = []
    const columns = items.flatMap((item): Named[] => {
      if (item.kind === 'SelectColumn') return [this.column(item)]
      // A `*` of a table is written out.
      const of = this.value(item.of!)
      // Below a personal name its fields would be shown under their own names.
      if (isPersonalValue(of) && !of.row) this.refuse('this is redacted by its name: select the fields', item)
      const rest = of.row ? of.row.rest : part(of, '')
      if (rest) rests.push(rest)
      const replaced = item.replace.map(each => this.column(each))
      const left = new Set([...item.except, ...replaced].map(({ name }) => name && nameKey(name)))
      const kept = of.row?.columns.filter(({ name }) => name === null || !left.has(nameKey(name)))
      return [...(kept ?? []), ...replaced]
    })
    return { columns, rest: rests.length > 0 ? either(rests) : null }
  }

  private column(item: ast.SelectColumn): Named {
    return { name: nameOfColumn(item), value: this.value(item.expression) }
  }

  private setOperation(node: ast.SetOperation): Row {
    const [left, right] = [this.body(node.left), this.body(node.right)]
    const { columns, open } = this.resolution.rows.get(node)!
    if ([node.left, node.right].some(side => this.resolution.rows.get(side)!.open !== null))
      this.refuse('* in a set operation hides which column is which: name the columns', node)
    // Their names do not match, so it does not run.
    else if (open !== null) return { columns: [...left.columns, ...right.columns], rest: null }
    const merged = columns.map((column, at) => {
      const pair = [left, right].flatMap(side => side.columns[at]?.value ?? [])
      const both = node.byName ? this.pairOf(column) : pair
      const held = both.filter(isStored)
      const compares = !node.operator.endsWith('UNION ALL')
      const isMixed = held.length > 1 && !held.every(isAsItIs) && (compares || !held.every(({ sum }) => sum))
      if (isMixed || (compares && held.length === 1)) this.refuse(says.spells, node)
      const asks = both.reduce((sum, value) => sum + (value.asks ?? 0), 0)
      const one = vary(this.choose(both, node))
      // Of values as they are stored each row has its own.
      const value = { ...one, asks: both.every(isAsItIs) ? asks : Math.max(one.asks ?? 0, asks) }
      this.known.set(column, value)
      return { name: column.name, value }
    })
    return { columns: merged, rest: null }
  }

  /** BY NAME one of the two queries may have none. */
  private pairOf({ from }: Column): Value[] {
    const pair = from.kind === 'columns' ? from.columns.map(column => this.valueOf(column)) : []
    return pair.length < 2 ? [...pair, nullValue] : pair
  }

  /** Keys may be the numbers of columns. @param textOf what stands for a key */
  private keys(keys: readonly ast.AnyNode[], row: Row, textOf = (key: ast.AnyNode) => key): void {
    for (const key of keys.flatMap(keysIn)) {
      const column = key.kind === 'Literal' ? this.resolution.numbers.get(key) : undefined
      if (column) this.use(this.valueOf(column))
      else if (key.kind === 'Literal') for (const { value } of row.columns) this.use(value)
      else this.use(this.value(textOf(key)))
    }
  }

  // ---- FROM

  private from(from: ast.From): void {
    switch (from.kind) {
      case 'TableReference':
        return
      case 'JoinInParentheses':
        return this.from(from.join)
      case 'Join':
        return this.join(from)
      case 'DerivedTable':
        return void this.query(from.query)
      case 'UnnestReference': {
        const array = this.use(this.value(from.array))
        const isWritten = isConstant(array) && from.array.kind === 'ArrayLiteral'
        if (!isStored(array) && array.holds !== 'time' && !isWritten && !isShort(from.array))
          this.refuse(`this array ${says.rows}`, from.array)
        return
      }
      case 'Pivot':
      case 'Unpivot': {
        this.from(from.of)
        const { columns, open } = this.resolution.rows.get(from.of)!
        const parts = children(from).filter(child => child !== from.of)
        const isOfStored = open !== null || columns.some(column => isStored(this.valueOf(column)))
        if (isOfStored || this.readsStored(parts))
          this.refuse(`${from.kind.toUpperCase()} ${says.pivot}`, from)
      }
    }
  }

  private join(node: ast.Join): void {
    this.from(node.left)
    this.from(node.right)
    if (node.on) this.use(this.value(node.on))
    for (const name of node.using) {
      const column = this.resolution.merged.get(name)!
      const sides = this.pairOf(column)
      if (sides.some(isStored) && (node.type === 'FULL' || !sides.every(isStored)))
        this.refuse('USING makes one column of a stored one and another: use ON', node)
      this.compare(sides, node)
      this.known.set(column, this.choose(sides, node))
    }
  }

  /** Whether a column that may be stored, or a query, is in any of these. */
  private readsStored(nodes: readonly ast.AnyNode[]): boolean {
    const all = nodes.flatMap(node => [...descendants(node)])
    return all.some(node => node.kind === 'Select' || (node.kind === 'Path' && isStored(this.path(node))))
  }

  // ---- names

  private path(node: ast.Path): Value {
    const reference = this.resolution.paths.get(node)
    if (!reference || isLost(reference.column)) return notInSight(node.parts[0]!.name, node)
    const { column, variable, parts } = reference
    const start = column ? this.valueOf(column) : this.rowOf(variable!, node)
    return node.parts.slice(parts).reduce((value, { name }) => part(value, name), start)
  }

  private valueOf(column: Column): Value {
    const value = this.known.get(column) ?? this.inRows(column)
    this.known.set(column, value)
    return value
  }

  /** No column of FROM is a constant: an outer join may leave it out. */
  private inRows(column: Column): Value {
    const { from, type } = column
    const value = withType(this.follow(column), type)
    if (from.kind !== 'columns' && from.kind !== 'array') return value
    const isOwnTime = isConstant(value) && /^(?:DATE|TIME)/.test(type?.kind ?? '')
    return isOwnTime ? { ...time, asks: 1 } : vary(value)
  }

  /** What a column is made of. The same column is told from itself in another range variable. */
  private follow(column: Column): Value {
    const { from, name } = column
    switch (from.kind) {
      case 'table':
        return { ...storedValue(name!), origin: this.newOrigin() }
      case 'item':
        return this.value(from.item.expression)
      case 'field':
        return part(this.valueOf(from.of), name ?? '')
      case 'columns': {
        const [first, ...others] = from.columns.map(each => this.valueOf(each))
        if (!first) return notInSight(name ?? '')
        return others.length > 0 ? either([first, ...others]) : { ...first, origin: this.newOrigin() }
      }
      case 'array': {
        const element = this.element(this.value(from.array), from.array)
        return { ...element, origin: this.newOrigin() }
      }
      case 'offset':
        return made
      case 'turned':
        return { ...made, scalar: false, asks: many }
      case 'node':
        return notInSight(name ?? '')
    }
  }

  private rowOf(variable: RangeVariable, node: ast.Path): Value {
    const columns = variable.columns.map(column => ({ name: column.name, value: this.valueOf(column) }))
    const row = { columns, rest: variable.open === null ? null : restOfStored }
    const value = this.known.get(variable) ?? { ...this.valueOfRow(row, node), origin: this.newOrigin() }
    this.known.set(variable, value)
    return value
  }

  private newOrigin(): string {
    return `${this.origins++}`
  }

  /** Of a row as a value: its name or the kinds of its columns cannot go with it. */
  private valueOfRow(row: Row, { at }: { at: number }): Value {
    const parts = partsOf(row).map(({ row: _, ...value }) => value)
    const { holds, kinds } = either(parts)
    const isOfStored = holds === 'stored' || holds === 'number'
    const problem = isOfStored ? new Violation(says.row, at) : undefined
    const isChosen = !isOfStored && parts.some(value => isConstant(value) || value.holds === 'chosen')
    const asks = asksOf(parts)
    return { holds: isChosen ? 'chosen' : holds, kinds, name: null, row, problem, asks, opens: true }
  }

  private valueOfQuery(query: ast.Query): Value {
    return vary(either(partsOf(this.query(query))))
  }

  /** What stood before an element in a stored list may say what it is, if it is a text. */
  private element(array: Value, node: ast.Expression): Value {
    if (!isStored(array)) return array
    const element = withType({ ...array, origin: undefined, type: undefined }, elementOf(this.typeOf(node)))
    if (array.list) return { ...element, list: false }
    if (isNoText(element.type) && !array.problem) return element
    const problem = array.problem ?? new Violation(says.element, node.at)
    return { ...element, problem, opens: !array.problem }
  }

  // ---- expressions

  private parts(node: ast.AnyNode): Value[] {
    return this.values(node).map(value => this.use(value))
  }

  private values(node: ast.AnyNode): Value[] {
    return children(node).map(child => this.value(child))
  }

  private typeOf(node: ast.AnyNode): Type | null {
    return this.resolution.values.get(node as ast.Expression)?.type ?? null
  }

  private value(node: ast.AnyNode): Value {
    const value = this.known.get(node) ?? withType(this.judge(node), this.typeOf(node))
    this.known.set(node, value)
    return value
  }

  private judge(node: ast.AnyNode): Value {
    const rule = this.rules[node.kind] as ((node: ast.AnyNode) => Value) | undefined
    return rule ? rule(node) : this.change(node.kind, this.values(node), node)
  }

  /** By kind. What is not here is read with its query, or may only be compared with constants. */
  private readonly rules: { [Node in ast.AnyNode as Node['kind']]?: (node: Node) => Value } = {
    Literal: node => ({ ...constant, scalar: node.literal !== 'NULL', literal: literalOf(node) }),
    TypedLiteral: () => ({ ...constant, scalar: true }),
    ParameterReference: () => ({ ...constant, scalar: true }),
    Path: node => this.path(node),
    FieldAccess: node => part(this.value(node.of), node.field.name),
    Subscript: node => this.subscript(node),
    Parenthesized: node => this.value(node.expression),
    OrderItem: node => this.value(node.expression),
    HavingExtreme: node => this.value(node.expression),
    NamedArgument: node => this.value(node.value),
    ScalarSubquery: node => this.valueOfQuery(node.query),
    InQuery: node => this.valueOfQuery(node.query),
    InUnnest: ({ array }) => (isShort(array) ? chosen : this.element(this.value(array), array)),
    InList: node => either(this.values(node)),
    ArraySubquery: node => this.listOf(partsOf(this.query(node.query)), node),
    ArrayLiteral: node =>
      node.items.length === 0
        ? { ...nullValue, literal: node.type ? undefined : 'NULL' }
        : this.listOf(this.values(node), node),
    StructLiteral: node => this.record(node),
    Tuple: node => this.record(node),
    Case: node => this.cases(node),
    Cast: node => this.cast(node),
    Call: node => this.call(node),
    Binary: node => this.binary(node),
    Unary: node =>
      node.operator === 'NOT'
        ? this.truth(this.parts(node))
        : { ...this.change(node.operator, this.values(node), node), scalar: true },
    IntervalLiteral: node => this.change('INTERVAL', this.values(node), node),
    Extract: node => this.timeOf('EXTRACT', this.values(node), node),
    Like: node => this.match(this.values(node), 'LIKE', node),
    LikeAny: node => this.match(this.values(node), 'LIKE', node),
    Between: node => this.compare(this.values(node), node),
    In: node => this.compare(this.values(node), node),
    Is: node => this.compare(this.values(node), node),
    IsDistinctFrom: node => this.compare(this.values(node), node),
    Exists: node => (this.query(node.query), chosen),
    WithExpression: node => {
      for (const { expression } of node.variables) this.value(expression)
      return this.value(node.body)
    },
    Frame: node => (this.parts(node), made),
    FrameBound: node => (this.parts(node), made),
    Window: node => (this.parts(node), made),
  }

  private truth(operands: readonly Value[]): Value {
    return operands.every(isConstant) ? { ...constant, scalar: true } : chosen
  }

  private listOf(items: Value[], node: ast.AnyNode): Value {
    if (items.some(isStored)) return { ...this.change('ARRAY', items, node), list: true }
    const list = { ...union(items), scalar: false, literal: undefined }
    if (isConstant(this.put(items, node)) && node.kind === 'ArrayLiteral') return list
    return { ...vary(list), asks: many }
  }

  /** Only its fields may be read, by their names. */
  private record(node: ast.StructLiteral | ast.Tuple): Value {
    const columns = node.items.map(item =>
      item.kind === 'SelectColumn' ? this.column(item) : { name: null, value: this.value(item) },
    )
    const values = columns.map(({ value }) => value)
    const isRow = !('type' in node && node.type) && values.some(isStored)
    return isRow ? this.valueOfRow({ columns, rest: null }, node) : this.change('STRUCT', values, node)
  }

  private cases(node: ast.Case): Value {
    const whens = node.branches.map(({ when }) => this.value(when))
    const conditions = node.operand ? [this.compare([this.value(node.operand), ...whens], node)] : whens
    const results = [...node.branches.map(({ then }) => then), ...(node.otherwise ? [node.otherwise] : [])]
    const values = results.map(result => this.value(result))
    return this.choose(node.otherwise ? values : [...values, nullValue], node, conditions)
  }

  private cast(node: ast.Cast): Value {
    const value = this.value(node.operand)
    const type = node.type.kind
    const words = [node.format, node.zone].flatMap(word => (word ? [this.value(word)] : []))
    if (words.some(isStored)) return this.change('FORMAT', [value, ...words], node)
    const isScalar = type !== 'ARRAY' && type !== 'STRUCT'
    if (!isStored(value)) {
      const cast = value.holds === 'time' ? this.put([value], node) : value
      return { ...cast, scalar: isScalar, literal: undefined }
    }
    if (node.format) return this.change('this CAST', [value], node)
    if (!value.list && numbers.has(type)) {
      if (isPersonalValue(value) && !node.safe)
        this.refuse('this is redacted by its name: write SAFE_CAST', node)
      const isNumber = value.holds === 'number' || value.type === 'BOOL' || numbers.has(value.type ?? '')
      return numberOf(value, isNumber ? {} : { ofText: true })
    }
    if (value.holds === 'stored' && type === 'STRING') return { ...value, scalar: true, opens: false }
    if (value.holds === 'stored' && times.has(type)) {
      const cast = this.timeOf('CAST', [value], node)
      return type === 'BOOL' && !isStored(cast) ? chosen : cast
    }
    return this.change('this CAST', [value], node)
  }

  private subscript(node: ast.Subscript): Value {
    const [value, index] = [this.value(node.of), this.value(node.index)]
    const { mode, index: at } = node
    if (isStored(value) && mode === null && at.kind === 'Literal' && at.literal === 'STRING')
      return part(value, at.value)
    if (!isStored(value) || !isConstant(index)) return this.change('a place in a list', [value, index], node)
    const isList = value.list || value.type === 'ARRAY' || mode?.startsWith('SAFE_')
    if (isList) return this.element(value, node.of)
    return { ...value, problem: new Violation(says.place, node.at), opens: false }
  }

  private binary(node: ast.Binary): Value {
    const { operator, left, right } = node
    const sides = [this.value(left), this.value(right)]
    if (operator === 'AND' || operator === 'OR') return this.truth(sides.map(side => this.use(side)))
    if (comparisons.has(operator)) return this.compare(sides, node)
    const isMove = /^[+-]$/.test(operator) && [left, right].some(({ kind }) => kind === 'IntervalLiteral')
    if (isMove)
      return sides.some(({ problem }) => problem) ? either(sides) : this.timeOf('TIMESTAMP_ADD', sides, node)
    return this.scale(operator, [left, right], sides, node)
  }

  // ---- functions

  private call(node: ast.Call): Value {
    const { name } = functionName(node)
    for (const part of [...node.orderBy, ...(node.having ? [node.having] : [])]) this.use(this.value(part))
    if (node.over && 'kind' in node.over) this.parts(node.over)
    const given = node.arguments.map((argument, at) =>
      isWordAt(name, at, argument) ? constant : this.value(argument),
    )
    if (!given.some(isStored)) return this.callOfOwn(name, given, node)
    switch (useOf.get(name)) {
      case 'keeps':
        return this.keep(name, given, node)
      case 'counts':
        if (given.some(({ problem, mixed }) => problem || (mixed && !aggregates.test(name))))
          return this.change(name, given, node)
        return name.startsWith('LOGICAL_') ? chosen : { ...made, asks: asksOf(given) }
      case 'matches':
        return this.match(given, name, node)
      case 'scales':
        return this.scale(name, node.arguments, given, node)
      case 'sums':
        return this.aggregate(name, given, node)
      case 'times':
        return this.timeOf(name, given, node)
      case 'picks':
        return this.pick(name, given[0]!, node)
      case 'parses':
        if (given[0]!.problem || given[0]!.holds === 'number' || isPersonalValue(given[0]!))
          return this.change(name, given, node)
        return { ...given[0]!, problem: this.change(name, given, node).problem, opens: true }
      case 'converts':
        if (isPersonalValue(given[0]!)) return this.change(name, given, node)
        return numberOf(given[0]!, { ofText: given[0]!.ofText || name.startsWith('LAX_') })
      case 'buckets':
        return this.bucket(name, given, node)
      case undefined:
        return this.change(name, given, node)
    }
  }

  private callOfOwn(name: string, given: Value[], node: ast.Call): Value {
    if (name === 'ERROR') return nullValue
    const use = useOf.get(name)
    if (use === 'matches') return this.truth(given)
    if (use === 'keeps' && name !== 'ARRAY_AGG' && !name.endsWith('TRIM')) {
      const value = this.keep(name, given, node)
      // A text is one that a number or another text may equal, and a NULL that has a type is no NULL for a record.
      const kept = value.holds === 'time' && name.endsWith('STRING') ? this.put([value], node) : value
      return { ...(node.over ? vary(kept) : kept), literal: undefined }
    }
    const taken = aggregates.test(name) ? given.map((each): Value => ({ ...each, holds: 'made' })) : given
    const value = this.put(taken, node, joins.test(name))
    if (name.startsWith('LOGICAL_')) return chosen
    // Conditions say how often it is added.
    if (name === 'SUM' && given.some(({ holds }) => holds === 'made'))
      return { ...value, asks: asksOf([value, made]) }
    if (makesTimes.test(name))
      return isConstant(value) && !generates.test(name)
        ? value
        : { ...time, asks: Math.max(1, value.asks ?? 0) }
    if (name === 'ARRAY_AGG') return { ...made, asks: many }
    return isConstant(value) && (use === 'counts' || node.over || generates.test(name)) ? made : value
  }

  /** What a function or an operator makes of nothing stored: of few counts and times, and of none that is chosen. */
  private put(given: readonly Value[], node: ast.AnyNode, isOfMany = false): Value {
    if (given.every(isConstant)) return { ...constant, scalar: true }
    const asks = isOfMany ? many : asksOf(given)
    if (given.some(({ holds }) => holds === 'chosen')) this.refuse(says.chosen, node)
    if (asks >= many) this.refuse(says.many, node)
    return { ...made, asks }
  }

  private keep(name: string, given: Value[], node: ast.Call): Value {
    const role = roles.get(name) ?? 'v'.repeat(given.length)
    const as = (mark: string) => given.filter((_, at) => role[at] === mark)
    if (!as('!').every(isConstant)) this.refuse(`${name} here takes a constant`, node)
    if (name.endsWith('TRIM') && given.length > 1)
      return this.change(`${name} of other characters than blanks`, given, node)
    const chosenBy = name === 'NULLIF' ? [this.compare(given, node)] : as('-')
    const value = this.choose(as('v'), node, chosenBy)
    if (!isStored(value)) return value
    const isList = name === 'ARRAY_AGG'
    const origin = ofOtherRows.test(name) ? undefined : value.origin
    return { ...value, origin, scalar: !isList && (value.scalar || takesScalar.test(name)), list: isList }
  }

  /** Several stored values become one: of records, one would name the fields of all. */
  private choose(among: Value[], node: ast.AnyNode, conditions: Value[] = []): Value {
    for (const value of [...among, ...conditions]) this.use(value)
    const held = among.filter(isStored)
    const others = among.filter(value => !isStored(value))
    const varying = among.filter(value => !isConstant(value))
    // Choices one inside another put together what each condition tells.
    const count = conditions.filter(value => !isConstant(value)).length || Math.max(0, varying.length - 1)
    const asks = Math.max(0, ...among.map(value => value.asks ?? 0)) + count
    if (held.length === 0) return count > 0 ? { ...vary(union(among)), asks } : union(among)
    const isMixed = held.some(({ sum }) => sum) && !held.every(({ sum }) => sum)
    const isDoubtful = among.length > 1 && held.some(({ doubtful }) => doubtful)
    if (isMixed || isDoubtful || others.some(({ holds }) => holds === 'made')) this.refuse(says.spells, node)
    const isOne = held.length === 1 || union(held).name !== null
    const scalar = among.some(value => value.scalar)
    if (!scalar && !(isOne && others.every(({ literal }) => literal === 'NULL')))
      this.refuse(says.records, node)
    const mixed = held.some(value => value.mixed) || others.some(({ literal }) => !literal)
    return { ...union(held), scalar, mixed, asks }
  }

  private pick(name: string, value: Value, node: ast.Call): Value {
    const path = node.arguments[1]
    const names = path?.kind === 'Literal' ? namesIn(path.value) : null
    if (isPersonalValue(value)) this.refuse('this is redacted by its name: select it as a whole', node)
    if (!names || value.holds === 'number')
      return this.change(`${name} by another path than names, '$.a.b',`, [value], node)
    return { ...names.reduce(part, value), scalar: true, list: false }
  }

  /** Of a text in any form, compared with constants, only the truth leaves. */
  private compare(operands: readonly Value[], node: ast.AnyNode): Value {
    const held = operands.filter(isStored)
    const isAlone = operands.filter(value => !isConstant(value)).length === 1
    if (!isAlone) for (const value of held) this.use(value)
    const isComputed = operands.some(({ holds, sum, several }) => holds === 'made' || (sum && several))
    if ((held.length > 0 && isComputed) || (held.length > 1 && !held.every(isAsItIs)))
      this.refuse(says.spells, node)
    return this.truth(operands)
  }

  private match(given: Value[], what: string, node: ast.AnyNode): Value {
    if (given.some(isStored) && !given.slice(1).every(isConstant))
      this.refuse(`${what} here takes a constant`, node)
    return this.truth(given)
  }

  /** Time zones, formats and parts are constants: the messages of errors show them. */
  private timeOf(what: string, given: Value[], node: ast.AnyNode): Value {
    if (given.every(isConstant)) return constant
    this.put(
      given.map(value => (isStored(value) ? { ...time, asks: value.asks } : value)),
      node,
    )
    const asks = asksOf(given)
    const isOfTime = what === 'CAST' || makesTimes.test(what)
    const isFormat = what.startsWith('FORMAT_')
    const isDifference = what.endsWith('_DIFF')
    const takes = given.map((value, at) => {
      if (!isStored(value)) return at < 2 || isConstant(value)
      const isPlace = isFormat ? at === 1 : at === 0 || (isDifference && at === 1) || /_ADD|_ARRAY/.test(what)
      return isPlace && value.holds === 'stored' && !value.problem && !value.mixed && !isPersonalValue(value)
    })
    const isOfNumbers = /^(?:DATE|DATETIME|TIME)$/.test(what) && given.length > 2
    if (isOfNumbers || takes.includes(false) || (isFormat && !isConstant(given[0]!)))
      return this.change(what, given, node)
    return { ...(isOfTime ? time : made), asks }
  }

  private bucket(name: string, given: Value[], node: ast.Call): Value {
    const [value, list] = [given[0]!, node.arguments[1]]
    const isList = list?.kind === 'ArrayLiteral' && list.items.length > 0 && list.items.every(isNumber)
    if (!isList || value.problem || value.mixed || isPersonalValue(value))
      this.refuse(`${name} here takes a column that no name redacts, and a list of numbers`, node)
    return made
  }

  // ---- numbers

  /** A number near a card's, or the half of one, has no form to find it by: a stored number is only scaled, to be shown in part. */
  private scale(what: string, nodes: ast.Expression[], given: Value[], node: ast.AnyNode): Value {
    if (!given.some(isStored)) return this.put(given, node)
    const [left, right] = given as [Value, Value | undefined]
    const isScale =
      /^[*/A-Z]/.test(what) && !given.some(({ problem, list, mixed }) => problem || list || mixed)
    const isProduct = what === '*' || what === 'SAFE_MULTIPLY'
    if (isScale && nodes.slice(1).every(isNumber)) return numberOf(left)
    if (isScale && isProduct && isNumber(nodes[0]!)) return numberOf(right!)
    const isDivision = /^\/$|_DIVIDE$/.test(what) && left.sum && !left.several && !right?.several
    if (isScale && isDivision && (right!.sum || (isSum(nodes[0]!) && isCount(nodes[1]!))))
      return numberOf(union(given.filter(isStored)), { several: true })
    return this.change(what, given, node)
  }

  private aggregate(name: string, given: Value[], node: ast.Call): Value {
    const [value, ...others] = given as [Value, ...Value[]]
    this.use(value)
    if (isPersonalValue(value)) this.refuse('this is redacted by its name: it cannot be computed with', node)
    if (value.mixed || value.list || (value.sum && value.several) || !others.every(isConstant))
      this.refuse(`${name} ${says.sums}`, node)
    const list = name === 'APPROX_QUANTILES'
    if (isTime(value) && (list || name === 'PERCENTILE_DISC')) return { ...time, scalar: !list }
    return numberOf(value, { sum: true, list, ofText: false, origin: undefined })
  }

  // ---- refusals

  /** What a function makes: of what is stored, it may be compared with constants. A time is what it is in any form. */
  private change(what: string, taken: Value[], node: ast.AnyNode): Value {
    const given = taken.map(value => (isTime(value) ? { ...time, asks: asksOf([value]) } : value))
    const held = given.filter(isStored)
    if (held.length === 0) return { ...this.put(given, node), scalar: false }
    const remedy = remedies.find(([names]) => names.test(what))![1]
    const isOne = held.length === 1 || !union(held).several
    if (!isOne || held.some(({ list, row }) => list || row))
      this.refuse(
        `${what} here takes one column: compare columns as they are, each with constants, or ${remedy}`,
        node,
      )
    if (given.some(value => !isStored(value) && !isConstant(value))) this.refuse(says.spells, node)
    const changes = `${what} makes another text or number of what is stored, which redaction would not know: compare it with a constant, or ${remedy}`
    const problem =
      held.find(value => value.problem && !value.opens)?.problem ?? new Violation(changes, node.at)
    return { ...union(held), kinds: new Set(), name: null, list: false, problem, opens: false }
  }
}

/** Of a type whose values are no words. */
function isNoText(type: string | undefined): boolean {
  return type !== undefined && (numbers.has(type) || times.has(type))
}

const nullValue: Value = { ...constant, literal: 'NULL' }

function literalOf({ literal, text, value }: ast.Literal): Value['literal'] {
  if (literal === 'NULL') return 'NULL'
  return literal !== 'BYTES' && /^0?(?:\.0+)?$/.test(literal === 'STRING' ? value : text) ? '0' : undefined
}

/** As many as no function takes. */
const many = 4

/** How many are put together in these, at least one. */
function asksOf(given: readonly Value[]): number {
  const sum = given.reduce((sum, { asks = 0 }) => sum + asks, 0)
  return Math.max(1, sum)
}

function isAsItIs({ holds, doubtful }: Value): boolean {
  return holds === 'stored' && !doubtful
}

function partsOf({ columns, rest }: Row): Value[] {
  return [...columns.map(({ value }) => value), ...(rest ? [rest] : [])]
}

/** Whether the function is unknown here. */
function isLost(column: Column | null): boolean {
  const from = column?.from
  return from?.kind === 'node' || (from?.kind === 'columns' && from.columns.length === 0)
}

function notInSight(name: string, { at } = { at: 0 }): Value {
  return { ...storedValue(name), problem: new Violation(`no column in sight has the name ${name}`, at) }
}
