import { build } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, test } from '@jest/globals'
import type { Row, Value } from '../engines/engine.ts'
import { redactInTurns, redactionVersion, redactRows, redactText, versionOf } from './redact.ts'
import { ipv4, ipv6 } from './addresses.ts'
import { type NameKind, names } from './names.ts'
import { expectProcessorTime } from '../testing/processor-time.ts'
import { rounds } from '../testing/rounds.ts'

const redactValue = (value: Value): Value => redactRows([{ value }])[0]!['value']!

describe('a value', () => {
  test('is redacted in every string at any depth, and new only where something was found', () => {
    const value = { a: [{ b: ['203.0.113.7', 1, null, true, 'x'] }], c: { d: ['y'] } }
    const redacted = redactValue(value) as typeof value
    expect(redacted).toEqual({ a: [{ b: ['REDACTED', 1, null, true, 'x'] }], c: { d: ['y'] } })
    expect(value.a[0]!.b[0]).toBe('203.0.113.7')
    expect(redacted.c).toBe(value.c)
    expect(redactValue(value.c)).toBe(value.c)
  })

  test.each(['2001:db8::1', 12, true, null, [], {}])('may be of any form: %j', value => {
    expect(redactValue(value)).toEqual(typeof value === 'string' ? 'REDACTED' : value)
  })

  test('leaves numbers alone, but for those of payment cards', () => {
    const numbers = [0, -1, 1.5, 31612345678, 1700000000000000, 4111111111111112, Number.MAX_SAFE_INTEGER]
    expect(redactValue(numbers)).toBe(numbers)
    expect(redactValue({ n: 4111111111111111 })).toEqual({ n: 'REDACTED' })
  })
})

describe('a value under a personal name', () => {
  test.each([
    'cookie',
    'Set-Cookie',
    'AUTHORIZATION',
    'proxy_authorization',
    'x-api-key',
    'apikey',
    'apiKey',
    'x_real_ip',
    'xRealIp',
    'cf-connecting-ip',
    'true_client_ip',
    'x-forwarded-for',
    'X_CLIENT_IP',
    'remote_addr',
    'connection_from',
    'password',
    'db_password',
    'client_secret',
    'token',
    'access_token',
    'refreshToken',
    'userEmail',
    'phone_number',
  ])('is replaced in any form: %s', name => {
    expect(redactValue({ [name]: 'opaque' })).toEqual({ [name]: 'REDACTED' })
    expect(redactValue({ [name]: ['a', ['b'], 512] })).toEqual({
      [name]: ['REDACTED', ['REDACTED'], 'REDACTED'],
    })
  })

  test.each([
    'cf_ipcountry',
    'token_type',
    'session_id',
    'user_agent',
    'zip',
    'email_confirmed_at',
    'hash',
    'prefix',
    'key_id',
    'auth_user',
    'host',
    'max_tokens',
  ])('is another thing than one under %s', name => {
    expect(redactValue({ [name]: 'opaque' })).toEqual({ [name]: 'opaque' })
  })

  test('stays when it is empty, null, true or false', () => {
    const value = { token: '', cookie: null, email: true, phone: false }
    expect(redactValue(value)).toBe(value)
  })

  test('is replaced at any depth below it, but for what only describes it', () => {
    const value = { password: { value: 'a', type: 'b' }, token: [{ x: { y: ['c', 400] }, error: 'd' }] }
    expect(redactValue(value)).toEqual({
      password: { value: 'REDACTED', type: 'b' },
      token: [{ x: { y: ['REDACTED', 'REDACTED'] }, error: 'd' }],
    })
  })

  test.each(['pass\u200bword', 'to\u00adken', '\uff50assword', 'PASSWORD', 'PasSwOrd', 'pass word'])(
    'is known in every form of the name: %j',
    name => {
      expect(redactValue({ [name]: 'opaque' })).toEqual({ [name]: 'REDACTED' })
    },
  )

  test('stays a record of what describes it', () => {
    const apikey = [{ apikey: [{ prefix: 'sb_publishable_abc', error: null, hash: 'd41d8cd98f' }] }]
    const jwt = [{ authorization: [{ invalid: null, payload: [{ role: 'anon', session_id: 's' }] }] }]
    const value = { sb: [{ apikey, jwt }] }
    expect(redactValue(value)).toBe(value)
  })

  test('differs from a version, which looks like an address', () => {
    const value = { app_version: '1.2.3.4', sdkVersion: '1.2.3.4' }
    expect(redactValue(value)).toBe(value)
    expect(redactValue({ app_version: '1.2.3.4 at 203.0.113.7' })).toEqual({
      app_version: 'REDACTED at REDACTED',
    })
  })
})

test('a value nested 20,000 deep goes from where no answer goes so deep', () => {
  let value: Value = 'tom@example.com'
  for (let depth = 0; depth < 20_000; depth++) value = depth % 2 ? { a: value } : [value]
  const redacted = JSON.stringify(redactValue([value, 'x']))
  expect(redacted).toMatch(/"REDACTED".*"x"\]$/)
  expect(redacted.length).toBeLessThan(10_000)
})

describe('a key', () => {
  test('is text like any other', () => {
    expect(redactValue({ 'tom@example.com': 1, 'hits:203.0.113.7': { x: 2 } })).toEqual({
      REDACTED: 1,
      'hits:REDACTED': { x: 2 },
    })
  })

  test('is kept apart from others that become the same', () => {
    const value = { 'a@b.co': 1, REDACTED_2: 2, 'c@d.co': 3, REDACTED: 4, 'e@f.co': 5 }
    expect(Object.entries(redactValue(value) as object)).toEqual([
      ['REDACTED_3', 1],
      ['REDACTED_2', 2],
      ['REDACTED_4', 3],
      ['REDACTED', 4],
      ['REDACTED_5', 5],
    ])
  })

  test('is kept apart from thousands in a moment', async () => {
    const value = Object.fromEntries(Array.from({ length: 49_999 }, (_, at) => [`k${at}@example.com`, at])) // of a row, with its column
    let redacted: Value = null
    await expectProcessorTime(5_000, () => void (redacted = redactValue(value)))
    expect(Object.keys(redacted!).at(-1)).toBe('REDACTED_49999')
  })

  test('may be one that objects know: __proto__', () => {
    const value = JSON.parse('{"__proto__":"203.0.113.7","a@b.co":1}') as Value
    expect(JSON.stringify(redactValue(value))).toBe('{"__proto__":"REDACTED","REDACTED":1}')
  })

  test('is found in a later row as in the first', () => {
    const rows = [{ j: { a: 1 } }, { j: { 'a@b.co': 1, b: 2 } }, { j: { a: 3, b: 4 } }]
    expect(redactRows(rows)).toEqual([{ j: { a: 1 } }, { j: { REDACTED: 1, b: 2 } }, { j: { a: 3, b: 4 } }])
  })
})

describe('rows', () => {
  const row = (ip: string, agent: string) => ({
    id: '123e4567-e89b-12d3-a456-426614174000',
    timestamp: 1700000000000000,
    event_message: `GET | 200 | ${ip} | 84ab12cd34ef56a7 | https://example.com/?email=tom%40example.com | ${agent}`,
    metadata: [
      {
        request: [
          { headers: [{ cf_connecting_ip: ip, cf_ipcountry: 'DE', user_agent: agent, x_real_ip: ip }] },
        ],
      },
    ],
  })
  const agent = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'

  test('of the log tables lose addresses and e-mail addresses and nothing else', () => {
    const message = `GET | 200 | REDACTED | 84ab12cd34ef56a7 | https://example.com/?email=REDACTED | ${agent}`
    expect(redactRows([row('203.0.113.7', agent), row('2001:db8::1', agent)])).toEqual(
      [1, 2].map(() => ({ ...row('REDACTED', agent), event_message: message })),
    )
  })

  test('of the same form do not mix up their values', () => {
    const values = ['x', 'x', '203.0.113.7', '203.0.113.7', 'y', '', 'x', null, 512]
    expect(redactRows(values.map(a => ({ a, token: a })))).toEqual(
      values.map(a => ({
        a: a === '203.0.113.7' ? 'REDACTED' : a,
        token: a === '' || a === null ? a : 'REDACTED',
      })),
    )
  })

  test('lose the element of a list behind one that names it', () => {
    const [named, pairs] = [['mysql', '--password', 'hunter2', '-x'], [['Authorization', 'abc 1']]]
    expect(redactRows([{ named, pairs, names: ['--token', 5, 'email', 'tom'] }])).toEqual([
      {
        named: ['mysql', '--password', 'REDACTED', '-x'],
        pairs: [['Authorization', 'REDACTED']],
        names: ['--token', 5, 'email', 'tom'],
      },
    ])
  })

  test('are redacted in turns, so that others are served meanwhile', async () => {
    const rows = Array.from({ length: 4 }, (_, at) => ({ text: `${at} a203.0.113.7::1::%25 `.repeat(2_000) }))
    let turns = 0
    const others = setInterval(() => turns++, 0)
    const redacted = await redactInTurns(rows)
    clearInterval(others)
    expect(turns).toBeGreaterThan(1)
    expect(redacted).toEqual(redactRows(rows))
  })

  test('go whole beyond so much text that looking through it would hold up others, each row for itself', () => {
    const [most, more] = ['b '.repeat(124_000), 'c '.repeat(1_500)]
    const shown = redactRows([
      { most, more },
      { more, most: `${most}!` },
      { more, most: 'd' },
    ])
    expect(shown.map(row => Object.entries(row).map(([name, text]) => [name, text === 'REDACTED']))).toEqual([
      [
        ['most', false],
        ['more', true],
      ],
      [
        ['more', false],
        ['most', true],
      ],
      [
        ['more', false],
        ['most', false],
      ],
    ])
  })

  test('that went whole for the size of their row are read anew in a small one', () => {
    const [large, small] = ['b '.repeat(125_001), 'c']
    const row = { small, record: { name: small } }
    const shown = redactRows([
      { large, ...row },
      { large: small, ...row },
    ])
    expect(shown).toEqual([
      { large: 'REDACTED', small: 'REDACTED', record: { REDACTED: 'REDACTED' } },
      { large: small, ...row },
    ])
  })

  test('keep the names of their columns, which the query wrote', () => {
    expect(redactRows([{ 'a@b.co': 'x', token: 'y' }])).toEqual([{ 'a@b.co': 'x', token: 'REDACTED' }])
  })

  test('a name that a query gives says no more than that of the value did', () => {
    const given = new Map<string, NameKind>([
      ['tokens', 'datum'],
      ['token', 'number'],
      ['ip', 'secret'],
      ['x', 'secret'],
    ])
    const record = { hash: 'h', prefix: 'p', type: 't' }
    const kept = { hash: 'REDACTED', prefix: 'REDACTED', type: 't' }
    expect(redactRows([{ tokens: 5, token: 4.532015112830366, ip: record, x: record }], given)).toEqual([
      { tokens: 'REDACTED', token: 4.5320151, ip: kept, x: kept },
    ])
    expect(redactRows([{ tokens: 5, token: 1234 }])).toEqual([{ tokens: 5, token: 'REDACTED' }])
  })

  test('a text that is one JSON string is redacted as the text in it', () => {
    expect(redactText(JSON.stringify('password\t=\tzebra3'))).not.toContain('zebra3')
    expect(redactText('"GET / from 203.0.113.7"')).toBe('"GET / from REDACTED"')
  })

  test('are redacted as CSV and NDJSON as well', () => {
    expect(redactText('id,ip,mail\r\n1,203.0.113.7,tom@example.com\r\n2,"::1","a@b.co"\r\n')).toBe(
      'id,ip,mail\r\n1,REDACTED,REDACTED\r\n2,"REDACTED","REDACTED"\r\n',
    )
    expect(redactText('{"token":"abc"}\n{"ip":"203.0.113.7"}\n')).toBe(
      '{"token":"REDACTED"}\n{"ip":"REDACTED"}\n',
    )
  })
})

describe('the version of the policy', () => {
  const classes = [ipv4, ipv6]

  test('changes with every part of the tables', () => {
    const versions = [
      versionOf(classes, names),
      versionOf(classes.toReversed(), names),
      versionOf([{ ...ipv4, pattern: /x/g }, ipv6], names),
      versionOf([{ ...ipv4, marks: 0 }, ipv6], names),
      versionOf(classes, { ...names, secret: `${names.secret} pin` }),
    ]
    expect(new Set(versions).size).toBe(versions.length)
  })

  test('is the same in a bundle, minified or not', async () => {
    for (const minify of [false, true]) {
      const { outputFiles } = await build({
        entryPoints: ['shared/redact/redact.ts'],
        bundle: true,
        minify,
        format: 'esm',
        platform: 'node',
        write: false,
      })
      const source = encodeURIComponent(outputFiles[0]!.text)
      const bundled: unknown = await import(`data:text/javascript,${source}`)
      expect((bundled as { redactionVersion: string }).redactionVersion).toBe(redactionVersion)
    }
  })

  test('is that of the current tables, and not that of clear answers', () => {
    expect(redactionVersion).toMatch(/^[0-9a-f]{16}$/)
    expect(redactionVersion).not.toBe(versionOf(classes, names))
  })
})

/** Pieces of texts that are easily confused; a tilde stands for a space. */
const fragments =
  '203.0.113.7 2001:db8::1 ::1 fe80::1%eth0 ::ffff:1.2.3.4 tom@example.com +31612345678 eyJhbGciOiJIUzI1NiJ9 ~ \n \r\n ' +
  '4111111111111111 4111~1111~1111~1111 DE89370400440532013000 Chrome/ tom example.com cookie token password ip email ' +
  'authorization version v Bearer~ Basic~ dXNlcjpwYXNz abc123 REDACTED null $1 1 12 a x \\n %40 %3A %20 %3D "" \\" // :: :~ ' +
  'PASSWORD IDENTIFIED~BY --password 00:1b:44:11:3a:b7 ip-10-0-0-5 1-2-3-4 host %22 %27 \\u0022 \\u003d ~ Some( ' +
  '\u200b \uff20 \uff0d \uff11 \u00a0 eyj12 [] [0] "password":{ "a":{ forwarded-for:~ for= ' +
  '@ . : = % \\ " \' + - _ / [ ] { } , ; & ? # | ( ) < >'
const fragment = fc.constantFrom(...fragments.split(/ /).map(part => part.replaceAll('~', ' ')))
const text = fc
  .array(fc.oneof({ weight: 5, arbitrary: fragment }, fc.string({ maxLength: 3 })), {
    maxLength: 12,
  })
  .map(parts => parts.join(''))

describe('any text', () => {
  test('is redacted as the first time when it comes again', () => {
    const again = 'x token={"a": "x1y2z3"} and "token": {"type": "b"} z'
    for (let time = 0; time < 2; time++)
      expect(redactText(again)).toBe('x token=REDACTED and "token": {"type": "b"} z')
  })

  test('goes as a whole where it takes too much work, and an ordinary one beside it does not', () => {
    const names = 'token={type:'.repeat(4_000)
    expect(redactText(names)).toBe('REDACTED')
    expect(redactRows([{ a: names, b: 'x token={"a": "x1y2z3"} y' }])).toEqual([
      { a: 'REDACTED', b: 'x token=REDACTED y' },
    ])
  })

  test('in a record of a row with more names than any goes with the record, and one beside it does not', () => {
    const named = (count: number, start = 'k') =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${start}${n}`, 1]))
    const others = { b: '203.0.113.7', c: 1 }
    const wide: Row = { a: named(51_000), ...others }
    const deep: Row = { a: { b: [{ d: named(51_000) }] }, ...others }
    for (const row of [wide, deep])
      expect(redactRows([row, others])).toEqual([
        { a: 'REDACTED', b: 'REDACTED', c: 1 },
        { b: 'REDACTED', c: 1 },
      ])
    const lists = redactRows([{ a: Array.from({ length: 51_000 }, (_, n) => named(1, `k${n}`)) }])
    expect((lists[0]!['a'] as Value[]).slice(49_990).filter(each => each !== 'REDACTED')).toHaveLength(9)
    const columns = Object.fromEntries('abcdefgh'.split('').map(name => [name, named(10_000, name)]))
    expect(Object.values(redactRows([columns])[0]!).filter(each => each === 'REDACTED')).toHaveLength(4)
    const alike: Row = { a: Array.from({ length: 51_000 }, () => ({ b: 1, c: 2 })) }
    expect(redactRows([alike])[0]!['a']).toBe(alike['a'])
  })

  test('is the same redacted once and twice', () => {
    fc.assert(
      fc.property(text, any => {
        const once = redactText(any)
        expect(redactText(once)).toBe(once)
      }),
      { numRuns: rounds(200, 20_000), seed: 1 },
    )
  })

  test('is redacted without a throw, also with half a surrogate pair', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(0xffff)),
        codes => typeof redactText(String.fromCharCode(...codes, 0xd800)) === 'string',
      ),
    )
  })

  test('in JSON leaves it JSON, the same redacted once and twice', () => {
    fc.assert(
      fc.property(
        fc.object({
          key: text,
          values: [text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)],
        }),
        any => {
          const once = redactText(JSON.stringify(any))
          expect(() => JSON.parse(once)).not.toThrow()
          expect(redactText(once)).toBe(once)
        },
      ),
      { numRuns: rounds(60, 5_000), seed: 1 },
    )
  })

  test('any JSON value is the same redacted once and twice', () => {
    fc.assert(
      fc.property(fc.object({ key: text, values: [text, fc.integer(), fc.constant(null)] }), any => {
        const once = redactValue(any as Value)
        expect(redactValue(once)).toEqual(once)
      }),
      { seed: 1 },
    )
  })
})

describe('the time of a long text is not that of a search that begins again at each place, of', () => {
  /** Characters. */
  const [long, longMixture] = [rounds(60_000, 300_000), rounds(30_000, 100_000)]
  /** A tilde stands for a space. */
  const repeated =
    'a 1 . : % @ \\ " - ~ _a 1. 1.1.1.1. 1: ::1 a@ a@a.b1. %3A +1~2345~ 4111~ DE89~3704~ -eyJ Bearer~a cookie:~ cookie=" ' +
    'password=\'\' "token":[" //a "[::1 fe80::1% ::1.1.1.1 \\u00 Chrome/1.1.1.1~ Ab/1.1.1.1~ [0; \ud800 REDACTED: ' +
    "1- a-1-1-1-1- 00:11: 00-aa- a.1.1.1.1 abcd.ef01. password~' set~password~for~ password~$a$ --token~ identified~by~ " +
    'eyj_ sbp_ eyj-a BASIC~abcd password=a[b][ a[b][c] "jwt":{"hash": password={ "token":[[ \u200b \uff11. \uff0b1 +1((1 +1~(1 ' +
    'forwarded-for:~a, forwarded=for=a;for= forwarded:" [a] ' +
    '["cookie:~a=\\"b\\"", "cookie:~x"" ' +
    "'cookie:~x''\n 'cookie:~x''\\n token~in~('a', a)=( " +
    '-----BEGIN~PRIVATE~KEY----- a:b@ a:b@tcp( x://a: //a: tcp://10.0.0.5:6379, \\\\u0022 %2525 token=Some( A/1.1~ token=a.b token=a(b~ password=a( password=(a)b x://a:b@c@ POINT( tokens=1,111 pass:~ passphrase=a~b~ token:\n~-~a1\n~-~ ' +
    '[]string{"pwd=a, {"a":\'token=REDACTED token=REDACTED["token","a", []string{"secret=a& token~in~(\'passphrase=a~ ' +
    "x-forwarded-for:~set_config('a',' token:~Some(10.0.0.1'\\'' /eyJv1.2.3.4- ~token:\n~~type:~b\n~~token:\n token~=>~Array\n(\n password~in~(\n' aa:bb:cc:dd:ee:ff:%401 ::\uff20 :::\uff13:::::::::::&#64; ::1::::::::::::::::::::%40 \u200bg::::::::::::::::::::@ a::::::::::::::::::::::::::::::x%40 ::1:::%40::"

  test.each(repeated.split(' '))('%j over and over', async part => {
    const piece = part.replaceAll('~', ' ')
    // Some 2 to 60 ms where the work is linear, seconds where it is not; of 300 KB minutes.
    await expectProcessorTime(long / 200, () => redactText(`${piece.repeat(long / piece.length)}@x`))
  })

  test('any few pieces over and over, within 20 KB 2 us a character and as much again', async () => {
    const pieces = [
      ...repeated.split(' ').map(part => part.replaceAll('~', ' ')),
      ...fragments.split(/ /),
    ].filter(Boolean)
    const run = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(run, run, fc.integer({ min: 2_000, max: 20_000 }), async (one, other, length) => {
        const half = (parts: string[]) => parts.join('').repeat(length / 2 / parts.join('').length + 1)
        await expectProcessorTime(80, () => redactText(half(one) + half(other)))
      }),
      { numRuns: rounds(40, 2_000), seed: 2, endOnFailure: true },
    )
  })

  test('any few pieces over and over, as far as tried', async () => {
    const pieces = [...repeated.split(' ').map(part => part.replaceAll('~', ' ')), ...fragments.split(/ /)]
    const mixture = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 })
    const ending = fc.constantFrom('@x', ' a@b.co', "'", '}')
    await fc.assert(
      fc.asyncProperty(mixture, ending, async (parts, end) => {
        const piece = parts.join('')
        const text = piece.repeat(longMixture / piece.length) + end
        await expectProcessorTime(longMixture / 100, () => redactText(text))
      }),
      { numRuns: rounds(20, 1_000), seed: 1, endOnFailure: true },
    )
  })
})
