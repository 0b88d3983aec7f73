import { expect, test } from '@jest/globals'
import { patternOfShape, shapeOfMessage } from './message-patterns.ts'

const edge = (agent: string) =>
  `GET | 200 | 203.0.113.7 | 8f3ab0c1d2e3f4a5 | https://a.example.co/items | ${agent}`

test.each([
  ['curl/8.4.0 said', '<agent> said'],
  ['as "node-fetch/1.0 (+https://a.example)"', 'as <text>'],
  ['by python-requests/2.31.0', 'by <agent>'],
  ['{"user_agent":"Dart/3.9 (dart:io)","n":1}', '{"user_agent":"<agent>","n":<n>}'],
  [
    'Mozilla/5.0 (iPhone; CPU) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS]',
    '<agent>',
  ],
  [edge('node'), 'GET | <n> | <ip> | <id> | https://a.example.co/items | <client>'],
  [edge('My own client 7'), 'GET | <n> | <ip> | <id> | https://a.example.co/items | <client>'],
])('in %s a client is masked', (message, shape) => expect(shapeOfMessage(message)).toBe(shape))

test.each([
  ['GET /items/17 HTTP/1.1 200', 'GET /items/<n> HTTP/<n> <n>'],
  ['GET items/17', 'GET items/<n>'],
  ['/cdn/lib/1.2.3/a.js', '/cdn/lib/<n>/a.js'],
  ['a | b | c', 'a | b | c'],
  ['GET | 200 | /items/17', 'GET | <n> | /items/<n>'],
  ['/rest/v1/items v2', '/rest/v1/items v2'],
])('%s has none', (message, shape) => expect(shapeOfMessage(message)).toBe(shape))

test.each(['v1.2.3', 'V10.0', '2.39.0-rc.1', '7', '12.5ms'])('%s is a number', text =>
  expect(shapeOfMessage(`to ${text} now`)).toBe('to <n> now'),
)

test('a shape finds messages of its own alone', () => {
  const finds = (shape: string, message: string) =>
    new RegExp(patternOfShape(shape).slice('(?s)'.length), 's').test(message)
  const messages = [edge('node'), 'ua=curl/8.4.0, ok', 'GET / HTTP/1.1', 'to v1.2.3', 'for a%40b.c']
  const shapes = messages.map(shapeOfMessage)
  expect(shapes.map(shape => messages.filter(message => finds(shape, message)))).toEqual(
    messages.map(message => [message]),
  )
  expect(finds('ua=<agent>, ok', 'ua=something else, ok')).toBe(false)
})
