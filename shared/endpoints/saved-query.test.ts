import { describe, expect, test } from '@jest/globals'
import { endpointFrom } from './definition-file.ts'
import { readParameters } from './parameters.ts'
import { queryFor, timeAsOf } from './saved-query.ts'

const endpoint = endpointFrom(
  'a.counts',
  {
    id: '00000000-0000-4000-8000-000000000001',
    description: 'Something to count.',
    parameters: {
      properties: { span: { type: 'string' }, size: { type: 'integer' } },
    },
    cache: { seconds: 900 },
    warm: { seconds: 300, query: 'a.warm.sql' },
    rollup: { query: 'a.rollup.sql', partition: 'minute' },
    answers: [
      { query: 'small.sql', when: { required: ['size'], properties: { size: { maximum: 9 } } } },
      {
        query: 'long.sql',
        batch: 'long.batch.sql',
        asOf: 'minute',
        when: { required: ['span'], properties: { span: { pattern: '^long$' } } },
      },
    ],
  },
  'own query',
  file => file,
)

function chosen(query: string) {
  const { sql, batch, rollups, asOf } = queryFor(endpoint, readParameters(endpoint, query, {}).bindings)
  return [sql, batch, rollups.map(({ name }) => name), asOf]
}

describe('a call is answered by', () => {
  test.each([
    ['span=long', ['long.sql', 'long.batch.sql', ['a.rollup'], 'minute']],
    ['size=9', ['small.sql', null, ['a.rollup'], null]],
    ['size=9&span=long', ['small.sql', null, ['a.rollup'], null]],
    ['size=10&span=long', ['long.sql', 'long.batch.sql', ['a.rollup'], 'minute']],
    ['size=10', ['own query', 'a.warm.sql', [], null]],
    ['span=longer', ['own query', 'a.warm.sql', [], null]],
    ['span=', ['own query', 'a.warm.sql', [], null]],
  ])('the first query whose `when` fits, else the endpoint’s own: %s', (query, expected) => {
    expect(chosen(query)).toEqual(expected)
  })
})

test('rows as of the minute are as of the last whole one', () => {
  const at = Date.parse('2026-03-10T12:30:59.999Z')
  expect(timeAsOf('minute', at)).toBe(Date.parse('2026-03-10T12:30:00Z'))
  expect(timeAsOf(null, at)).toBe(at)
})
