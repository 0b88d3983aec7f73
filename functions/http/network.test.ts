import { describe, expect, test } from '@jest/globals'
import { networkOf } from './network.ts'

describe('calls count for', () => {
  test.each([
    ['the client that the front end names', '192.0.2.1, 198.51.100.7', '198.51.100.7'],
    ['the connection, where none is named', '', '203.0.113.9'],
    ['a network of IPv6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['the same with zeros left out at its end', '2001:db8:1:2::6', '2001:db8:1:2'],
    ['one with zeros left out at its beginning', '2001:db8::6', '2001:db8:0:0'],
  ])('%s on Cloud Run', (_, forwarded, network) => {
    const headers = forwarded === '' ? {} : { 'x-forwarded-for': forwarded }
    expect(networkOf({ headers, socket: { remoteAddress: '203.0.113.9' } }, true)).toBe(network)
  })

  test('the connection alone elsewhere, as anyone may send the header', () => {
    const headers = { 'x-forwarded-for': '198.51.100.7' }
    expect(networkOf({ headers, socket: { remoteAddress: '::ffff:203.0.113.9' } }, false)).toBe(
      '::ffff:203.0.113.9',
    )
  })
})
