import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { endpointFrom } from '../../shared/endpoints/definition-file.ts'
import { type Endpoint, parameterColumns } from '../../shared/endpoints/definition.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { cursorsInMemory } from '../../shared/pages/testing/paging.ts'
import { Budget } from '../../shared/warm/turn.ts'
import { bodyOf, use } from '../../shared/warm/testing/fixture.ts'
import { warm } from '../../shared/warm/warm.ts'
import { edgeRow } from '../testing/edges.ts'
import { type TestService, startService } from '../testing/service.ts'
import { prepare } from './prepare.ts'

/** What is remembered of a question holds for it alone. */
describe('parameters', () => {
  const definition = {
    id: '00000000-0000-4000-8000-000000000001',
    description: 'd',
    parameters: {
      properties: {
        project: { type: 'string' as const },
        since: { type: 'string' as const, format: 'iso-timestamp' as const },
      },
    },
    cache: { seconds: 60 },
  }
  const endpoint = endpointFrom('some.endpoint', definition, 'SELECT @project, @since')
  const caller: Caller = { keyId: 'a', name: 'a', endpoints: '*', pins: {}, rights: [], limits: null }
  const noon = '2026-01-31T12:00:00.000Z'
  const query = 'project=p&since=-1h'

  interface Asked {
    of: Endpoint
    by: Caller
    at: string
    redacted: boolean
  }

  const reading = { cursors: cursorsInMemory(), columnsOf: async () => [] }

  async function ask(changed: Partial<Asked> = {}, text = query) {
    const { of, by, at, redacted } = { of: endpoint, by: caller, at: noon, redacted: false, ...changed }
    const gone = () => new AbortController().signal
    const question = {
      caller: by,
      endpoint: of,
      query: text,
      callerSql: null,
      redacted,
      bypass: false,
      gone,
    }
    const { parameters, composed, keyFields } = await prepare(reading, question, at)
    const values = composed.statement.bindings.map(({ value }) => value)
    return { values, canonical: parameters.canonical, sent: parameters.sent, keyFields }
  }

  test('a question is read once within a minute', async () => {
    const { keyFields } = await ask()
    expect((await ask({ at: '2026-01-31T12:00:59.999Z' })).keyFields).toBe(keyFields)
  })

  describe('is read again', () => {
    test('in the next minute, from which relative times count', async () => {
      expect((await ask()).values).toEqual(['p', '2026-01-31T11:00:00.000000Z'])
      expect((await ask({ at: '2026-01-31T12:01:00.000Z' })).values).toEqual([
        'p',
        '2026-01-31T11:01:00.000000Z',
      ])
    })

    test('for a key that has changed', async () => {
      expect((await ask()).sent).toEqual(['project', 'since'])
      expect((await ask({ by: { ...caller, pins: { project: 'p' } } })).sent).toEqual(['since'])
      await expect(ask({ by: { ...caller, pins: { project: 'q' } } })).rejects.toMatchObject({
        code: 'pinned_parameter',
      })
    })

    test('for another definition', async () => {
      const changed = endpointFrom('some.endpoint', definition, 'SELECT @since, @project, 1')
      const [before, after] = [await ask(), await ask({ of: changed })]
      expect(after.keyFields!.version).toBe(changed.version)
      expect(after.keyFields!.version).not.toBe(before.keyFields!.version)
    })

    test('for a redacted answer', async () => {
      const [clear, redacted] = [await ask(), await ask({ redacted: true })]
      expect(clear.keyFields!.variant).toBe('clear')
      expect(redacted.keyFields!.variant).not.toBe('clear')
    })

    test('for other parameters', async () => {
      expect((await ask({}, 'project=q')).values).toEqual(['q', null])
    })

    test('where every call runs the query', async () => {
      const uncached = endpointFrom(
        'some.endpoint',
        { ...definition, cache: { seconds: 0 } },
        'SELECT @project, @since',
      )
      const at = (second: number) => ask({ of: uncached, at: `2026-01-31T12:00:0${second}.000Z` })
      expect((await at(1)).values).toEqual(['p', '2026-01-31T11:00:01.000000Z'])
      expect((await at(2)).values).toEqual(['p', '2026-01-31T11:00:02.000000Z'])
    })
  })
})

/** The usage chart of one project, which its roll-up answers. */
describe('the usage chart of one project', () => {
  const project = 'qhzvnxwtrkdplmcoyaeb'
  const usage = `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`
  const table = 'cloudflare.logs.prod'

  let service: TestService
  beforeAll(async () => {
    const before = new Date(Date.now() - 2_000).toISOString()
    // The roll-up that is broken here is DuckDB's; shared/engines/bigquery/rollups.test.ts breaks BigQuery's.
    const tables = { [table]: [edgeRow('a', before, project, '/rest/v1/items')] }
    service = await startService({ tables, bundle: null })
  })
  afterAll(() => service.stop())

  const counted = async (response: Response) => {
    const { result } = (await response.json()) as { result: Record<string, number>[] }
    return result.reduce((sum, row) => sum + row['total_rest_requests']!, 0)
  }

  test('has the requests of the last seconds, and its age counts from the run', async () => {
    const asked = Math.floor(Date.now() / 1000) * 1000
    const miss = await service.fetch(usage)
    expect(await counted(miss)).toBe(1)
    const made = Date.parse(miss.headers.get('Last-Modified')!)
    expect(made).toBeGreaterThanOrEqual(asked)
    expect(made).toBeLessThanOrEqual(Date.now())
  })

  test('comes from the log table where one of its roll-ups cannot be read, and the log says so', async () => {
    const folder = join(service.env['DATA_DIR']!, 'logs', table)
    const parts = join(
      folder,
      readdirSync(folder).find(name => name.startsWith('rollup-'))!,
    )
    rmSync(parts, { recursive: true })
    writeFileSync(parts, 'no folder')
    const written: string[] = []
    const write = jest
      .spyOn(process.stdout, 'write')
      .mockImplementation(text => written.push(String(text)) > 0)
    const response = await service.fetch(usage.replace(project, encodeURIComponent(`^https://${project}\\.`)))
    write.mockRestore()
    expect(response.status).toBe(200)
    expect(Date.now() - Date.parse(response.headers.get('Last-Modified')!)).toBeLessThan(120_000)
    expect(Number(response.headers.get('Age'))).toBeLessThan(120)
    const lines = written.filter(line => line.includes('a roll-up could not be read'))
    expect(lines.map(line => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ severity: 'WARNING', endpoint: 'usage.api-counts', reason: 'no_rollup' }),
    ])
  })
})

/** Rows with long URLs: charts of every project go on, by all ways to an answer, with the numbers that plain counting gives. */
describe('rows with long URLs', () => {
  const now = '2026-03-10T12:30:30.000Z'
  const [ref, other] = ['qhzvnxwtrkdplmcoyaeb', 'abcdefghijklmnopqrst']
  const word = 'zyxwvutsrqponmlkjihg'

  const rows = [
    [ref, '/rest/v1/items'],
    [other, '/rest/v1/orders'],
    [other, `/rest/v1/${'x1-'.repeat(5_000)}`],
    [ref, `/rest/v1/${`${word}/`.repeat(10_000)}`],
    [other, `/rest/v1/${`${word}-`.repeat(20_000)}`],
    [other, `/rest/v1/${'q'.repeat(300_000)}`],
    [other, `/rest/v1/${`${word}/`.repeat(40_000)}`],
    ['a'.repeat(300_000), '/rest/v1/'],
  ].map(([project, path], at) => {
    // A batch once failed at 262,144 bytes of a URL, and at 65,556 letters of a word in it.
    const row = edgeRow(`r${at}`, '2026-03-10T12:20:00Z', project!, '/rest/v1/')
    row.metadata.request.url = `https://${project}.example.co${path}`
    return row
  })
  const urls = rows.map(({ metadata }) => metadata.request.url)

  /** Each with what JavaScript calls it, where that differs. */
  const linear: [pattern: string, same?: string][] = [
    ['^https://[a-z]{20}\\.example\\.co/rest/v1/'],
    ['/rest/v1/'],
    ['https://[a-z]{20}\\.example\\.co/(rest|auth)/v1/(orders|items)?'],
    ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
    ['(/[a-z]{20}){4}'],
    ['\\x{2028}', '\\u2028'],
    ['\\x{71}{30}', 'q{30}'],
    ['https://.{1000}'],
    ['^https://[^/]*/rest'],
  ]
  const throughRollup = [ref, other, word, `^https://${ref}\\.`, `^https://${other}\\.`]

  let service: TestService
  beforeAll(async () => {
    const tables = { 'cloudflare.logs.prod': rows }
    service = await startService({ tables, env: { FROZEN_NOW: now }, bundle: null })
  })
  afterAll(() => service.stop())

  const ask = async (project: string) => {
    const query = new URLSearchParams({ interval: 'minutely', project })
    const response = await service.fetch(`/api/endpoints/query/usage.api-counts?${query.toString()}`)
    const body = (await response.json()) as { result?: Record<string, number>[]; detail?: string }
    const counted = body.result?.reduce((sum, row) => sum + row['total_rest_requests']!, 0)
    return { status: response.status, cache: response.headers.get('cache-status'), counted, body }
  }

  const matching = (pattern: string) => urls.filter(url => new RegExp(pattern).test(url)).length

  test.each([...linear, ...throughRollup.map((text): [string, string?] => [text])])(
    'a single chart of %s counts them',
    async (pattern, same = pattern) => {
      expect(await ask(pattern)).toMatchObject({ status: 200, counted: matching(same) })
    },
  )

  describe('a cycle of the warmer', () => {
    /** What became of the charts of these patterns. */
    const cycle = async (interval: string, projects: string[]) => {
      const { store, engine, endpoints } = service.services
      const usage = (await endpoints.find('usage.api-counts'))!
      const names = parameterColumns(usage).map(({ name }) => name as 'interval' | 'project')
      const keys = projects.map(project => {
        const parameters = JSON.stringify(names.map(name => [name, { interval, project }[name]]))
        return {
          endpointId: usage.id,
          version: usage.version,
          sql: null,
          variant: 'clear' as const,
          parameters,
        }
      })
      for (const keyFields of keys) await use(store, usage, { keyFields })
      const report = await warm(
        { engine, store, log: () => {} },
        [usage],
        new Budget({ ms: 60_000, bytes: 1e12 }),
      )
      const bodies = await Promise.all(keys.map(keyFields => bodyOf(store, keyFields)))
      const counts = bodies.map(body => {
        const rows = (JSON.parse(body!) as { result: Record<string, number>[] }).result
        return rows.reduce((sum, row) => sum + (row['total_rest_requests'] ?? 0), 0)
      })
      return { report, counts }
    }

    test.each(['1hr', '7day'])(
      'answers %s in one batch of the log table and one of the roll-up',
      async interval => {
        const sets = [...linear, ...throughRollup.map((text): [string, string?] => [text])]
        const { report, counts } = await cycle(
          interval,
          sets.map(([pattern]) => pattern),
        )
        expect(report).toMatchObject({ refreshed: sets.length, failed: 0, runs: 2 })
        expect(counts).toEqual(sets.map(([pattern, same = pattern]) => matching(same)))
      },
    )
  })
})
