import { describe, expect, test } from '@jest/globals'
import { personalData } from './personal-data.ts'

const textsIn = (line: string) => personalData(line).map(({ text }) => text)

describe('the slow way finds', () => {
  test.each([
    ['from 203.0.113.7:443, user', ['203.0.113.7']],
    ['rhost=ec2-203-0-113-7.example.net', ['203-0-113-7']],
    ['h64-187-1-131.example.net', ['64-187-1-131']],
    ['82-68-222-195.dsl.example', ['82-68-222-195']],
    ['/0:0:0:0:0:0:0:0:2181:QuorumPeer@670]', ['0:0:0:0:0:0:0:0']],
    ['[2001:db8::1]:443 fe80::1%eth0', ['2001:db8::1', 'fe80::1']],
    ['via 00:11:43:e3:ba:c3', ['00:11:43:e3:ba:c3']],
    ['to <tom@example.com>, xpc_ben%40example.com/', ['tom@example.com', 'xpc_ben%40example.com']],
  ])('the members of %j', (line, texts) => {
    expect(textsIn(line)).toEqual(texts)
  })
})

test.each([
  '2005-07-15-23.49.42.308319',
  '20171224-1:2:35:789',
  'Package~~6.1.1.0 dll version 0.0.0.6',
  '"GET / HTTP/1.1" "Mozilla/5.0 Chrome/17.0.96.79"',
  'oid.1.2.840.113.5 gs_l=1.3.39.9gJ',
  'FF:F2:9F:16:E2:23:00:0D:60:E9:1D:DC',
  'src@aadmin1 a::b',
  'order 1-2-3-4',
])('the slow way finds nothing in %j', line => {
  expect(textsIn(line)).toEqual([])
})
