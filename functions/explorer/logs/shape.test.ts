import { describe, expect, test } from '@jest/globals'
import type { TableDescription } from '../../query/endpoints.ts'
import { fieldAt, filterIn, nameOf, shapeOf, identitiesIn } from './shape.ts'

const column = (name: string, type: string) => ({ name, type, repeated: false })
const table = (columns: TableDescription['columns'], explore?: TableDescription['explore']) =>
  shapeOf({ name: 't', columns, ...(explore ? { explore } : {}) })

const columns = [
  column('ts', 'TIMESTAMP'),
  column('happened', 'TIMESTAMP'),
  column('msg', 'STRING'),
  column('words', 'STRING'),
  column('level', 'STRING'),
  column('status', 'INT64'),
  column('payload', 'JSON'),
]

describe('a table of logs', () => {
  test('is one by the names of its columns', () => {
    const shape = table(columns)!
    expect([shape.time.path, shape.message.path, shape.severity?.path]).toEqual(['ts', 'msg', 'level'])
    expect(table(columns.slice(2))).toBeNull()
    expect(table(columns.slice(0, 2))).toBeNull()
  })

  test('is one as its definition says, and the rest by names', () => {
    const fields = ['payload.user.id', 'words', 'gone']
    const shape = table(columns, { time: 'happened', message: 'words', severity: 'status', fields })!
    expect([shape.time.path, shape.message.path, shape.severity?.path]).toEqual([
      'happened',
      'words',
      'status',
    ])
    expect(shape.likely.map(({ path }) => path)).toEqual(['payload.user.id', 'words'])
    expect(table(columns, { severity: 'status' })!.message.path).toBe('msg')
  })
})

describe('a path into JSON', () => {
  test.each([
    ['payload.user.id', '$.user.id', 'id'],
    ['payload.items[0].name', '$.items[0].name', 'name'],
    ['payload.ips[2]', '$.ips[2]', 'ips'],
    ['payload.x-real-ip', '$."x-real-ip"', 'x-real-ip'],
  ])('%s is a field', (path, json, name) => {
    const field = fieldAt(table(columns)!, path)!
    expect([field.json, field.type, nameOf(field)]).toEqual([json, 'STRING', name])
  })

  test.each([
    'payload.',
    'payload..a',
    'payload.a"b',
    "payload.a'b",
    'payload.a[b]',
    'payloads.a',
    'words.a',
  ])('%s is none', path => expect(fieldAt(table(columns)!, path)).toBeNull())
})

describe('what identifies an entry', () => {
  const named = (...paths: string[]) =>
    identitiesIn(paths.map((path, i) => ({ path, value: `v${i}` }))).map(({ path }) => path)

  test('is the request first, then who made it, then the session', () => {
    const others = ['id', 'user_agent', 'path', 'trace', 'grid']
    expect(named('m.session_id', 'traits.user_email', ...others, 'user_id', 'm.reqId')).toEqual([
      'm.reqId',
      'user_id',
      'traits.user_email',
      'm.session_id',
    ])
  })

  test.each(['request_id', 'headers.x-request-id', 'sb_request_id', 'traceId', 'm.execution_id', 'cf_ray'])(
    '%s is what the entries of one request have in common',
    path => expect(identitiesIn([{ path, value: 'a' }])).toEqual([{ path, value: 'a', isOfRequest: true }]),
  )

  test('is there once, as what says most, and of few fields', () => {
    const paths = ['session_id', 'execution_id', 'user_id', 'request_id']
    expect(identitiesIn(paths.map(path => ({ path, value: 'same' })))).toEqual([
      { path: 'request_id', value: 'same', isOfRequest: true },
    ])
    expect(named('a.cf_ray', 'a.req_id', 'a.trace_id', 'user_id', 'email')).toHaveLength(4)
  })
})

describe('a search that names a field', () => {
  test.each([
    ['status:500', 'status', 500],
    ['status = 9007199254740993', 'status', '9007199254740993'],
    ['level="fatal one"', 'level', 'fatal one'],
    ['payload.user.id=7', 'payload.user.id', '7'],
    ['time:12:30', 'request.time', '12:30'],
    ['cached:TRUE', 'request.cached', true],
  ])('%s is a filter', (search, path, value) => {
    const fields = [column('time', 'STRING'), column('cached', 'BOOL')]
    const shape = table([...columns, { ...column('request', 'STRUCT'), fields }])!
    expect(filterIn(search, shape)).toEqual({ path, operator: '=', value })
  })

  test.each([
    ['status>=500', '>=', 500],
    [' status <= -5 ', '<=', -5],
    ['status>500', '>', 500],
    ['status < 500', '<', 500],
  ])('%s bounds a number', (search, operator, value) => {
    expect(filterIn(search, table(columns)!)).toEqual({ path: 'status', operator, value })
  })

  test.each([
    '500',
    'words>=a',
    'happened>=1',
    'status>>5',
    'status>=',
    'status:ok',
    'status:',
    'https://a.b',
    'payload=1',
    '/status=5/',
    'gone:1',
    'happened=today',
  ])('%s is none', search => expect(filterIn(search, table(columns)!)).toBeNull())
})
