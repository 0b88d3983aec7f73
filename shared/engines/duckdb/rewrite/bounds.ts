/**
 * How much a call of a function may do. DuckDB looks at its interrupt after each vector of 2,048 rows and never inside a
 * function, and the memory of a vector does not count towards its limit: what one call does for one value is bounded here,
 * and refused past that before it is done.
 */
import type { AnyNode, Binary, Query } from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'
import { children, descendants } from '../../../sql/walk.ts'
import type { Context, Typed } from './context.ts'

interface Bound {
  /** The functions and operators that share the bound. */
  functions: string
  /** What is counted. */
  of: string
  /** Counted in the result, once it is made. */
  ofResult?: true
  /** Of steps; a function may have another bound, of room. */
  steps?: true
  /** For arguments that are the same in all rows: literals and parameters. */
  most: number
  /** For arguments that differ from row to row; so many for each of 2,048 rows take a second or a gigabyte. */
  inRows: number
  /** What the caller can do. */
  instead: string
}

const mebi = 1_048_576

/**
 * Every function whose work or result can grow past its arguments' size. BigQuery's own limits are 1 MiB for REPEAT, LPAD and RPAD,
 * and 1,048,575 elements. Inside a row, the calls that share a bound have equal parts of it.
 */
export const bounds: Bound[] = [
  {
    functions: 'REPEAT LPAD RPAD',
    of: 'bytes of text',
    most: mebi,
    inRows: 16_384,
    instead: 'ask for less',
  },
  {
    functions: 'CONCAT ||',
    of: 'bytes or elements',
    most: 4 * mebi,
    inRows: 262_144,
    instead: 'shorten what is put together, as LEFT does',
  },
  {
    functions: 'REPLACE REGEXP_REPLACE',
    of: 'bytes if all of the text is replaced',
    most: 4 * mebi,
    inRows: 4 * mebi,
    instead: 'shorten the text, as LEFT does, or the replacement',
  },
  {
    functions: 'ARRAY_TO_STRING',
    of: 'bytes of delimiters',
    most: mebi,
    inRows: 65_536,
    instead: 'use a shorter delimiter or fewer elements',
  },
  {
    // These and those of JSON take the main thread, which answers no one meanwhile.
    functions: 'TO_BASE32',
    ofResult: true,
    of: 'bytes of result',
    most: 524_288,
    inRows: 524_288,
    instead: 'shorten its argument, as LEFT does',
  },
  {
    functions: 'JSON_ARRAY JSON_OBJECT TO_JSON TO_JSON_STRING',
    ofResult: true,
    of: 'bytes of result',
    most: mebi,
    inRows: mebi,
    instead: 'shorten its arguments, as LEFT does',
  },
  {
    functions: 'FORMAT TO_BASE64 TO_HEX',
    ofResult: true,
    of: 'bytes of result',
    most: 4 * mebi,
    inRows: mebi,
    instead: 'shorten its arguments, as LEFT does',
  },
  {
    functions: 'SPLIT REGEXP_EXTRACT_ALL TO_CODE_POINTS',
    of: 'bytes of text, of which one that is split into letters counts sixteen times',
    most: 4 * mebi,
    inRows: 131_072,
    instead: 'shorten the text, as LEFT does',
  },
  {
    functions: 'GENERATE_ARRAY GENERATE_DATE_ARRAY GENERATE_TIMESTAMP_ARRAY',
    of: 'elements',
    most: 1_048_575,
    inRows: 65_536,
    instead: 'ask for fewer, by larger steps or a shorter range',
  },
  {
    functions: 'ARRAY_CONCAT',
    of: 'elements',
    most: mebi,
    inRows: 262_144,
    instead: 'put fewer elements together',
  },
  {
    // With OVER, where each row has the rows of its window.
    functions: 'ARRAY_AGG ARRAY_CONCAT_AGG STRING_AGG',
    of: 'rows of a window',
    most: 2000,
    inRows: 2000,
    instead: 'use a shorter frame, such as ROWS 100 PRECEDING',
  },
  {
    // Of FORMAT, where the width is an argument; format.ts holds those that are written out to the same.
    functions: '%*',
    of: 'characters of width',
    most: 1000,
    inRows: 1000,
    instead: 'ask for less',
  },
  {
    functions: 'EDIT_DISTANCE',
    of: 'pairs of characters',
    most: 25_000_000,
    inRows: 100_000,
    instead: 'shorten the texts, as LEFT does',
  },
  {
    functions: 'CONTAINS_SUBSTR INSTR REPLACE SPLIT STRPOS',
    steps: true,
    of: 'pairs of a byte of the text and one of what is looked for',
    // DuckDB compares at each place; 13 ms for a billion.
    most: 4096 * mebi,
    inRows: 64 * mebi,
    instead: 'look for a shorter text, or shorten the text, as LEFT does',
  },
  {
    functions: 'REGEXP_EXTRACT_ALL REGEXP_REPLACE',
    steps: true,
    of: 'pairs of bytes of the text',
    // A match may be looked for up to the end; 2 ms for a million.
    most: 128 * mebi,
    inRows: 16 * mebi,
    instead:
      'repeat nothing without end in an alternative or a repeated group of the pattern, or shorten the text, as LEFT does',
  },
  {
    // Of patterns with few counts only the work to make them ready, where each row has its own.
    functions: 'LIKE REGEXP_CONTAINS REGEXP_EXTRACT REGEXP_INSTR REGEXP_SUBSTR',
    steps: true,
    of: 'bytes of text times the size of the pattern with its counts',
    // 20 ms for a row at worst.
    most: 256 * mebi,
    inRows: 2 * mebi,
    instead: 'use a shorter pattern with smaller counts, or shorten the text, as LEFT does',
  },
]

const boundsOf = (name: string) => bounds.filter(({ functions }) => functions.split(' ').includes(name))
const byFunction = new Map(
  bounds.flatMap(({ functions }) => functions.split(' ').map(name => [name, boundsOf(name)])),
)

/** How many calls share each bound in a query. */
export function sharesOf(query: Query): Context['shares'] {
  const shares = new Map<Bound, number>()
  const nodes = [...descendants(query)]
  const links = new Set(nodes.flatMap(node => (nameOf(node) === '||' ? (node as Binary).left : [])))
  for (const node of nodes) {
    for (const bound of byFunction.get(nameOf(node)) ?? []) {
      // A chain of || is one, and what is looked for costs nothing where it is short and plain.
      const counts = nameOf(node) === '||' ? !links.has(node as Binary) : !bound.steps || !isPlainSearch(node)
      if (counts) shares.set(bound, (shares.get(bound) ?? 0) + 1)
    }
  }
  return shares
}

function isPlainSearch(node: AnyNode): boolean {
  if (node.kind === 'Like') return node.right.kind === 'Literal'
  if (node.kind !== 'Call') return false
  const [, part, ...rest] = node.arguments
  if (part?.kind !== 'Literal') return false
  const isMany = /^REGEXP_(EXTRACT_ALL|REPLACE)$/.test(nameOf(node))
  if (isMany || !nameOf(node).startsWith('REGEXP_')) return !isMany || !/[|)]/.test(part.value)
  return rest.length === 0 && !/\{\d/.test(part.value)
}

function nameOf(node: AnyNode): string {
  if (node.kind === 'Binary') return node.operator
  if (node.kind === 'Like' || node.kind === 'LikeAny') return 'LIKE'
  return node.kind === 'Call' ? node.name.at(-1)!.name.toUpperCase() : ''
}

/**
 * An argument of a call, or the refusal of the call where it would do too much.
 * @param name the function or operator, in capitals
 * @param args the nodes of all arguments
 * @param cost DuckDB SQL of how much of what its bound counts the call would do; NULL is nothing
 * @param sql DuckDB SQL of the argument; a refused call is not made, not even in planning
 */
export function within(
  context: Context,
  name: string,
  args: AnyNode[],
  cost: string,
  sql: string,
  of: 'room' | 'steps' = 'room',
): string {
  const all = byFunction.get(name)!
  const bound = all.find(({ steps = false }) => steps === (of === 'steps')) ?? all[0]!
  const calls = context.shares.get(bound) ?? 1
  const constant = args.every(isConstant)
  const most = constant
    ? Math.min(bound.most, (16 * bound.most) / calls)
    : Math.min(bound.inRows, bound.inRows / calls)
  const message = `${name} takes at most ${Math.floor(most).toLocaleString('en')} ${bound.of}${constant ? '' : ' in each row'}; ${bound.instead}`
  // An element of [NULL] goes with every type. As a condition the error would come in planning, where TRY does not catch it.
  return `(CASE WHEN ${cost} > ${Math.floor(most)} THEN ([NULL])[CAST('${message}' AS BIGINT)] ELSE ${sql} END)`
}

function sizeOf(type: SqlType | null, sql: string): string {
  if (type?.kind === 'ARRAY') return `len(${sql})`
  if (type?.kind === 'BYTES') return `octet_length(${sql})`
  return type?.kind === 'JSON' ? `strlen(CAST(${sql} AS VARCHAR))` : `strlen(${sql})`
}

const largeTypes: (SqlType['kind'] | undefined)[] = ['ARRAY', 'BYTES', 'JSON', 'STRING', 'STRUCT']

/**
 * The result of a call, whose size shows only once it is made: it is a small multiple of its arguments' size, but of the results
 * that its arguments are, too.
 */
export function checked(
  context: Context,
  name: string,
  nodes: AnyNode[],
  args: () => Typed[],
  result: Typed,
): Typed {
  const large = ({ type, origin }: Typed) => origin !== 'literal' && largeTypes.includes(type?.kind)
  if (!byFunction.get(name)?.some(({ ofResult }) => ofResult) || !args().some(large)) return result
  const sql = within(context, name, nodes, sizeOf(result.type, 'r'), 'r')
  return { ...result, sql: `(list_transform([${result.sql}], lambda r: ${sql})[1])` }
}

/** The pattern of these refusals; nothing in it comes from a value. */
export const refusals = new RegExp(
  `(?:${bounds
    .flatMap(({ functions, of, instead }) =>
      functions
        .split(' ')
        .map(
          name =>
            `${name.replaceAll(/[|*]/g, '\\$&')} takes at most [\\d,]+ ${of}(?: in each row)?; ${instead}`,
        ),
    )
    .join('|')})`,
)

/** Whether the value is the same in all rows. */
export function isConstant(node: AnyNode): boolean {
  return !/^(Path|Query|Lambda)$/.test(node.kind) && children(node).every(isConstant)
}

/**
 * Uses values several times, and evaluates them once: what is more than a literal, a parameter or a column is the argument
 * of a lambda, which costs a fifth more than the value alone. Literals and parameters stay in any case: a regular expression
 * that DuckDB sees to be constant is compiled once, and else for each row.
 */
export function once<Values extends string[]>(values: Values, use: (...values: Values) => string): string {
  if (values.every(isSimple)) return use(...values)
  const row = `"values of a call${depth || ''}"`
  const inside = values.map((value, at) => (constant.test(value) ? value : `(${row})."v${at}"`)) as Values
  const fields = values.flatMap((value, at) => (constant.test(value) ? [] : [`'v${at}': ${value}`]))
  depth++
  try {
    return `(list_transform([{${fields.join(', ')}}], lambda ${row}: ${use(...inside)})[1])`
  } finally {
    depth--
  }
}

/**
 * How many calls of `once` are being made inside one another: each has a name of its own for its values. As no column is called,
 * and used in parentheses: DuckDB takes `v.v0` for the field of a column `v`, and in HAVING for a column.
 */
let depth = 0

/**
 * Uses values several times: as they are while that is short, which costs less than a lambda; once where operands of operands
 * would grow exponentially.
 */
export function repeated<Values extends string[]>(
  values: Values,
  use: (...values: Values) => string,
): string {
  const sql = use(...values)
  if (sql.length < longest) return sql
  const shared = once(values, use)
  return shared.length < sql.length ? shared : sql
}

/** The texts of a list with a delimiter. DuckDB's array_to_string plans the list twice, and takes a literal delimiter only. */
export function joinedBy(list: string, delimiter: string): string {
  const isLiteral = delimiter.startsWith("'")
  const [items, between] = isLiteral
    ? [list, delimiter]
    : [`list_transform(${list}, lambda item: ${delimiter} || item)`, `''`]
  return `substr(list_aggr([''] || ${items}, 'string_agg', ${between}), length(${delimiter}) + 1)`
}

/** NULL for one value. DuckDB's NULLIF is this CASE too, with its operand twice, which planning.ts would not see. */
export function nullWhere(value: string, none: string): string {
  return repeated([value], value => `(CASE WHEN ${value} = ${none} THEN NULL ELSE ${value} END)`)
}

/** Characters of DuckDB SQL in which values stand as often as they are used. */
const longest = 2000

/** A literal, a parameter, a column or a field of one. */
export function isSimple(sql: string): boolean {
  return constant.test(sql) || columnOrField.test(sql)
}

const constant = /^(?:'(?:[^']|'')*'|\d+|CAST\((?:\$\w+|-?\d+|'(?:[^']|'')*') AS [\w ]+\)|NULL)$/
const columnOrField = /^\(*"(?:[^"]|"")*"(?:\)*\."(?:[^"]|"")*")*$/

/** Bytes of a literal's text; `null` where the value is no literal. */
export function literalBytes({ origin, sql }: Typed): number | null {
  return origin === 'literal' && sql.startsWith("'") ? Buffer.byteLength(sql) - 2 : null
}

/**
 * Texts, bytes or arrays put together, NULL if one of them is. One that may be long and others that are not make nothing
 * much longer, so they are not measured.
 * @param values of the type, or of one that is cast to text
 */
export function joined(
  context: Context,
  name: string,
  nodes: AnyNode[],
  values: Typed[],
  type: SqlType,
): string {
  const together = (parts: string[]) => `(${parts.join(' || ')})`
  const parts = values.map(({ sql }) => sql)
  const long = values.filter(value => value.type?.kind === type.kind && value.origin !== 'literal')
  if (long.length < 2) return together(parts)
  return once(parts, (...parts) => {
    const sizes = parts.filter((_, at) => long.includes(values[at]!)).map(part => sizeOf(type, part))
    // Each || makes a text of its own.
    const cost = `(${sizes.join(' + ')}) * ${Math.ceil(parts.length / 2)}`
    return together(parts.with(0, within(context, name, nodes, cost, parts[0]!)))
  })
}

/** Bytes that are looked for at all places of a text in next to no time. */
const shortPart = 1_000

/** How many pairs of bytes a search for one text in another compares; none to speak of for a short one. */
export function pairs(text: Typed, part: Typed): string | null {
  const bytes = literalBytes(part)
  if (bytes !== null && bytes <= shortPart) return null
  return `CASE WHEN strlen(${part.sql}) > ${shortPart} THEN CAST(strlen(${text.sql}) AS DOUBLE) * strlen(${part.sql}) END`
}
