import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Json } from './entries.ts'
import { defaults, projects, sampleEntries, sampleIncident, writeSample } from './sample.ts'
import { files, newFolder, query, tablesFolder } from './testing/folder.ts'

const now = new Date('2026-11-21T12:00:00Z')
const edge = 'cloudflare.logs.prod'
const logsFolder = newFolder()
let counts: Map<string, number>

beforeAll(async () => {
  counts = await writeSample({ logsFolder, tablesFolder, now })
})

const rowsOf = (table: string, sql: string) => query(logsFolder, table, sql)
/** The one number of a query. */
const number = async (table: string, sql: string) =>
  Number(Object.values((await rowsOf(table, `SELECT ${sql} FROM logs`))[0]!)[0])

describe('the sample logs', () => {
  test('have rows in all nine tables, in proportion', () => {
    expect(counts.size).toBe(9)
    expect(counts.get(edge)).toBe(defaults.rows)
    for (const rows of counts.values()) expect(rows).toBeGreaterThan(defaults.rows / 50)
  })

  test('are the same for the same seed and now, and others for another seed', () => {
    const made = (seed: number, at = now) => JSON.stringify([...sampleEntries(300, seed, at)])
    expect(made(1)).toBe(made(1))
    expect(made(1)).not.toBe(made(2))
    expect(made(1)).not.toBe(made(1, new Date(0)))
  })

  test('have ids in the form of UUIDs, each once', async () => {
    const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
    for (const [table, rows] of counts) {
      expect(await number(table, `count(DISTINCT id) FILTER (regexp_matches(id, '${uuid}'))`)).toBe(rows)
    }
  })

  test('cover the last eight days, and nothing after now', async () => {
    for (const table of counts.keys()) {
      expect(await number(table, 'max(epoch_ms(timestamp))')).toBeLessThanOrEqual(now.getTime())
      expect(await number(table, 'min(epoch_ms(timestamp))')).toBeGreaterThan(
        now.getTime() - 8.01 * 86_400_000,
      )
    }
    expect(await number(edge, 'count(DISTINCT CAST(timestamp AS DATE))')).toBe(9)
  })

  test('have more by day than by night', async () => {
    const between = (from: number, to: number) =>
      number(
        edge,
        `count(*) FILTER (hour(timestamp) BETWEEN ${from} AND ${to} AND timestamp < '2026-11-21 00:00:00+00')`,
      )
    expect(await between(11, 16)).toBeGreaterThan(2 * (await between(0, 5)))
  })

  test.each(projects.map(({ ref }) => ref))(
    'fill the charts of %s for days, the hour and the minutes',
    async ref => {
      const buckets = (unit: string, window: string) =>
        `count(DISTINCT date_trunc('${unit}', timestamp)) FILTER (
          timestamp > TIMESTAMPTZ '2026-11-21 12:00:00+00' - INTERVAL ${window}
          AND contains(metadata[1].request[1].url, '${ref}'))`
      const calls = ['rest', 'storage', 'auth', 'realtime', 'functions', 'graphql'].map(
        service => `count(*) FILTER (project = '${ref}'
          AND starts_with(metadata[1].request[1].path, '/${service}/v1')) AS ${service}`,
      )
      const sql = `SELECT ${buckets('day', '7 days')} AS days, ${buckets('hour', '1 hour')} AS hours,
        ${buckets('minute', '60 minutes')} AS minutes, ${calls.join(', ')} FROM logs`
      const { days, hours, minutes, ...services } = (await rowsOf(edge, sql))[0]!
      expect([days, hours]).toEqual(['8', '1'])
      expect(Number(minutes)).toBeGreaterThan(20)
      expect(Object.values(services)).toHaveLength(6)
      for (const count of Object.values(services)) expect(Number(count)).toBeGreaterThan(0)
    },
  )

  test('name the project where each table has it', async () => {
    const where: Record<string, string> = {
      'deno-relay-logs': 'metadata[1].project_ref',
      'deno-subhosting-events': 'metadata[1].project_ref',
      'realtime.logs.prod': 'metadata[1].project',
      'storage.logs.prod.2': 'metadata[1].project',
    }
    for (const table of counts.keys()) {
      const named = await rowsOf(
        table,
        `SELECT DISTINCT ${where[table] ?? 'project'} AS ref FROM logs ORDER BY ref`,
      )
      expect(named.map(({ ref }) => ref)).toEqual(projects.map(({ ref }) => ref).sort())
    }
  })

  test('go together: what a request leaves behind names it and is of its time', async () => {
    const days = [...sampleEntries(500, 1, now)]
    const calls = days.filter(entries => entries.some(({ table }) => table === 'deno-subhosting-events'))
    expect(calls.length).toBeGreaterThan(0)
    for (const [request, ...rest] of days) {
      for (const { entry } of rest)
        expect(Math.abs(entry.timestamp - request!.entry.timestamp)).toBeLessThan(1_000_000)
    }
    const logins = await number('gotrue.logs.prod', `count(*) FILTER (metadata[1].msg = 'Login')`)
    expect(logins).toBeGreaterThan(0)
    const executions = (table: string) =>
      rowsOf(table, 'SELECT DISTINCT metadata[1].execution_id AS id FROM logs ORDER BY id')
    const called = new Set((await executions('deno-relay-logs')).map(({ id }) => id))
    expect((await executions('deno-subhosting-events')).every(({ id }) => called.has(id))).toBe(true)
  })

  test('hold personal data where real logs do, all of it from the ranges for documentation', () => {
    const texts: string[] = []
    const collect = (value: Json): void => {
      if (typeof value === 'string') texts.push(value)
      else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
    }
    for (const { entry } of [...sampleEntries(2000, 1, now)].flat()) collect({ ...entry })
    const all = texts.join('\n')
    const found = (pattern: RegExp) => [...new Set(all.match(pattern))]
    const addresses = found(/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g).filter(
      text => !text.endsWith('.0.0.0'),
    )
    expect(addresses.length).toBeGreaterThan(50)
    for (const address of addresses) expect(address).toMatch(/^(192\.0\.2|198\.51\.100|203\.0\.113)\./)
    const emails = found(/[\w.]+@[a-z]+\.[a-z]+/g)
    expect(emails.length).toBeGreaterThan(50)
    for (const email of emails) expect(email).toMatch(/@example\.(com|org|net)$/)
    expect(found(/\b2001:db8:[0-9a-f:]+/g).length).toBeGreaterThan(20)
    expect(found(/Bearer eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g).length).toBeGreaterThan(5)
    expect(found(/sb-access-token=eyJ/g)).toHaveLength(1)
  })
})

test('a sample with an incident has its culprit’s requests beside the others, from its beginning on', () => {
  const { user, table, begin } = sampleIncident(1, now)
  const edges = [...sampleEntries(600, 1, now, true)].flat().filter(each => each.table === edge)
  const isOf = ({ entry }: (typeof edges)[number]) => JSON.stringify(entry).includes(user.id)
  const harmful = edges.filter(isOf)
  expect(edges.length - harmful.length).toBe(600)
  expect(harmful.length).toBeGreaterThan(20)
  for (const { entry } of harmful) {
    expect(entry.timestamp).toBeGreaterThanOrEqual(begin)
    expect(entry.event_message).toContain(`/rest/v1/${table}`)
  }
})

describe('a sample written again', () => {
  test('takes the place of the earlier one', async () => {
    const logsFolder = newFolder()
    await writeSample({ logsFolder, tablesFolder, now, rows: 200 })
    await writeSample({ logsFolder, tablesFolder, now: new Date('2026-11-22T12:00:00Z'), rows: 100 })
    expect(await query(logsFolder, edge, 'SELECT count(*) AS count FROM logs')).toEqual([{ count: '100' }])
    expect(files(logsFolder, edge)).toHaveLength(1)
  })

  test('reports its progress, and stops on a signal, leaving nothing', async () => {
    const logsFolder = newFolder()
    const controller = new AbortController()
    const seen: number[] = []
    const onProgress = (done: number) => {
      seen.push(done)
      if (done === 2000) controller.abort(new Error('Stopped.'))
    }
    const options = { logsFolder, tablesFolder, now, rows: 5000, onProgress, signal: controller.signal }
    await expect(writeSample(options)).rejects.toThrow('Stopped.')
    expect(seen).toEqual([1000, 2000])
    expect(files(logsFolder, '.')).toEqual([])
  })
})
