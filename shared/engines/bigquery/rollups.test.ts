/** Roll-ups as materialized views, by the real client against the local server. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Column } from '../../sql/types.ts'
import type { Rollup } from '../engine.ts'
import { type LocalBigQuery, openLocalBigQuery } from '../testing/bigquery.ts'
import { plenty } from '../testing/describe-engines.ts'

const table = 'app.logs'
const columns: Column[] = [
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'name', type: { kind: 'STRING' } },
]
const rollup: Rollup = {
  name: 'app.counts.rollup',
  sql: `SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) AS minute, name, COUNT(*) AS entries
    FROM \`app.logs\` GROUP BY minute, name`,
  partition: 'minute',
  cluster: ['name'],
  refreshMinutes: 5,
}
const statement = {
  sql: 'SELECT name, SUM(entries) AS entries FROM `app.counts.rollup` GROUP BY name ORDER BY name',
  bindings: [],
  rollups: [rollup],
}

let local: LocalBigQuery
async function open(partition: 'DAY' | 'HOUR' | null = 'DAY'): Promise<LocalBigQuery> {
  const opened = await openLocalBigQuery({ [table]: columns }, { now: '2026-01-07T12:34:56Z', partition })
  const row = (name: string) => ({ timestamp: '2026-01-07T12:34:01Z', name })
  await opened.append(table, [...Array.from({ length: 2000 }, () => row('a')), row('b')])
  return opened
}
beforeEach(async () => {
  local = await open()
})
afterEach(() => local.close())

const sent = () => local.server.requests.flatMap(({ body }) => body?.configuration?.query?.query ?? [])

describe('a view', () => {
  test('is made once, read by its name, and removed', async () => {
    const { rollups } = local.engine
    expect(await rollups.has(rollup)).toBe(false)
    await rollups.create(rollup)
    await rollups.create(rollup)
    expect(await rollups.has(rollup)).toBe(true)
    const { rows } = await local.engine.run(statement, plenty)
    expect(rows).toEqual([
      { name: 'a', entries: 2000 },
      { name: 'b', entries: 1 },
    ])
    await rollups.remove(rollup)
    await rollups.remove(rollup)
    expect(await rollups.has(rollup)).toBe(false)
  })

  test('has the layout of its definition, and a name with the hash of it', async () => {
    const { rollups } = local.engine
    await rollups.create(rollup)
    const [, name] = /^CREATE MATERIALIZED VIEW IF NOT EXISTS `([^`]+)`/.exec(sent()[0]!)!
    expect(name).toMatch(/^local-project\.app_logs\.app_counts_rollup_[0-9a-f]{12}$/)
    expect(sent()[0]).toContain(
      'PARTITION BY TIMESTAMP_TRUNC(`minute`, DAY) CLUSTER BY `name` ' +
        'OPTIONS (enable_refresh = TRUE, refresh_interval_minutes = 5) AS SELECT ',
    )
    expect(sent()[0]).toContain('FROM `local-project.app_logs.app_logs`')
    for (const change of [
      { refreshMinutes: 10 },
      { cluster: [] },
      { sql: rollup.sql.replace('entries', 'n') },
    ])
      expect(await rollups.has({ ...rollup, ...change })).toBe(false)
  })

  test.each([
    ['HOUR', 'PARTITION BY TIMESTAMP_TRUNC(`minute`, HOUR) CLUSTER BY'],
    [null, '` CLUSTER BY'],
  ] as const)('has the partitions of its table, here %s', async (partition, expected) => {
    const other = await open(partition)
    try {
      await other.engine.rollups.create(rollup)
      const [sql] = other.server.requests.flatMap(({ body }) => body?.configuration?.query?.query ?? [])
      expect(sql).toContain(expected)
      expect((await other.engine.run(statement, plenty)).rows).toHaveLength(2)
    } finally {
      await other.close()
    }
  })

  test('is read for fewer bytes than its table', async () => {
    await local.engine.rollups.create(rollup)
    await local.engine.run(statement, plenty)
    const { bytes } = await local.engine.run(statement, plenty)
    const raw = await local.engine.run(
      { sql: 'SELECT name, timestamp FROM `app.logs`', bindings: [] },
      plenty,
    )
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(raw.bytes!)
  })

  test('that is missing, or whose table was made again, is an error of its own', async () => {
    const failure = () => local.engine.run(statement, plenty).catch((error: unknown) => error)
    const unread = (why: string) => ({ reason: 'no_rollup', message: `The roll-up cannot be read: ${why}` })
    expect(await failure()).toMatchObject(unread('notFound'))
    await local.engine.rollups.create(rollup)
    local.server.jobs.catalog.breakViews()
    expect(await failure()).toMatchObject(unread('invalidQuery'))
  })

  test('is read beside another one, and is an error of its own where either is missing', async () => {
    const hours = { ...rollup, name: 'app.hours.rollup', sql: rollup.sql.replace('MINUTE', 'HOUR') }
    const both = {
      sql: `SELECT name, entries FROM \`app.counts.rollup\` UNION ALL SELECT name, entries FROM \`app.hours.rollup\``,
      bindings: [],
      rollups: [rollup, hours],
    }
    await local.engine.rollups.create(rollup)
    await expect(local.engine.run(both, plenty)).rejects.toMatchObject({ reason: 'no_rollup' })
    expect((await local.engine.run({ ...both, sql: statement.sql }, plenty)).rows).toHaveLength(2)
    await local.engine.rollups.create(hours)
    expect((await local.engine.run(both, plenty)).rows).toHaveLength(4)
  })

  test('is no error of its own where the query over it is wrong', async () => {
    await local.engine.rollups.create(rollup)
    const sql = "SELECT name FROM `app.counts.rollup` WHERE REGEXP_CONTAINS(name, '(')"
    await expect(local.engine.run({ ...statement, sql }, plenty)).rejects.toMatchObject({
      reason: 'rejected',
    })
  })

  test('is described before it is there, by its query', async () => {
    const { columns: found } = await local.engine.describe(statement)
    expect(found.map(({ name }) => name)).toEqual(['name', 'entries'])
  })
})

describe('BigQuery refuses, and the operator reads why,', () => {
  test.each([
    ['a function that changes', 'COUNT(*)', 'COUNTIF(timestamp > CURRENT_TIMESTAMP())', /CURRENT_TIMESTAMP/],
    ['a subquery', 'COUNT(*)', 'COUNTIF(name IN (SELECT "a"))', /subquery/],
    ['sorted rows', 'GROUP BY minute, name', 'GROUP BY minute, name ORDER BY name', /ORDER BY/],
    [
      'another partition column',
      'TIMESTAMP_TRUNC(timestamp, MINUTE)',
      'TIMESTAMP "2026-01-01"',
      /partitioning column/,
    ],
    [
      'a column that is cut to more than a partition',
      'TIMESTAMP_TRUNC(timestamp, MINUTE)',
      'TIMESTAMP_TRUNC(timestamp, MONTH)',
      /partitioning column/,
    ],
    ['a table that is not there', '`app.logs`', '`app.others`', /[Nn]ot found/],
    [
      'a column that is not there',
      'name, COUNT',
      'colour AS name, COUNT',
      /Unrecognized name: colour at \[1:\d{3}\]/,
    ],
  ])('a view with %s', async (_, from, to, message) => {
    const create = local.engine.rollups.create({ ...rollup, sql: rollup.sql.replace(from, to) })
    await expect(create).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringMatching(message),
    })
  })

  test('a view that is sorted by a sum', async () => {
    const create = local.engine.rollups.create({ ...rollup, cluster: ['entries'] })
    await expect(create).rejects.toThrow(/cannot be a clustering column/)
  })
})
