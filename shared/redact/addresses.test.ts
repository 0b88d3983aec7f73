/** Addresses in all their forms and surroundings, as `node:net` knows them. */
import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from '@jest/globals'
import { redactText } from './redact.ts'

type Groups = number[]
const octets = fc.tuple(...Array.from({ length: 4 }, () => fc.nat(255)))
const groups: fc.Arbitrary<Groups> = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), {
  minLength: 8,
  maxLength: 8,
})

const hex = (group: number) => group.toString(16)

/** Every way to write the same address. */
const printers: Record<string, (address: Groups) => string> = {
  full: address => address.map(hex).join(':'),
  padded: address => address.map(group => hex(group).padStart(4, '0')).join(':'),
  'in capitals': address => address.map(hex).join(':').toUpperCase(),
  'compressed at the start': address => `::${address.slice(3).map(hex).join(':')}`,
  'compressed in the middle': address =>
    `${address.slice(0, 3).map(hex).join(':')}::${address.slice(5).map(hex).join(':')}`,
  'compressed at the end': address => `${address.slice(0, 5).map(hex).join(':')}::`,
  'ending in IPv4': address =>
    `${address.slice(0, 6).map(hex).join(':')}:${address
      .slice(6)
      .flatMap(group => [group >> 8, group & 255])
      .join('.')}`,
  'mapped from IPv4': address =>
    `::ffff:${address
      .slice(6)
      .flatMap(group => [group >> 8, group & 255])
      .join('.')}`,
}

const surroundings: [before: string, after: string][] = [
  ['', ''],
  ['from ', ' to'],
  ['(', ')'],
  ['"', '"'],
  ["'", "'"],
  ['<', '>'],
  ['a=', '&b=1'],
  ['a%3D', '%26'],
  ['{"a":"', '"}'],
  ['{\\"a\\":\\"', '\\"}'],
  ['\\n', '\\r\\n'],
  ['x, ', ', y'],
  ['| ', ' |'],
  ['seen ', '.'],
  ['seen ', '. Next'],
  ['seen ', ': refused'],
  ['http://', '/path'],
  ['адрес ', ' узел'],
  ['\ud83d\ude00', '\ud83d\ude00'],
]

const inSurroundings = fc.constantFrom(...surroundings)

function isTakenOut(address: string, [before, after]: [string, string]): void {
  expect(redactText(before + address + after)).toBe(`${before}REDACTED${after}`)
}

describe('an IPv4 address', () => {
  test('is taken out of every surrounding', () => {
    fc.assert(fc.property(fc.ipV4(), inSurroundings, isTakenOut))
  })

  test('leaves its port, and takes its range with it', () => {
    fc.assert(
      fc.property(octets, fc.nat(65535), fc.nat(32), (four, port, bits) => {
        isTakenOut(four.join('.'), ['', `:${port}`])
        isTakenOut(`${four.join('.')}/${bits}`, ['allow ', ';'])
      }),
    )
  })

  test('may have octets of three digits each', () => {
    fc.assert(
      fc.property(octets, inSurroundings, (four, around) =>
        isTakenOut(four.map(octet => String(octet).padStart(3, '0')).join('.'), around),
      ),
    )
  })
})

describe('an IPv4 address in the name of a host', () => {
  const octet = fc.oneof(fc.nat(255), fc.nat(9))
  const name = fc
    .stringMatching(/^[a-z]{2,8}$/)
    .filter(word => !/^(?:ver$|version$|release$|jdk$|jre$|ey)/.test(word))
  const address = fc.tuple(fc.integer({ min: 1, max: 255 }), octet, octet, octet)

  test('is taken out, joined by dots or hyphens, before a domain and after a word', () => {
    fc.assert(
      fc.property(address, name, inSurroundings, (four, word, [before, after]) => {
        for (const sign of ['.', '-']) {
          const text = four.join(sign)
          isTakenOut(text, [`${before}${word}`, `.example.net${after}`])
          isTakenOut(text, [`${before}${word}-`, `.example.net${after}`])
        }
        isTakenOut(four.join('-'), [`${before}${word}-`, after.startsWith('.') ? '' : after])
      }),
    )
  })

  test('is none after a word for a version', () => {
    fc.assert(
      fc.property(address, fc.constantFrom('v', 'ver', 'version', 'release'), (four, word) => {
        const texts = [
          `app ${word}${four.join('.')}`,
          `app-${word}${four.join('-')}`,
          `${word}-${four.join('-')}`,
        ]
        for (const text of texts) expect(redactText(text)).toBe(text)
      }),
    )
  })
})

describe('a MAC address', () => {
  const pairs = fc.array(fc.nat(255), { minLength: 6, maxLength: 6 })
  const inHex = (octets: number[]) => octets.map(octet => octet.toString(16).padStart(2, '0'))

  test('is taken out of every surrounding, in each of its forms', () => {
    fc.assert(
      fc.property(pairs, inSurroundings, (octets, around) => {
        const hexadecimal = inHex(octets)
        isTakenOut(hexadecimal.join(':'), around)
        isTakenOut(hexadecimal.join(':').toUpperCase(), around)
        if (/[a-f]/.test(hexadecimal.join(''))) isTakenOut(hexadecimal.join('-'), around)
      }),
    )
  })

  test('is none in a fingerprint of 12, 16 or 20 octets', () => {
    const count = fc.constantFrom(12, 16, 20)
    const fingerprint = count.chain(length => fc.array(fc.nat(255), { minLength: length, maxLength: length }))
    fc.assert(
      fc.property(fingerprint, octets => {
        const text = `fingerprint ${inHex(octets).join(':')} of`
        expect(redactText(text)).toBe(text)
      }),
    )
  })
})

describe('any member', () => {
  const member = fc.constantFrom(
    '203.0.113.7',
    '2001:db8::1',
    'tom@example.com',
    '00:1b:44:11:3a:b7',
    '+31612345678',
    'Bearer abc123',
    'password=hunter2',
    "PASSWORD 'hunter2'",
    '{"token":"hunter2"}',
    'postgres://user:hunter2@db',
  )
  const secret = /203\.0|2001:|tom|00:1b|316123|abc123|hunter2/
  const escapes: Record<string, (text: string) => string> = {
    'in a URL': encodeURIComponent,
    'in a URL in a URL': text => encodeURIComponent(encodeURIComponent(text)),
    'in JSON': text => JSON.stringify({ text }),
    'in JSON in JSON': text => JSON.stringify({ text: JSON.stringify({ text }) }),
    'in JSON of ASCII letters and digits': text =>
      text.replaceAll(/[^\w. ]/g, sign => `\\u00${sign.charCodeAt(0).toString(16)}`),
    'between wildcards': text => `LIKE '%${text}%'`,
  }

  test.each(Object.entries(escapes))('is taken out %s', (_, write) => {
    fc.assert(
      fc.property(member, member, (one, other) => {
        expect(
          decodeURIComponent(redactText(write(`${one} and ${other}`)).replaceAll(/%(?![2-7])/g, ' ')),
        ).not.toMatch(secret)
      }),
    )
  })
})

/** Names in programs: see `addresses.ts`. */
const isName = (address: string) => /^[a-f]{0,4}::[a-f]{0,4}$/i.test(address)

describe('an IPv6 address', () => {
  test('as Node.js and fast-check know it, is taken out of every surrounding', () => {
    fc.assert(
      fc.property(
        fc.ipV6().filter(address => isIP(address) === 6 && !isName(address)),
        inSurroundings,
        isTakenOut,
      ),
    )
  })

  test.each(Object.entries(printers))('%s, is taken out of every surrounding', (_, print) => {
    fc.assert(
      fc.property(groups.map(print), inSurroundings, (address, around) => {
        expect(isIP(address)).toBe(6)
        if (!isName(address)) isTakenOut(address, around)
      }),
    )
  })

  test('goes with its brackets, zone and range, and leaves its port', () => {
    fc.assert(
      fc.property(groups.map(printers['full']!), fc.nat(65535), fc.nat(128), (address, port, bits) => {
        isTakenOut(`[${address}]`, ['http://', `:${port}/`])
        isTakenOut(`[${address}%25eth0]`, ['http://', `:${port}/`])
        isTakenOut(`${address}%eth0`, ['', ' up'])
        isTakenOut(`${address}/${bits}`, ['route ', ' via'])
        isTakenOut(address, ['', `:${port}`])
      }),
    )
  })

  test('is taken out with its colons encoded, once or twice', () => {
    fc.assert(
      fc.property(groups.map(printers['compressed in the middle']!), address => {
        isTakenOut(address.replaceAll(':', '%3A'), ['a=', '&b'])
        isTakenOut(address.replaceAll(':', '%253a'), ['a%3D', '%26b'])
      }),
    )
  })
})

describe('a text of the characters of addresses', () => {
  const characters = fc.constantFrom(
    ...'0123456789abcdef::::....  ,"[]='.split(''),
    '1.2.3.4',
    '2001:db8::',
    '::1',
    'ffff',
  )
  const wholeRun = /(?<![\w:.])[0-9a-f:.]+(?![\w:.])/gi

  test('has none left that Node.js takes for one', () => {
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 40 }), parts => {
        const left = redactText(parts.join('')).match(wholeRun) ?? []
        expect(left.filter(run => isIP(run) !== 0 && !isName(run))).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })
})
