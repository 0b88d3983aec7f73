import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseCombined } from './access-log.ts'
import { BadEntry, entryReader, type Json } from './entries.ts'
import { tableColumns } from './parquet.ts'
import { anyCharacter } from '../../../shared/testing/characters.ts'
import { expectProcessorTime } from '../../../shared/testing/processor-time.ts'

const site = { project: 'shop', host: 'www.example.com' }
const read = entryReader(tableColumns('infra/tables', 'cloudflare.logs.prod'), field => {
  throw new Error(`unknown field ${field}`)
})

interface Parsed {
  timestamp: string
  event_message: string
  metadata: {
    request: Record<string, Json> & { headers: Record<string, Json>; cf: Record<string, Json> }
    response: { status_code: Json; headers: Record<string, Json> }
  }
}
const parse = (line: string) => parseCombined(line, site) as unknown as Parsed

/** A line of which only the named parts are other than usual. */
function line({
  client = '203.0.113.9',
  user = '-',
  time = '17/May/2015:10:05:03 +0000',
  request = 'GET /a/b?c=d HTTP/1.1',
  rest = '200 512',
  referer = 'https://example.com/',
  agent = 'curl/8.5.0',
}) {
  return `${client} - ${user} [${time}] "${request}" ${rest} "${referer}" "${agent}"`
}

describe('a line in the combined format', () => {
  test('becomes an entry at the edge', () => {
    expect(parse(line({}))).toEqual({
      timestamp: '17/May/2015:10:05:03 +0000',
      event_message: 'GET | 200 | 203.0.113.9 | - | https://www.example.com/a/b?c=d | curl/8.5.0',
      project: 'shop',
      metadata: {
        request: {
          method: 'GET',
          path: '/a/b',
          search: '?c=d',
          url: 'https://www.example.com/a/b?c=d',
          host: 'www.example.com',
          protocol: 'https:',
          cf: { httpProtocol: 'HTTP/1.1' },
          headers: {
            cf_connecting_ip: '203.0.113.9',
            x_real_ip: '203.0.113.9',
            host: 'www.example.com',
            referer: 'https://example.com/',
            user_agent: 'curl/8.5.0',
          },
          sb: null,
        },
        response: { status_code: 200, headers: { content_length: '512' } },
      },
    })
  })

  test.each([
    ['17/May/2015:10:05:03 +0000', '2015-05-17T10:05:03.000000Z'],
    ['17/May/2015:23:05:03 -0730', '2015-05-18T06:35:03.000000Z'],
    ['01/Jan/2016:00:30:00 +0200', '2015-12-31T22:30:00.000000Z'],
    ['29/Feb/2016:12:00:00 +0000', '2016-02-29T12:00:00.000000Z'],
  ])('of %s is an entry of %s', (time, expected) => {
    expect(read(parseCombined(line({ time }), site), 1).timestamp).toBe(expected)
  })

  test.each([
    '29/Feb/2015:12:00:00 +0000',
    '17/Mai/2015:10:05:03 +0000',
    '17/May/2015:25:05:03 +0000',
    '17/May/2015:10:05:03',
    '17/May/2015:10:05:03 +9900',
    '2015-05-17T10:05:03Z',
    '',
  ])('of %p is bad', time => {
    expect(() => read(parseCombined(line({ time }), site), 1)).toThrow(BadEntry)
  })

  test('may come from IPv6, from a user, from a name with brackets', () => {
    const { request } = parse(line({ client: '2001:db8::1', user: 'ada [the first] lovelace' })).metadata
    expect(request.headers).toMatchObject({ cf_connecting_ip: '2001:db8::1', x_real_ip: '2001:db8::1' })
    expect(request['sb']).toEqual({ auth_user: 'ada [the first] lovelace' })
  })

  test('may have the site and its port in front', () => {
    const { request } = parse(`www.example.com:443 ${line({ client: '2001:db8::1' })}`).metadata
    expect([request.headers['x_real_ip'], request['sb']]).toEqual(['2001:db8::1', null])
  })

  test('has null for -', () => {
    const { metadata, event_message } = parse(
      line({ client: '-', rest: '- -', referer: '-', agent: '-', request: '-' }),
    )
    expect(event_message).toBe('- | - | - | - | - | -')
    expect(metadata.response).toEqual({ status_code: null, headers: { content_length: null } })
    expect(metadata.request.headers).toMatchObject({
      cf_connecting_ip: null,
      referer: null,
      user_agent: null,
    })
  })

  test.each([
    [String.raw`a \"quoted\" \\ agent`, 'a "quoted" \\ agent'],
    [String.raw`\xe2\x82\xac and \x22`, '€ and "'],
    [String.raw`\xe4\xe5 is no UTF-8`, String.raw`\xe4\xe5 is no UTF-8`],
    [String.raw`tab\tline\n`, 'tab\tline\n'],
  ])('with the user agent %s means %p', (agent, expected) => {
    expect(parse(line({ agent })).metadata.request.headers['user_agent']).toBe(expected)
  })

  test.each([
    ['POST / HTTP/2', ['POST', '/', '', 'HTTP/2']],
    ['GET /a', ['GET', '/a', '', null]],
    ['GET /a b?c d HTTP/1.0', ['GET', '/a b', '?c d', 'HTTP/1.0']],
    ['GET /a?b?c HTTP/1.1', ['GET', '/a', '?b?c', 'HTTP/1.1']],
    ['GET http://other.example.com/x?y HTTP/1.1', ['GET', '/x', '?y', 'HTTP/1.1']],
    ['GET http://other.example.com HTTP/1.1', ['GET', '/', '', 'HTTP/1.1']],
    ['OPTIONS * HTTP/1.1', ['OPTIONS', '*', '', 'HTTP/1.1']],
    ['CONNECT db.example.com:443 HTTP/1.1', ['CONNECT', 'db.example.com:443', '', 'HTTP/1.1']],
  ])('with the request %s has method, path, search and protocol', (request, expected) => {
    const { method, path, search, cf } = parse(line({ request })).metadata.request
    expect([method, path, search, cf['httpProtocol']]).toEqual(expected)
  })

  test.each(['-', '', String.raw`\x16\x03\x01\x02`, 'hello there', 'GET', 't3 12.1.2'])(
    'with the request %p is kept, without a URL',
    request => {
      const { metadata, event_message } = parse(line({ request, rest: '400 0' }))
      expect(metadata.request).toMatchObject({ method: null, path: null, search: null, url: null })
      expect(metadata.response.status_code).toBe(400)
      expect(event_message).toMatch(/^- \| 400 \| 203\.0\.113\.9 \| - \| /)
    },
  )

  test('may lack referer and user agent, be cut within them, or go on after them', () => {
    const agentOf = (text: string) => parse(text).metadata.request.headers['user_agent']
    const common = line({}).split(' "https:')[0]!
    expect(agentOf(common)).toBeNull()
    expect(agentOf(`${common} "https://example.c`)).toBeNull()
    expect(agentOf(`${common} "-" "Mozilla/5.0 (comp`)).toBe('Mozilla/5.0 (comp')
    expect(agentOf(String.raw`${common} "-" "Mozilla\ `.trimEnd())).toBe('Mozilla')
    expect(agentOf(`${line({})} "198.51.100.7" 0.012`)).toBe('curl/8.5.0')
  })

  test.each([
    '',
    'hello',
    '203.0.113.9 - - "GET / HTTP/1.1" 200 1',
    line({ rest: '20 1' }),
    line({ rest: '200' }),
    line({ request: 'GET "/" HTTP/1.1' }),
    '{"timestamp":1}',
  ])('is not %p', text => {
    expect(() => parse(text)).toThrow(BadEntry)
  })

  test('of any text is an entry or a bad one', () => {
    const piece = fc.constantFrom(
      '"',
      '\\',
      ' ',
      '[',
      ']',
      '-',
      '17/May/2015:10:05:03 +0000',
      '200',
      '\\x4',
      '\u2028',
      'é',
    )
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(piece, { maxLength: 40 }).map(pieces => pieces.join('')),
    )
    const near = text.chain(noise =>
      fc.constantFrom(
        line({ agent: noise }),
        line({ request: noise }),
        line({ user: noise }),
        noise + line({}),
      ),
    )
    fc.assert(
      fc.property(fc.oneof(text, near), candidate => {
        try {
          read(parseCombined(candidate, site), 1)
        } catch (error) {
          expect(error).toBeInstanceOf(BadEntry)
        }
      }),
    )
  })

  test.each(['\\', '"', ' [', '[17/', 'x" ', ' ', 'a'])(
    'of nothing but %p takes no long time, and no great stack',
    async unit => {
      const noise = unit.repeat(199_000 / unit.length)
      // Milliseconds when the work is linear in the line, minutes when it is not.
      await expectProcessorTime(5_000, () => {
        for (const text of [noise, line({ user: noise }), line({ request: noise }), line({ agent: noise })]) {
          try {
            parse(text)
          } catch (error) {
            expect(error).toBeInstanceOf(BadEntry)
          }
        }
      })
    },
  )

  test('of a size that no web server writes is bad', () => {
    expect(() => parse(line({ agent: 'x'.repeat(200_000) }))).toThrow(
      new BadEntry('longer than 200000 characters'),
    )
  })
})
