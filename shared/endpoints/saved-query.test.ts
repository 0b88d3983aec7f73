import { describe, expect, test } from '@jest/globals'
import { endpointIn, fieldsOf } from './definition.ts'
import { endpointFrom } from './definition-file.ts'
import { readParameters } from './parameters.ts'
import { queryFor } from './saved-query.ts'

const endpoint = endpointFrom(
  'a.counts',
  {
    id: '00000000-0000-4000-8000-000000000001',
    description: 'Something to count.',
    parameters: {
      properties: { span: { type: 'string' }, size: { type: 'integer' } },
    },
    cache: { seconds: 900 },
    warm: { seconds: 300 },
    rollup: [
      {
        query: 'a.rollup.sql',
        from: 'small.sql',
        when: { required: ['size'], properties: { size: { maximum: 9 } } },
      },
      {
        query: 'b.rollup.sql',
        from: 'long.sql',
        when: { required: ['span'], properties: { span: { pattern: '^long$' } } },
      },
    ],
  },
  'own query',
  file => file,
)

function chosen(query: string, of = endpoint) {
  const { sql, rollups } = queryFor(of, readParameters(of, query, {}).bindings)
  return [sql, rollups.map(({ name }) => name)]
}

describe('a call is answered by', () => {
  test.each([
    ['span=long', ['long.sql', ['a.rollup', 'b.rollup']]],
    ['size=9', ['small.sql', ['a.rollup', 'b.rollup']]],
    ['size=9&span=long', ['small.sql', ['a.rollup', 'b.rollup']]],
    ['size=10&span=long', ['long.sql', ['a.rollup', 'b.rollup']]],
    ['size=10', ['own query', []]],
    ['span=longer', ['own query', []]],
    ['span=', ['own query', []]],
  ])('the first query whose `when` fits, else the endpoint’s own: %s', (query, expected) => {
    expect(chosen(query)).toEqual(expected)
  })
})

test('a definition that was stored with batch queries and values apart answers, and is warmed, without them', () => {
  const [first, second] = endpoint.answers
  const answers = [
    { ...first!, batch: null },
    { ...second!, batch: 'long.batch.sql' },
  ]
  const warm = { ...endpoint.warm!, sql: 'a.warm.sql', apart: { span: ['long'] } }
  const stored = endpointIn(fieldsOf({ ...endpoint, answers, warm }))
  expect(stored.version).toBe(endpoint.version)
  expect(['span=long', 'size=9', ''].map(query => chosen(query, stored))).toEqual(
    ['span=long', 'size=9', ''].map(query => chosen(query)),
  )
})

test('a definition that was stored with a time as of which its rows are (asOf) answers by the same query', () => {
  const answers = endpoint.answers.map(answer => ({ ...answer, asOf: 'minute' }))
  const stored = endpointIn(fieldsOf({ ...endpoint, answers }))
  expect(chosen('span=long', stored)).toEqual(chosen('span=long'))
})
