/** Random names, literals and types, as the parser gives them; every offset is 0. */
import * as fc from 'fast-check'
import { reservedWords } from '../grammar.ts'
import type { Count, Identifier, Literal, ParameterReference, TypedLiteral } from '../tree.ts'
import type { SqlType, StructField, StructType } from '../types.ts'
import { scalarNames } from '../types.ts'
import { anyCharacter } from '../../testing/characters.ts'

const at = 0

const plainNames = fc.oneof(
  fc.constantFrom('a', 'T', '_x1', 'count', 'date', 'timestamp', 'value', 'format', 'pivot', 'zone', 'safe'),
  fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/).filter(name => !reservedWords.has(name.toUpperCase())),
)
const oddNames = fc
  .oneof(
    fc.constantFrom('select', 'a.b', 'a-b', ' ', '1', 'größe', '😀', '--', '"'),
    fc.string({ unit: 'grapheme', minLength: 1 }),
  )
  .filter(name => !/[`\\\p{Cc}]/u.test(name))

export const identifier: fc.Arbitrary<Identifier> = fc.oneof(
  { weight: 3, arbitrary: plainNames.map(name => ({ name, quoted: false, at })) },
  oddNames.map(name => ({ name, quoted: true, at })),
)

/** After a dot reserved words are names too. */
const field = fc.oneof(
  identifier,
  fc.constantFrom(...reservedWords).map(name => ({ name, quoted: false, at })),
)

export const path: fc.Arbitrary<Identifier[]> = fc
  .tuple(identifier, fc.array(field, { maxLength: 2 }))
  .map(([first, rest]) => [first, ...rest])

export const fieldName = field

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

const string: fc.Arbitrary<Literal> = fc
  .tuple(
    fc.string({ unit: anyCharacter }).filter(value => !value.includes('\0')),
    fc.constantFrom("'", '"', "'''", '"""'),
  )
  .map(([value, quotes]) => {
    const inside = value.replaceAll(/[\\'"\n\r]/g, character => `\\u${hex(character.codePointAt(0)!, 4)}`)
    return { kind: 'Literal', literal: 'STRING', text: quotes + inside + quotes, value, at }
  })

const rawString: fc.Arbitrary<Literal> = fc
  .stringMatching(/^(?:[\w\s]|\\[\w\\"])*$/)
  .map(value => value.replaceAll('\r', '\n'))
  .map(value => ({ kind: 'Literal', literal: 'STRING', text: `R"""${value}"""`, value, at }))

const bytes: fc.Arbitrary<Literal> = fc.uint8Array({ maxLength: 5 }).map(codes => ({
  kind: 'Literal',
  literal: 'BYTES',
  text: `b'${[...codes].map(code => `\\x${hex(code, 2)}`).join('')}'`,
  value: String.fromCharCode(...codes),
  at,
}))

function plain(literal: Literal['literal'], texts: string[]): fc.Arbitrary<Literal> {
  return fc.constantFrom(...texts).map(text => ({ kind: 'Literal', literal, text, value: '', at }))
}

const integer = plain('INTEGER', ['0', '42', '0xFF', '99999999999999999999'])

export const literal: fc.Arbitrary<Literal> = fc.oneof(
  string,
  rawString,
  bytes,
  integer,
  plain('FLOAT', ['1.5', '1.', '0.5', '1e10', '2.5E-3']),
  plain('BOOL', ['TRUE', 'FALSE']),
  plain('NULL', ['NULL']),
)

export const typedLiteral: fc.Arbitrary<TypedLiteral> = fc.record({
  kind: fc.constant('TypedLiteral'),
  type: fc.constantFrom('DATE', 'TIMESTAMP', 'DATETIME', 'TIME', 'NUMERIC', 'BIGNUMERIC', 'JSON'),
  value: fc.oneof(string, rawString),
  at: fc.constant(at),
})

export const parameter: fc.Arbitrary<ParameterReference> = fc
  .stringMatching(/^[A-Za-z_]\w{0,5}$/)
  .map(name => ({ kind: 'ParameterReference', name, at }))

export const count: fc.Arbitrary<Count> = fc.oneof(integer, parameter)

const unsized: fc.Arbitrary<SqlType> = fc.record({ kind: fc.constantFrom(...scalarNames) })
const sized: fc.Arbitrary<SqlType> = fc
  .tuple(
    fc.constantFrom('BIGNUMERIC', 'BYTES', 'NUMERIC', 'STRING'),
    fc.integer({ min: 9, max: 29 }),
    fc.nat(9),
  )
  .map(([kind, size, scale]) => ({ kind, size: kind.endsWith('NUMERIC') ? [size, scale] : [size] }))

const typesOf = (scalar: fc.Arbitrary<SqlType>) =>
  fc.letrec<{ type: SqlType; struct: StructType; field: StructField }>(tie => ({
    type: fc.oneof(
      { maxDepth: 3 },
      scalar,
      tie('type').map((element): SqlType => ({ kind: 'ARRAY', element })),
      tie('struct'),
    ),
    field: fc.record({ name: fc.option(identifier.map(({ name }) => name)), type: tie('type') }),
    struct: fc.array(tie('field'), { maxLength: 3 }).map(fields => ({ kind: 'STRUCT', fields })),
  }))

/** Of a cast. */
export const { type } = typesOf(fc.oneof(unsized, sized))
/** Of a literal, which takes no size. */
export const { type: elementType, struct } = typesOf(unsized)
