import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import type { ParameterDefinition } from './definition.ts'
import { endpointFrom } from './definition-file.ts'
import { ApiError } from '../errors.ts'
import { misfitOf, presentFor, readParameters, someOf } from './parameters.ts'
import { readSingle } from './query-string.ts'
import { expectProcessorTime } from '../testing/processor-time.ts'

const id = '00000000-0000-4000-8000-000000000001'

function endpoint(properties: Record<string, ParameterDefinition>, required: string[] = []) {
  return endpointFrom(
    'some.endpoint',
    { id, description: 'd', parameters: { properties, required } },
    'SELECT 1',
  )
}

const everyKind = endpoint(
  {
    project: { type: 'string', maxLength: 10 },
    interval: { type: 'string', enum: ['hourly', 'daily'] },
    since: { type: 'string', format: 'iso-timestamp' },
    limit: { type: 'integer', minimum: 1, maximum: 50, default: 20 },
    ratio: { type: 'number' },
    errors: { type: 'boolean' },
    note: { type: 'string' },
  },
  ['project'],
)

function values(query: string, pins: Record<string, string> = {}) {
  return Object.fromEntries(
    readParameters(everyKind, query, pins).bindings.map(({ name, value }) => [name, value]),
  )
}

function refusal(query: string, pins: Record<string, string> = {}): ApiError {
  try {
    readParameters(everyKind, query, pins)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('expected a refusal')
}

describe('whose values a call has', () => {
  const broken = endpoint({
    limit: { type: 'integer', maximum: 50, default: 200 },
    since: { type: 'string', format: 'iso-timestamp', default: 'yesterday' },
    kind: { type: 'string', enum: ['a'], default: 1 },
  })
  const codeOf = (query: string, pins: Record<string, string> = {}) => {
    try {
      return readParameters(broken, query, pins).sent
    } catch (error) {
      return (error as ApiError).code
    }
  }

  test('is the caller’s where it sent them, neither for defaults nor for pins', () => {
    expect(readParameters(everyKind, 'project=abc&ratio=1&note=', {}).sent).toEqual(['project', 'ratio'])
    expect(readParameters(everyKind, 'project=abc&ratio=1', { project: 'abc' }).sent).toEqual(['ratio'])
  })

  test('is the definition’s for a default that does not fit: no 4xx, but for what the caller sent', () => {
    const sound = 'limit=1&since=2026-01-01&kind=a'
    expect(codeOf(sound)).toEqual(['limit', 'since', 'kind'])
    for (const name of ['limit', 'since', 'kind'])
      expect(codeOf(sound.replace(new RegExp(`${name}=[^&]*`), ''))).toBe('internal')
    expect(codeOf('limit=999')).toBe('invalid_parameter')
    expect(codeOf('limit=%ff&since=2026-01-01&kind=a')).toBe('invalid_parameter')
  })

  test('is the key’s for a pin that does not fit', () => {
    expect(codeOf('since=2026-01-01&kind=a', { limit: '51' })).toBe('pinned_parameter')
    expect(codeOf('since=2026-01-01&kind=a', { limit: 'many' })).toBe('pinned_parameter')
  })

  test('a default that is a time is bound like one that is sent', () => {
    const timed = endpoint({ since: { type: 'string', format: 'iso-timestamp', default: '2026-01-01' } })
    expect(readParameters(timed, '', {}).canonical).toBe(
      readParameters(timed, 'since=2026-01-01', {}).canonical,
    )
  })
})

describe('parameters', () => {
  test('are typed as declared, and absent ones are NULL or their default', () => {
    expect(values('project=abc&interval=daily&since=2026-01-31T01:00%2B01:00&ratio=.5&errors=TRUE')).toEqual({
      project: 'abc',
      interval: 'daily',
      since: '2026-01-31T00:00:00.000000Z',
      limit: 20,
      ratio: 0.5,
      errors: true,
      note: null,
    })
  })

  test('that are times may be relative, also as pins, and show what they stand for', () => {
    const now = new Date('2026-01-31T12:00:00.250Z')
    const read = (query: string, pins = {}) => readParameters(everyKind, `project=a&${query}`, pins, now)
    expect(read('since=-1h').resolved).toEqual({ since: '2026-01-31T11:00:00.250000Z' })
    expect(read('since=-1h').canonical).toBe(read('since=2026-01-31T11:00:00.25Z').canonical)
    expect(read('since=now-60m', { since: '-1h' }).canonical).toBe(read('since=-1h').canonical)
    expect(read('since=2026-01-31').resolved).toEqual({})
    expect(read('since=').resolved).toEqual({})
  })

  test('that are relative count from the whole minute where answers are cached', () => {
    const now = '2026-01-31T12:00:59.999Z'
    expect(presentFor({ cacheSeconds: 900 }, now).toISOString()).toBe('2026-01-31T12:00:00.000Z')
    expect(presentFor({ cacheSeconds: 0 }, now).toISOString()).toBe(now)
  })

  test('that are empty count as absent', () => {
    expect(values('project=abc&since=&limit=&interval=')).toEqual(values('project=abc'))
  })

  test('are bound with their type, sorted by name', () => {
    const { bindings } = readParameters(everyKind, 'project=abc', {})
    expect(bindings.map(({ name, type }) => `${name} ${type.kind}`)).toEqual([
      'errors BOOL',
      'interval STRING',
      'limit INT64',
      'note STRING',
      'project STRING',
      'ratio FLOAT64',
      'since TIMESTAMP',
    ])
  })

  test('that are not declared are ignored, and named if their names are plain', () => {
    const { ignored } = readParameters(
      everyKind,
      'project=abc&proyect=x&a%0Ab=1&sql=SELECT+1&limit=3&proyect=y',
      {},
    )
    expect(ignored).toEqual(['proyect'])
    const others =
      'start%5B0%5D=1&iso+start=1&x+=1&%C3%AFd=1&a%E2%80%AE=1&since%3E%3D=1&%FF=1&' + 'n'.repeat(100)
    const { undeclared } = readParameters(everyKind, `project=abc&${others}`, {})
    const names = ['start[0]', 'iso start', 'x ', 'ïd', 'a\\u{202e}', 'since>=', '(no name)', 'n'.repeat(64)]
    expect(undeclared).toEqual(names)
  })

  test('at most ten ignored names are for a header, and all are known', () => {
    const many = Array.from({ length: 30 }, (_, i) => `x${i}=1`).join('&')
    const { ignored, undeclared } = readParameters(everyKind, `project=abc&${many}`, {})
    expect(ignored).toHaveLength(10)
    expect(undeclared).toHaveLength(30)
    expect(someOf(undeclared)).toEqual([...undeclared.slice(0, 20), 'and 10 more'])
  })

  test.each([
    ['', 'project', 'is required and must not be empty'],
    ['proyect=a', 'project', 'is required and must not be empty; proyect was ignored: did you mean project?'],
    ['project=', 'project', 'is required and must not be empty'],
    ['project=a&project=a', 'project', 'is given more than once; send it once'],
    ['project=%ff', 'project', 'is not valid percent-encoded UTF-8'],
    ['project=%zz', 'project', 'is not valid percent-encoded UTF-8'],
    ['project=%ed%a0%80', 'project', 'is not valid percent-encoded UTF-8'],
    ['project=a%00b', 'project', 'must not contain the character U+0000'],
    ['project=12345678901', 'project', 'is longer than 10 characters'],
    ['project=a&interval=weekly', 'interval', 'must be one of hourly, daily'],
    [
      'project=a&since=yesterday',
      'since',
      'must be an ISO 8601 time such as 2026-01-31T12:00:00Z, or a relative one such as -1h',
    ],
    [
      'project=a&since=2026-01-31T12:00:00+02:00',
      'since',
      'must be an ISO 8601 time such as 2026-01-31T12:00:00Z, or a relative one such as -1h; in a URL, write the + of a time zone as %2B',
    ],
    ['project=a&limit=1.5', 'limit', 'must be a whole number within ±(2^53 - 1)'],
    ['project=a&limit=9007199254740993', 'limit', 'must be a whole number within ±(2^53 - 1)'],
    ['project=a&limit=0', 'limit', 'must be at least 1'],
    ['project=a&limit=51', 'limit', 'must be at most 50'],
    ['project=a&ratio=1e999', 'ratio', 'must be a number such as 12 or 0.5'],
    ['project=a&errors=yes', 'errors', 'must be true or false'],
    ['project=a&errors=constructor', 'errors', 'must be true or false'],
    [`project=a&note=${'x'.repeat(1001)}`, 'note', 'is longer than 1000 characters'],
  ])('%s is refused, naming %s', (query, parameter, detail) => {
    expect(refusal(query)).toMatchObject({ code: 'invalid_parameter', problems: [{ parameter, detail }] })
  })

  test.each([
    ['number', {}, `${'1'.repeat(200_000)}x`],
    ['number', {}, `1.${'1'.repeat(200_000)}x`],
    ['integer', {}, `${'1'.repeat(200_000)}x`],
    ['boolean', {}, 't'.repeat(200_000)],
    ['string', { format: 'iso-timestamp' }, '1'.repeat(200_000)],
    ['string', { format: 'iso-timestamp' }, `-${'1'.repeat(200_000)}`],
    ['string', { pattern: '^(a+)+$' }, `${'a'.repeat(900)}!`],
    ['string', { pattern: '^(a|a)*$' }, `${'a'.repeat(900)}!`],
    ['string', { pattern: '^(a{1,9}){1,200}$' }, `${'a'.repeat(900)}!`],
    ['string', { pattern: '^a*a*a*a*$' }, `${'a'.repeat(900)}!`],
    ['string', { pattern: '^a{0,999}a{0,999}a{0,999}a{0,999}$' }, `${'a'.repeat(900)}!`],
    ['string', { pattern: `^${'a?'.repeat(29)}${'a'.repeat(29)}$` }, `${'a'.repeat(28)}!`],
    ['string', { pattern: 'a+a+$', maxLength: 10_000 }, `${'a'.repeat(9_000)}!`],
    ['string', { pattern: '^(\\w+\\s?)*$' }, `${'a'.repeat(900)}!`],
  ] as const)('of the type %s %j do not hold the process', async (type, rest, value) => {
    const one = endpoint({ value: { type, ...rest } })
    const refused = () => expect(() => readParameters(one, `value=${value}`, {})).toThrow(ApiError)
    await expectProcessorTime(1000, refused)
  })

  test('with a pattern that repeats a group match as others do', () => {
    const one = endpoint({ value: { type: 'string', pattern: '^[a-z]+(-[a-z]+)*$' } })
    expect(readParameters(one, 'value=a-bc-d', {}).bindings).toMatchObject([{ value: 'a-bc-d' }])
    expect(() => readParameters(one, 'value=a--d', {})).toThrow(ApiError)
  })

  test('fit a definition as they fit it as a JSON Schema', () => {
    const ajv = new Ajv({ strict: false })
    const scalar = fc.oneof(
      fc.integer({ min: -3, max: 9 }),
      fc.constantFrom('', 'a', '\u{1F600}', 'ab', 1.5, true),
    )
    const size = fc.option(fc.nat(3), { nil: undefined })
    const definition = fc.record({
      type: fc.constantFrom('string' as const, 'integer' as const, 'number' as const, 'boolean' as const),
      enum: fc.option(fc.uniqueArray(scalar, { minLength: 1 }), { nil: undefined }),
      pattern: fc.constantFrom(undefined, '^a', '^.$'),
      minLength: size,
      maxLength: size,
      minimum: size,
      maximum: size,
    })
    fc.assert(
      fc.property(definition, scalar, (made, json) => {
        const schema = JSON.parse(JSON.stringify(made)) as ParameterDefinition
        expect(misfitOf(schema, { json }) === null).toBe(ajv.validate(schema, json))
      }),
      { numRuns: 300 },
    )
  })

  test.each(['sql', 'format', ...Object.getOwnPropertyNames(Object.prototype)])('none is called %s', name => {
    const properties = JSON.parse(`{"${name}": {"type": "string"}}`) as Record<string, ParameterDefinition>
    expect(() => endpoint(properties)).toThrow(/propert/)
  })

  test('two that differ by the case of letters alone are refused: they are one in SQL', () => {
    expect(() => endpoint({ a: { type: 'string' }, b: { type: 'string' }, A: { type: 'string' } })).toThrow(
      '/parameters/properties/A is another parameter but for the case of letters',
    )
  })

  test('that are wrong are all named at once', () => {
    const named = refusal('interval=weekly&limit=x').problems.map(({ parameter }) => parameter)
    expect(named.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
      'interval',
      'limit',
      'project',
    ])
  })

  test('text stays text, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), text => {
        fc.pre(text.length <= 10 && !text.includes('\0'))
        expect(values(`project=${encodeURIComponent(text)}`)['project']).toBe(text)
      }),
    )
  })

  test('any query string at all is read or refused with a 4xx', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), query => {
        try {
          readParameters(everyKind, query, {})
        } catch (error) {
          expect((error as ApiError).status).toBe(400)
        }
      }),
    )
  })
})

describe('the canonical form', () => {
  const canonical = (query: string) => readParameters(everyKind, query, {}).canonical

  test('does not depend on order, on spelling of a value, or on what is ignored', () => {
    expect(canonical('since=2026-01-31&project=a&limit=07')).toBe(
      canonical('x=1&limit=7&project=%61&since=2026-01-31T01:00:00%2B01:00'),
    )
  })

  test('differs for different parameters', () => {
    const arbitrary = fc.record({ project: fc.string({ minLength: 1, maxLength: 10 }), note: fc.string() })
    const write = (given: Record<string, string>) => new URLSearchParams(given).toString()
    fc.assert(
      fc.property(arbitrary, arbitrary, (a, b) => {
        fc.pre(![...Object.values(a), ...Object.values(b)].some(text => text.includes('\0')))
        const same = a.project === b.project && a.note === b.note
        expect(canonical(write(a)) === canonical(write(b))).toBe(same)
      }),
    )
  })
})

describe('pins', () => {
  test('are applied where the caller leaves them out or repeats them', () => {
    expect(values('', { project: 'mine' })['project']).toBe('mine')
    expect(values('project=mine', { project: 'mine' })['project']).toBe('mine')
    expect(values('project=a&since=2026-01-31', { since: '2026-01-31T00:00Z' })['since']).toMatch(
      /^2026-01-31/,
    )
  })

  test('cannot be overridden, nor emptied', () => {
    expect(refusal('project=other', { project: 'mine' }).code).toBe('pinned_parameter')
    expect(values('project=&note=', { project: 'mine', note: 'also mine' })).toMatchObject({
      project: 'mine',
      note: 'also mine',
    })
  })

  test('that the endpoint cannot apply close the endpoint', () => {
    expect(refusal('project=a', { tenant: 'mine' }).code).toBe('pinned_parameter')
  })
})

describe('a single parameter', () => {
  test('is read once, decoded, and empty counts as absent', () => {
    expect(readSingle('sql=SELECT+1%2B1', 'sql')).toBe('SELECT 1+1')
    expect(readSingle('sql=', 'sql')).toBeNull()
    expect(() => readSingle('sql=a&sql=b', 'sql')).toThrow(ApiError)
    expect(() => readSingle('sql=%ff', 'sql')).toThrow(ApiError)
  })
})
