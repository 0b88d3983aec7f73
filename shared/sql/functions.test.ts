import { expect, test } from '@jest/globals'
import { functions, isOfKind, parametersOf } from './functions.ts'
import { scalarNames, type ScalarName, type SqlType } from './types.ts'

const scalar = (kind: ScalarName): SqlType => ({ kind })
const array = (element: SqlType): SqlType => ({ kind: 'ARRAY', element })

test.each<[name: string, arguments_: (SqlType | null)[], result: SqlType | null]>([
  ['LENGTH', [scalar('STRING')], scalar('INT64')],
  ['ABS', [scalar('NUMERIC')], scalar('NUMERIC')],
  ['IF', [scalar('BOOL'), scalar('DATE'), scalar('DATE')], scalar('DATE')],
  ['ARRAY_AGG', [scalar('DATE')], array(scalar('DATE'))],
  ['ARRAY_AGG', [null], array(scalar('INT64'))],
  ['ARRAY_FIRST', [array(scalar('DATE'))], scalar('DATE')],
  ['COALESCE', [null, null], null],
  ['ERROR', [scalar('STRING')], null],
  [
    'APPROX_TOP_COUNT',
    [scalar('STRING'), scalar('INT64')],
    array({
      kind: 'STRUCT',
      fields: [
        { name: 'value', type: scalar('STRING') },
        { name: 'count', type: scalar('INT64') },
      ],
    }),
  ],
])('%s of %j makes %j', (name, types, result) => {
  expect(functions.get(name)!.signatures[0]!.returns(types)).toEqual(result)
})

test('every parameter is of a type, or of a kind that some types are of', () => {
  const scalars = scalarNames.map(scalar)
  const types = [...scalars, ...scalars.map(array)]
  const strange = [...functions].flatMap(([name, { signatures }]) =>
    signatures
      .flatMap(({ parameters }) => parameters)
      .filter(({ kind }) => !/^(PART|MODE)$/.test(kind) && !types.some(type => isOfKind(type, kind)))
      .map(({ kind }) => `${name}: ${kind}`),
  )
  expect(strange).toEqual([])
})

test('parameters are read with what stands before and behind their kind', () => {
  expect(parametersOf('COMMON ORDERED, COMMON*, ARRAY<BYTES>?')).toEqual([
    { kind: 'ORDERED', common: true, times: '' },
    { kind: 'ANY', common: true, times: '*' },
    { kind: 'ARRAY<BYTES>', common: false, times: '?' },
  ])
})
