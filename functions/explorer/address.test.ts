import { expect, test } from '@jest/globals'
import { readLink, writeLink } from './address.ts'

test('a link is read and written again', () => {
  const text = '#usage.api-counts?interval=daily&sql=SELECT+1&.row=5'
  expect(writeLink(readLink(text)!)).toBe(text)
})

test('the format in the address of a call is left out, as the page reads JSON', () => {
  expect(readLink('#usage.api-counts?interval=daily&format=csv')!.values).toEqual({ interval: 'daily' })
})
