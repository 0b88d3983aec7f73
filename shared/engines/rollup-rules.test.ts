import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../sql/error.ts'
import { rollupShape } from './rollup-rules.ts'

const from = 'FROM `app.logs` AS t CROSS JOIN UNNEST(t.items) AS i'
const good = `SELECT TIMESTAMP_TRUNC(t.timestamp, MINUTE) AS minute, i.name, COUNT(*) AS entries, MAX(i.size) AS largest
  ${from} WHERE i.name IS NOT NULL GROUP BY minute, name`

describe('the shape of a roll-up', () => {
  test('is its log table, and how each column adds up', () => {
    expect(rollupShape(good)).toEqual({
      table: 'app.logs',
      columns: [
        { name: 'minute', adds: null },
        { name: 'name', adds: null },
        { name: 'entries', adds: 'SUM' },
        { name: 'largest', adds: 'MAX' },
      ],
    })
  })

  test.each([
    [`${good} ORDER BY minute`, 'ORDER BY'],
    [`${good} LIMIT 5`, 'LIMIT'],
    [`${good} HAVING COUNT(*) > 1`, 'HAVING'],
    [`${good} UNION ALL ${good}`, 'one SELECT'],
    [`WITH a AS (SELECT 1) ${good}`, 'WITH'],
    [good.replace('SELECT', 'SELECT DISTINCT'), 'DISTINCT'],
    [good.replace('i.name IS NOT NULL', 'i.name = @name'), 'a parameter'],
    [good.replace('i.name IS NOT NULL', 't.timestamp > CURRENT_TIMESTAMP()'), 'CURRENT_TIMESTAMP'],
    [good.replace('i.name IS NOT NULL', 'i.name IN (SELECT 1)'), 'a subquery'],
    [good.replace('COUNT(*)', 'COUNT(*) OVER ()'), 'a window'],
    [good.replace('COUNT(*)', 'COUNT(*) + 1'), 'cannot compute with COUNT'],
    [good.replace('COUNT(*)', 'AVG(i.size)'), 'AVG does not add up'],
    [good.replace('COUNT(*)', 'COUNT(DISTINCT i.size)'), 'DISTINCT'],
    [good.replace('COUNT(*) AS entries', 'COUNT(*)'), 'needs a name'],
    [good.replace('i.name,', 'i.*,'), 'names its columns'],
    [good.replace('GROUP BY minute, name', ''), 'needs GROUP BY'],
    [good.replace('GROUP BY minute, name', 'GROUP BY minute'), 'GROUP BY lacks name'],
    [good.replace('GROUP BY minute, name', 'GROUP BY ALL'), 'cannot hold ALL'],
    [good.replace('GROUP BY minute, name', 'GROUP BY ROLLUP (minute, name)'), 'ROLLUP'],
    [good.replace('GROUP BY minute, name', 'GROUP BY minute, name, i.size'), 'each by its name'],
    [good.replace('CROSS JOIN UNNEST(t.items)', 'CROSS JOIN `app.others`'), 'cannot join tables'],
    [good.replace(from, `${from} CROSS JOIN UNNEST(t.items) AS j`), 'twice'],
    [good.replace('CROSS JOIN UNNEST(t.items) AS i', 'LEFT JOIN UNNEST(t.items) AS i'), 'LEFT JOIN'],
    [good.replace('`app.logs`', '(SELECT * FROM `app.logs`)'), 'a subquery'],
    ['SELECT 1 AS one, COUNT(*) AS entries GROUP BY one', 'made of a log table'],
  ])('is refused with a place: %s', (sql, words) => {
    let error: unknown
    try {
      rollupShape(sql)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(SqlError)
    expect((error as SqlError).message).toContain(words)
    expect((error as SqlError).place).toMatchObject({ line: expect.any(Number) })
  })
})
