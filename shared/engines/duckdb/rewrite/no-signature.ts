/** The error for operands or arguments of wrong types: the types that fit, and how a value becomes one of them. */
import type { SqlError } from '../../../sql/error.ts'
import { instead, type Table, table } from '../../../sql/instead.ts'
import type { Node } from '../../../sql/tree.ts'
import type { ScalarName } from '../../../sql/types.ts'
import { briefTypeName, timestampOfInteger } from '../../values.ts'
import type { Context, Typed } from './context.ts'

/**
 * What an argument may be: a type; `ANY` value; `ARRAY`; `NUMBER`; `COMMON`, all such arguments brought to one type;
 * `PART`, a date part; `TEXT`, a literal string, passed on as its decoded text.
 */
export type ParameterKind = ScalarName | 'ANY' | 'ARRAY' | 'NUMBER' | 'COMMON' | 'PART' | 'TEXT'

/** `?` for an argument that may be left out, `*` for any number of them. */
export type Parameter = ParameterKind | `${ParameterKind}?` | `${ParameterKind}*`

/** What operators and clauses take, by their name here; those that are not listed take values of one type. */
const operands = table(String.raw`
  operator [-+] => NUMBER NUMBER | TIMESTAMP INTERVAL
  operator [*/] => NUMBER NUMBER
  operator (AND|OR|NOT|IS \w+) => BOOL*
  operator LIKE.* => STRING* | BYTES*
  operator \|\| => STRING* | BYTES* | ARRAY*
  operator (\||&|\^|~|<<|>>) => INT64* | BYTES INT64
  operator \[\] => ARRAY INT64 | JSON INT64
  operator IN UNNEST => ANY ARRAY
  operator.*|CASE.*|set operation.*|function (IF|CONCAT) => COMMON*
  INTERVAL .* => INT64
`)

/** What functions take whose rules are no signatures: these are checked before the rule. */
const checked = table(String.raw`
  SUM|AVG => NUMBER | INTERVAL
  (STDDEV|VAR).* => NUMBER
  PERCENTILE_CONT => NUMBER NUMBER
  COUNTIF|LOGICAL_AND|LOGICAL_OR => BOOL
  BIT_(AND|OR|XOR) => INT64
  STRING_AGG => STRING STRING? | BYTES BYTES?
  APPROX_(QUANTILES|TOP_COUNT) => ANY INT64
  (MAX|MIN)_BY => ANY ANY
  CUME_DIST|DENSE_RANK|PERCENT_RANK|RANK|ROW_NUMBER|CURRENT_TIMESTAMP => NONE
  FIRST_VALUE|LAST_VALUE|TYPEOF => ANY
  LAG|LEAD => ANY INT64? ANY?
  NTH_VALUE => ANY INT64
  NTILE => INT64
  PERCENTILE_DISC => ANY NUMBER
  CURRENT_(DATE|DATETIME|TIME) => STRING?
  FORMAT_TIMESTAMP => STRING ANY STRING?
  PARSE_TIMESTAMP => STRING STRING STRING?
  REGEXP_(EXTRACT|SUBSTR) => STRING STRING INT64? INT64? | BYTES BYTES INT64? INT64?
  REGEXP_INSTR => STRING STRING INT64? INT64? INT64? | BYTES BYTES INT64? INT64? INT64?
  JSON_KEYS => JSON INT64?
  TO_JSON_STRING => ANY BOOL?
`)

/** What others take, for the message of their own rule. */
const functions = [
  ...checked,
  ...table(String.raw`
    SAFE_(ADD|SUBTRACT|MULTIPLY|DIVIDE) => NUMBER NUMBER
    SPLIT => STRING STRING? | BYTES BYTES?
    CONCAT => STRING* | BYTES*
    ARRAY_CONCAT.* => ARRAY*
    ARRAY_TO_STRING => ARRAY STRING STRING?
    SUBSTR|SUBSTRING => STRING INT64 INT64? | BYTES INT64 INT64?
    REGEXP_REPLACE => STRING STRING STRING
    REGEXP_.* => STRING STRING
    INT64|FLOAT64|BOOL|STRING|LAX_\w+ => JSON
    JSON_(VALUE|QUERY|EXTRACT)\w* => STRING STRING? | JSON STRING?
    DATE_(ADD|SUB) => DATE INTERVAL
    (DATETIME|TIMESTAMP)_(ADD|SUB) => TIMESTAMP INTERVAL
    TIME_(ADD|SUB) => TIME INTERVAL
  `),
]

/** How a value becomes one of another type, by `FROM>TO`; `x` stands for it. */
const conversions = table(String.raw`
  STRING>(INT64|NUMERIC|BIGNUMERIC|FLOAT64) => SAFE_CAST(x AS $1)
  STRING>NUMBER => SAFE_CAST(x AS FLOAT64)
  STRING>BOOL => a condition such as x = 'text' or x IS NOT NULL
  INT64>BOOL => a condition such as x != 0
  STRING>BYTES => CAST(x AS BYTES)
  STRING>JSON => PARSE_JSON(x)
  (STRING|TIMESTAMP)>(DATE|DATETIME) => $2(x)
  (STRING|DATE|DATETIME)>TIMESTAMP => TIMESTAMP(x)
  INT64>TIMESTAMP => ${timestampOfInteger}
  INT64>INTERVAL => INTERVAL x SECOND, or another part
  JSON>STRING => JSON_VALUE(x)
  JSON>(INT64|FLOAT64|BOOL) => LAX_$1(x)
  JSON>NUMBER => LAX_FLOAT64(x)
  ARRAY>STRING => TO_JSON_STRING(x), or its elements with UNNEST(x) in FROM
  STRUCT>STRING => TO_JSON_STRING(x)
  BYTES>STRING => SAFE_CONVERT_BYTES_TO_STRING(x)
  (INT64|NUMERIC|BIGNUMERIC|FLOAT64|BOOL|DATE|DATETIME|TIME|TIMESTAMP|INTERVAL)>STRING => CAST(x AS STRING)
`)

/** JSON has neither equality nor order; its text has both. */
export const textOfJson = 'for the JSON write JSON_VALUE(x), or TO_JSON_STRING(x) of an object or a list'

const number = /^(INT64|NUMERIC|BIGNUMERIC|FLOAT64|NUMBER)$/

/**
 * @param what the function, operator or clause, as the message names it
 * @param signatures what it takes, where the tables here do not say it
 */
export function noSignature(
  context: Context,
  node: Node,
  what: string,
  values: Typed[],
  signatures: Parameter[][] = signaturesOf(what),
): SqlError {
  const types = values.map(value => briefTypeName(value.type)).join(', ') || 'none'
  const hints = [taken(what, values.length, signatures), conversion(what, values, signatures)].filter(Boolean)
  const message = `No matching signature for ${what} for argument types: ${types}`
  return context.invalid(node, [message, ...hints].join('; '))
}

/** What a function takes whose arguments no rule checks, `null` for others. */
export function checkedSignatures(name: string): Parameter[][] | null {
  return signaturesIn(checked, name)
}

/** `STRING STRING? | BYTES BYTES?` as two signatures. */
function signaturesIn(takes: Table, name: string): Parameter[][] | null {
  const forms = instead(takes, name)?.split(' | ')
  return forms?.map(form => (form === 'NONE' ? [] : form.split(' ')) as Parameter[]) ?? null
}

function signaturesOf(what: string): Parameter[][] {
  const name = /^function (.*)/.exec(what)?.[1]
  return signaturesIn(name === undefined ? operands : functions, name ?? what) ?? []
}

/** Which types fit, as `POW(FLOAT64, FLOAT64)` or `STRING LIKE STRING`. */
function taken(what: string, count: number, signatures: Parameter[][]): string | null {
  if (signatures.length === 0) return null
  if (signatures[0]![0] === 'COMMON*') return 'all values need one type'
  const [, sort, name = ''] = /^(function|operator) (.*)/.exec(what) ?? []
  // The first one of an operator is what it takes with one operand.
  const fitting = sort !== 'function' && count === 1 ? signatures.slice(0, 1) : signatures
  const forms = fitting.map(parameters => {
    const shown = parameters.map(parameter => parameter.replace('COMMON', 'ANY').replace('*', ', ...'))
    if (sort === 'function') return `${name}(${shown.join(', ')})`
    const kinds = Array.from({ length: count }, (_, at) => kindOf(parameters[at] ?? parameters.at(-1)!))
    return kinds.length === 1 ? `${name} ${kinds[0]}`.trim() : kinds.join(` ${name} `)
  })
  const common = signatures.flat().some(parameter => parameter.startsWith('COMMON'))
    ? ', ANY being one type'
    : ''
  return `it takes ${[...new Set(forms)].join(' or ')}${common}`
}

/** What to write for the first value that does not fit the signature that most of them fit. */
function conversion(what: string, values: Typed[], signatures: Parameter[][]): string | null {
  const kinds = values.map(({ type }) => type?.kind ?? null)
  const common: string[] = []
  const misfits = signatures.map(parameters => {
    const own = parameters.map(kindOf).filter(kind => kind !== 'PART' && kind !== 'TEXT')
    return kinds.flatMap((kind, at): [from: string, to: string][] => {
      const wanted = own[Math.min(at, own.length - 1)]
      if (kind !== null && wanted === 'COMMON') common.push(kind)
      return kind === null || wanted === undefined || fits(values[at]!, wanted) ? [] : [[kind, wanted]]
    })
  })
  const [one = '', other = one] = new Set(common)
  // Texts are compared as what they are compared with, and other values are shown as texts.
  const textFirst = (one === 'STRING') === what.startsWith('operator')
  const unlike = textFirst
    ? [
        [one, other],
        [other, one],
      ]
    : [
        [other, one],
        [one, other],
      ]
  const pairs = misfits.toSorted((a, b) => a.length - b.length).flat()
  // JSON is compared with nothing, so no value becomes JSON for an operator.
  const useless = what.startsWith('operator') ? ['BOOL', 'JSON'] : ['BOOL']
  const useful = (unlike as [string, string][]).filter(([, to]) => !useless.includes(to))
  for (const [from, to] of [...pairs, ...useful]) {
    const written = instead(conversions, `${from}>${to}`)
    if (written !== null) return `for the ${from} write ${written}`
  }
  const isJson = kinds.includes('JSON') && !signatures.flat().some(parameter => kindOf(parameter) === 'JSON')
  return isJson ? textOfJson : null
}

/** A text that is written out is read as a date or time. */
function fits({ type, origin }: Typed, wanted: ParameterKind): boolean {
  const { kind } = type!
  if (kind === 'STRING' && origin && /^(DATE|TIME)/.test(wanted)) return true
  if (wanted === 'ANY' || wanted === 'COMMON' || kind === wanted) return true
  return number.test(kind) && number.test(wanted) && (wanted !== 'INT64' || kind === 'INT64')
}

export function kindOf(parameter: Parameter): ParameterKind {
  return parameter.replace(/[?*]$/, '') as ParameterKind
}
