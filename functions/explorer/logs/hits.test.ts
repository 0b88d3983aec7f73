import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { countHits, hitsOf, partsOf } from './hits.ts'

const marked = (search: string, text: string) => {
  const hits = hitsOf(search)
  return hits && partsOf(text, hits).filter((_, i) => i % 2 === 1)
}

test('a text is found in any case, and its signs mean themselves', () => {
  expect(marked('get', 'GET | get | forget')).toEqual(['GET', 'get', 'get'])
  expect(marked('a.b*', 'a.b* axb')).toEqual(['a.b*'])
  expect(marked('nothing', 'GET')).toEqual([])
  expect(hitsOf('')).toBeNull()
})

test('between slashes it is a regular expression, as RE2 reads it', () => {
  expect(marked('/5\\d\\d/', 'GET 500, 503, 200')).toEqual(['500', '503'])
  expect(marked('/get/', 'GET get')).toEqual(['get'])
  expect(marked('/get/i', 'GET get')).toEqual(['GET', 'get'])
  expect(marked('/(?i)get/', 'GET get')).toEqual(['GET', 'get'])
  expect(marked('/(?P<code>\\d+)/', 'a 12')).toEqual(['12'])
  expect(marked('/x*/', 'axb')).toEqual(['x'])
})

test('what this browser cannot take, or not in time, marks nothing', () => {
  for (const search of ['/(/', '/\\pN+(?<!x/', '/(a+)+$/', '/(\\w*\\s?)*x/'])
    expect(hitsOf(search)).toBeNull()
})

test('the parts together are the text, whatever it is and whatever is looked for', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 1 }), (text, search) => {
      const hits = hitsOf(search)
      if (hits) expect(partsOf(text, hits).join('')).toBe(text)
    }),
  )
})

test('hits are counted over all rows and columns that are searched', () => {
  const rows = [{ text: 'GET GET', path: '/get' }, { text: null }]
  expect(countHits(rows, ['text'], hitsOf('get')!)).toBe(2)
  expect(countHits(rows, ['text', 'path'], hitsOf('get')!)).toBe(3)
})
