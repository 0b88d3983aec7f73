import { expect, test } from '@jest/globals'
import { foundIn } from './choices.ts'
import { synonymsOf } from './synonyms.ts'

/** Of the palette, as a person who types this finds them. */
const found = (sought: string) => {
  const names = [
    'Copy link',
    'CSV of rows shown',
    'Follow new rows',
    'Order of values and patterns: what rose most first',
    'Range: Last hour',
    'Range: Yesterday',
    'Redact personal data',
    'Show in the chart: share of 5xx',
    'Theme: dark',
    'Values of: path',
  ]
  return foundIn(
    names.map(name => [name, name, '', synonymsOf(name)]),
    sought,
  ).map(([value]) => value)
}

test('what has the words in its name comes before what has them in its synonyms', () => {
  expect(found('share')).toEqual(['Show in the chart: share of 5xx', 'Copy link'])
})

test.each([
  ['live tail', 'Follow new rows'],
  ['export', 'CSV of rows shown'],
  ['PII', 'Redact personal data'],
  ['time hour', 'Range: Last hour'],
  ['sort change', 'Order of values and patterns: what rose most first'],
  ['group by path', 'Values of: path'],
  ['night', 'Theme: dark'],
  ['error rate', 'Show in the chart: share of 5xx'],
])('%s finds %s', (sought, name) => expect(found(sought)[0]).toBe(name))

test('all words have to be there, of a name without synonyms in the name', () => {
  expect(found('share nothing')).toEqual([])
  expect(found('')).toHaveLength(10)
  expect(synonymsOf('Other: dark').trim()).toBe('')
})
