import { describe, expect, test } from '@jest/globals'
import { placeOf } from '../sql/error.ts'
import { placeInCaller } from './places.ts'
import { sandbox } from './sandbox.ts'

const endpoint = {
  sql: 'WITH logs AS (SELECT id, path FROM `real.table`) SELECT id FROM logs',
  parameters: {},
}

/** Where the caller's text has the complaint that an engine makes about `name` in the composed statement. */
function found(callerSql: string, name: string) {
  const sandboxed = sandbox(endpoint, callerSql)
  return placeInCaller(sandboxed, callerSql, placeOf(sandboxed.sql, sandboxed.sql.lastIndexOf(name)))
}

describe('a complaint about the composed statement', () => {
  test('is placed in the text that the caller sent, with its own layout and comments', () => {
    const text = '-- a comment\nselect\n  id,\n  patth   as x -- here\nfrom logs;'
    expect(found(text, 'patth')).toEqual({ line: 4, column: 3 })
  })

  test('is found where the caller’s keywords are written otherwise', () => {
    expect(found('select id from logs where ( patth=1 )', 'patth')).toEqual({ line: 1, column: 29 })
  })

  test('about the endpoint’s own part has no place', () => {
    const callerSql = 'SELECT id FROM logs'
    const sandboxed = sandbox(endpoint, callerSql)
    expect(
      placeInCaller(sandboxed, callerSql, placeOf(sandboxed.sql, sandboxed.sql.indexOf('path'))),
    ).toBeNull()
  })

  test('of a query without the endpoint’s tables is placed too', () => {
    expect(found('SELECT   nothing', 'nothing')).toEqual({ line: 1, column: 10 })
  })
})
