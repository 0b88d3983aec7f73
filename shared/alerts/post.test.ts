/** No form of an address that is not on the internet is posted to. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isLoopback, isPublic } from './post.ts'
import { deliveries, failureOf } from './testing/delivering.ts'
import { type Receiver, startReceiver } from './testing/receiver.ts'

const addresses = {
  'this network': ['0.0.0.0', '0.255.255.255', '::'],
  'this machine': ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::127.0.0.1'],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    'fc00::1',
    'fdff::1',
  ],
  'behind a provider’s NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  'link-local, and metadata': [
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    '168.63.129.16',
    'fe80::1',
    'febf::1',
    'fd00:ec2::254',
    'fe80::1%eth0',
  ],
  'site-local of before': ['fec0::1'],
  'for documents, benchmarks and protocols': [
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '2001:db8::1',
    '3fff::1',
    '2001:2::1',
    '2001:20::1',
    '5f00::1',
    '100::1',
  ],
  'for many, or reserved': ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'ff02::1'],
  'IPv4 within IPv6': [
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '64:ff9b:1::a00:1',
    '2002:a00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '::ffff:0:10.0.0.1',
  ],
  'no address': [
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '8.8.8.8 ',
    '8.8.8',
    '08.8.8.8',
    '1.2.3.4.5',
    '[::1]',
  ],
}

const internet = [
  '1.0.0.0',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '199.36.153.8',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001::200e',
  '2003::1',
  '3ffe::1',
]

describe('an address', () => {
  test.each(Object.entries(addresses))('is not public where it is %s', (_, list) => {
    expect(list.filter(isPublic)).toEqual([])
  })

  test('is public up to the edges of what is not', () => {
    expect(internet.filter(address => !isPublic(address))).toEqual([])
  })

  test('is this machine by any of its numbers', () => {
    const here = ['127.0.0.1', '127.255.255.255', '::1']
    const others = [
      '126.255.255.255',
      '128.0.0.0',
      '::',
      '::2',
      '0.0.0.0',
      '::ffff:127.0.0.1',
      'localhost',
      '',
    ]
    expect([...here, ...others].filter(isLoopback)).toEqual(here)
  })
})

const refused = {
  message: expect.stringMatching(
    /^channel hook: it(s address is not https| is on this machine| is in a private network)/,
  ),
}

describe('a channel’s URL', () => {
  let receiver: Receiver
  beforeAll(async () => void (receiver = await startReceiver({ secure: false })))
  afterAll(() => receiver.close())

  /** Its first bytes say that an address is not public. */
  const inside = [
    [0],
    [10],
    [127],
    [100, 64],
    [169, 254],
    [172, 16],
    [172, 31],
    [192, 168],
    [198, 18],
    [224],
    [255],
  ]
  const bytes = fc
    .tuple(
      fc.constantFrom(...inside, [127, 0, 0, 1], [169, 254, 169, 254]),
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
    )
    .map(([first, rest]) => [...first, ...rest].slice(0, 4))
  const number = fc.constantFrom<(value: number) => string>(
    value => String(value),
    value => `0x${value.toString(16)}`,
    value => `0X${value.toString(16).padStart(9, '0')}`,
    value => `0${value.toString(8)}`,
  )
  const hex = (a: number, b: number) => ((a << 8) | b).toString(16)

  /** The forms that a parser of URLs takes for an IPv4 address, and those of IPv6 that hold one. */
  const form = fc
    .tuple(bytes, fc.array(number, { minLength: 4, maxLength: 4 }), fc.nat(17))
    .map(([[a, b, c, d], as, kind]) => {
      const [w, x, y, z] = [a!, b!, c!, d!]
      const whole = ((w << 24) | (x << 16) | (y << 8) | z) >>> 0
      const dotted = [w, x, y, z].map((value, at) => as[at]!(value)).join('.')
      const two = `${hex(w, x)}:${hex(y, z)}`
      const forms = [
        dotted,
        `${dotted}.`,
        as[0]!(whole),
        `${as[0]!(w)}.${as[1]!(whole & 0xffffff)}`,
        `${as[0]!(w)}.${as[1]!(x)}.${as[2]!(whole & 0xffff)}`,
        dotted.replaceAll('.', '。'),
        dotted.replaceAll(/\d/g, digit => String.fromCodePoint(0xff10 + Number(digit))),
        dotted.replaceAll('.', '%2e'),
        dotted.replace(/\d/, digit => `%3${digit}`),
        `[::ffff:${w}.${x}.${y}.${z}]`,
        `[::${w}.${x}.${y}.${z}]`,
        `[::ffff:${two}]`,
        `[::ffff:0:${two}]`,
        `[64:ff9b::${two}]`,
        `[64:ff9b:1::${two}]`,
        `[2002:${two}::1]`,
        `[0:0:0:0:0:ffff:${two}]`,
        `[fe80::${two}]`,
      ]
      return forms[kind]!
    })

  test('is refused in every form of an address that is not public, and resolves nothing for it', async () => {
    const resolve = () => Promise.reject(new Error('was resolved'))
    await fc.assert(
      fc.asyncProperty(form, fc.constantFrom('https', 'http'), async (name, protocol) => {
        const url = `${protocol}://${name}:${receiver.port}/`
        const channels = { hook: { kind: 'webhook' as const, url, secret: 'HOOK_SECRET' } }
        const deliver = await deliveries(channels, { alertsToLoopback: false, resolve })
        expect(await failureOf(deliver())).toMatchObject(refused)
      }),
      { numRuns: 500 },
    )
    expect(receiver.connections).toBe(0)
  })

  test('is refused where one of a name’s addresses is not public, wherever it stands', async () => {
    const all = Object.entries(addresses).flatMap(([, list]) => list)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...all),
        fc.shuffledSubarray(internet),
        fc.nat(30),
        async (bad, good, at) => {
          const list = good.toSpliced(at, 0, bad)
          const resolve = async () =>
            list.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
          const channels = {
            hook: { kind: 'webhook' as const, url: 'https://hooks.example.test/', secret: 'HOOK_SECRET' },
          }
          const deliver = await deliveries(channels, { alertsToLoopback: false, resolve })
          expect(await failureOf(deliver())).toMatchObject(refused)
        },
      ),
      { numRuns: 200 },
    )
  })
})
