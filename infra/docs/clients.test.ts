/** The recipes of clients.md, each with the requests that the client itself would send. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import vm from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse as parseYaml } from 'yaml'
import { edgeRow } from '../../functions/testing/edges.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { runCommand } from '../lqe/testing/command.ts'
import { typesCommand } from '../lqe/types.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(import.meta.dirname, 'clients.md'), 'utf8')
const project = 'qhzvnxwtrkdplmcoyaeb'
const folder = mkdtempSync(join(tmpdir(), 'clients-'))

let service: TestService

beforeAll(async () => {
  const rows = [edgeRow('a', new Date(Date.now() - 2_000).toISOString(), project, '/rest/v1/items')]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows } })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

function block(language: string): string {
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? ''
}

describe('Supabase Studio', () => {
  // Read in its lib/constants/api.ts and lib/api/self-hosted/logs.ts.
  interface Variables {
    LOGFLARE_URL: string
    LOGFLARE_PRIVATE_ACCESS_TOKEN: string
    ENABLED_FEATURES_LOGS_ALL: string
  }
  const compose = readFileSync(join(import.meta.dirname, 'studio/compose.yml'), 'utf8')
  const { studio } = (parseYaml(compose) as { services: Record<string, { environment: Variables }> }).services
  const { LOGFLARE_URL, LOGFLARE_PRIVATE_ACCESS_TOKEN, ENABLED_FEATURES_LOGS_ALL } = studio!.environment

  const get = (path: string) => {
    const [, key = ''] = /^\$\{(\w+)/.exec(LOGFLARE_PRIVATE_ACCESS_TOKEN)!
    expect(page).toContain(`${key}=lqe_... docker compose`)
    const headers = {
      'x-api-key': service.key,
      'Content-Type': 'application/json',
      Accept: 'application/json',
    }
    return fetch(`${LOGFLARE_URL}${path}`.replace('http://lqe:8080', service.url), {
      headers,
    })
  }

  test('shows its logs, by a text that is no other type in YAML', () => {
    expect(ENABLED_FEATURES_LOGS_ALL).toBe('true')
  })

  const logs = async (sql: string) => {
    const bounds = { iso_timestamp_start: '', iso_timestamp_end: '', project_tier: '' }
    const query = new URLSearchParams({ project, ...bounds, sql })
    return (await get(`/api/endpoints/query/logs.all?${query.toString()}`)).json() as Promise<Answer>
  }
  interface Answer {
    result: { timestamp: number }[]
    error?: { message: string }
  }

  test('gets rows with microseconds for its logs, with empty parameters and its own SQL', async () => {
    const { result } = await logs(`select id, timestamp, event_message from edge_logs
      cross join unnest(metadata) as m cross join unnest(m.request) as request
      where request.method = 'GET' order by timestamp desc limit 100`)
    expect(String(result[0]!.timestamp)).toMatch(/^\d{16}$/)
  })

  // As `genDefaultQuery` and `genChartQuery` write them where Studio is self-hosted (its Logs.utils.ts, 2026).
  test.each([
    [
      'its page of cron jobs, with a cast of PostgreSQL',
      `select id, postgres_logs.timestamp, event_message, parsed.error_severity, parsed.query from postgres_logs
       cross join unnest(metadata) as m cross join unnest(m.parsed) as parsed
       where ( parsed.application_name = 'pg_cron' or event_message::text LIKE '%cron job%' )
       order by timestamp desc limit 100`,
    ],
    [
      'the chart above its entries, with a comma before FROM',
      `SELECT -- log-event-chart
         timestamp_trunc(t.timestamp, minute) as timestamp,
         count(CASE WHEN response.status_code >= 500 THEN 1 END) as error_count,
       FROM edge_logs t
       cross join unnest(metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
       where t.timestamp > '2026-01-31T12:00:00.000Z'
       GROUP BY timestamp ORDER BY timestamp ASC`,
    ],
  ])('gets %s', async (_, sql) => expect((await logs(sql)).error).toBeUndefined())

  test('gets its usage chart', async () => {
    const response = await get(`/api/endpoints/query/usage.api-counts?interval=minutely&project=${project}`)
    const { result } = (await response.json()) as { result: object[] }
    expect(result).toEqual([expect.objectContaining({ total_rest_requests: 1, total_auth_requests: 0 })])
  })

  test('finds the message where it looks for it', async () => {
    const response = await get(`/api/endpoints/query/logs.all?project=${project}&sql=select+1+from+nowhere`)
    const { error } = (await response.json()) as { error: { message: string } }
    expect(error.message).toMatch(/nowhere/)
  })
})

test('a forwarder that names no project gets rows by the page’s pin, and its time', async () => {
  const [, pinned = ''] = /--name forwarder .*--pin project=(\w+)/.exec(page)!
  const key = await service.issue({ endpoints: ['logs.all'], pins: { project: pinned } })
  const [time = ''] = /TIMESTAMP_MICROS\(\d+\)/.exec(page)!
  const ask = async (condition: string) => {
    const sql = encodeURIComponent(`select count(*) as n from edge_logs where timestamp < ${condition}`)
    const response = await service.fetch(`/api/endpoints/query/logs.all?sql=${sql}`, { key })
    return [response.status, await response.text()] as const
  }
  expect(await ask(time)).toEqual([200, expect.stringContaining('"n":0')])
  expect(await ask('1795229663671397')).toEqual([400, expect.stringContaining('TIMESTAMP, INT64')])
})

describe('Grafana', () => {
  interface Target {
    type: 'json' | 'csv'
    url: string
    root_selector?: string
    columns: { selector: string; type: string }[]
  }
  const dashboard = JSON.parse(readFileSync(join(import.meta.dirname, 'grafana/usage.json'), 'utf8')) as {
    panels: { title: string; targets: Target[] }[]
  }

  const values: Record<string, string> = {
    interval: 'daily',
    project,
    // Grafana's date:iso is JavaScript's toISOString.
    '__from:date:iso': new Date(Date.now() - 3_600_000).toISOString(),
    '__to:date:iso': new Date().toISOString(),
  }
  const filledIn = (url: string) =>
    url.replaceAll(/\$\{(.*?)\}/g, (_, name: string) => values[name] ?? 'unknown')

  test.each(
    dashboard.panels.flatMap(({ title, targets }) => targets.map(target => [title, target] as const)),
  )('%s finds its columns in the answer', async (_, { type, url, root_selector: root_ = '', columns }) => {
    const filled = filledIn(url)
    const response = await service.fetch(filled)
    expect(response.status).toBe(200)
    const text = await response.text()
    const names =
      type === 'csv'
        ? text.split('\r\n', 1)[0]!.split(',')
        : Object.keys((JSON.parse(text) as Record<string, object[]>)[root_]![0]!)
    expect(columns.map(({ selector }) => selector)).toEqual(names)
  })
})

describe('Grafana’s panel of logs', () => {
  interface Target {
    url: string
    format: string
    columns: { text: string; type: string }[]
  }
  const dashboard = JSON.parse(readFileSync(join(import.meta.dirname, 'grafana/usage.json'), 'utf8')) as {
    __requires: { id: string }[]
    panels: { id: number; type: string; targets: Target[] }[]
  }
  const [target] = dashboard.panels.find(({ type }) => type === 'logs')!.targets as [Target]

  test('has the columns that Infinity’s format logs takes, by their names', () => {
    expect(target.format).toBe('logs')
    expect(target.columns.map(({ text, type }) => `${text} ${type}`)).toEqual([
      'timestamp timestamp_epoch',
      'body string',
      'level string',
      'id string',
    ])
  })

  test('gets milliseconds, a message and a level that Grafana has a colour for', async () => {
    const url = new URL(target.url, service.url)
    url.searchParams.set('project', project)
    url.searchParams.set('iso_timestamp_start', new Date(Date.now() - 3_600_000).toISOString())
    url.searchParams.set('iso_timestamp_end', '')
    const response = await service.fetch(url.pathname + url.search)
    const { result } = (await response.json()) as { result: object[] }
    expect(result).toEqual([
      { timestamp: expect.any(Number), body: expect.stringContaining('GET | 200'), level: 'info', id: 'a' },
    ])
    const { timestamp } = result[0] as { timestamp: number }
    expect(Math.abs(Date.now() - timestamp)).toBeLessThan(3_600_000)
  })

  test('is of a dashboard that names every kind of panel, and whose panels have ids of their own', () => {
    const kinds = dashboard.__requires.map(({ id }) => id)
    for (const { type } of dashboard.panels) expect(kinds).toContain(type)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })

  test('has a data source that may ask the service, as the page provisions it', () => {
    const provisioned = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(match => match[1]!)
    const { datasources } = parseYaml(provisioned.find(text => text.startsWith('apiVersion'))!) as {
      datasources: { url: string; jsonData: { allowedHosts: string[]; httpHeaderName1: string } }[]
    }
    const [{ url, jsonData }] = datasources as [(typeof datasources)[0]]
    expect(jsonData).toEqual({ allowedHosts: [url], httpHeaderName1: 'X-API-KEY' })
  })
})

test('a spreadsheet gets a table by the function of the page', async () => {
  const requests: { url: string; headers: Record<string, string> }[] = []
  const query = `usage.api-counts?interval=daily&project=${project}`
  // Apps Script's fetch is synchronous and Node's is not, so the response is fetched beforehand.
  const csv = await (await service.fetch(`/api/endpoints/query/${query}&format=spreadsheet`)).text()
  const sandbox = {
    PropertiesService: { getScriptProperties: () => ({ getProperty: () => service.key }) },
    UrlFetchApp: {
      fetch(url: string, { headers }: { headers: Record<string, string> }) {
        requests.push({ url, headers })
        return { getContentText: () => csv }
      },
    },
    Utilities: {
      parseCsv: (text: string) =>
        text
          .trim()
          .split('\r\n')
          .map(line => line.split(',')),
    },
  }
  const table = vm.runInNewContext(
    `${block('js')}; LOGQUERY(${JSON.stringify(query)})`,
    sandbox,
  ) as string[][]
  expect(table[0]).toEqual(expect.arrayContaining(['timestamp', 'total_rest_requests']))
  expect(table).toHaveLength(2)
  const path = new URL(requests[0]!.url)
  expect(
    (await service.fetch(path.pathname + path.search, { key: null, headers: requests[0]!.headers })).status,
  ).toBe(200)
})

test('a shell’s filter names existing fields', async () => {
  const [, filter = ''] = /\| jq -r '\.result\[\] \| \[(.*?)\]/.exec(page) ?? []
  const response = await service.fetch(
    `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`,
  )
  const { result } = (await response.json()) as { result: object[] }
  const fields = filter.split(', ').map(name => name.slice(1))
  expect(fields.length).toBeGreaterThan(1)
  for (const name of fields) expect(result[0]).toHaveProperty(name)
})

const lqeTypes = (...args: string[]) =>
  runCommand(
    typesCommand(act => act(service.services)),
    args,
  )

test('a typed client has the endpoints that its key may call, and no others', async () => {
  const key = await service.issue({ endpoints: ['logs.all'] })
  const { out } = await lqeTypes('--key', key.split('_')[1]!, '--out', '-')
  expect(out).toContain('logsAll: (')
  expect(out).not.toContain('usageApiCounts')
  const { err } = await lqeTypes('--key', service.key)
  expect(err).toContain('There is no such key. Its id is the part between lqe_ and the next _')
  expect(err).not.toContain(service.key.slice(-20))
  expect((await lqeTypes('--out', folder)).err).toMatch(/^EISDIR: /)
})

test('a typed client, written by lqe types, compiles and gets its rows', async () => {
  const { err } = await lqeTypes('--key', service.key.split('_')[1]!, '--out', join(folder, 'api.ts'))
  expect(err).toBe('')
  const values = [
    `const BASE_URL = ${JSON.stringify(service.url)}`,
    `const KEY = ${JSON.stringify(service.key)}`,
    `const PROJECT = ${JSON.stringify(project)}`,
  ]
  const [imports = '', ...program] = block('ts').split('\n\n')
  const [, ownSql = ''] = /`(api\.usageApiCountsSql\(.*\))`/.exec(page) ?? []
  const misuse = `console.log((await ${ownSql}).data.result)
// @ts-expect-error there is no such interval
void (() => api.usageApiCounts({ interval: 'weekly', project: PROJECT }))
// @ts-expect-error there is no such column
void data.result[0]!.total_rest_request`
  writeFileSync(join(folder, 'program.ts'), [imports, ...values, ...program, misuse].join('\n'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--erasableSyntaxOnly',
    '--skipLibCheck',
    '--ignoreConfig',
  ]
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), ...options, '--lib', 'es2024,dom,dom.iterable']
  const flags = ['--allowImportingTsExtensions', join(folder, 'program.ts')]
  const compiled = await promisify(execFile)(process.execPath, [...tsc, ...flags]).catch(
    (error: { stdout: string }) => error,
  )
  expect(compiled.stdout).toBe('')
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.ts')])
  expect(stdout).toMatch(/^[-0-9T:]{19} 1\n\[ \{ n: 1 \} \]\n$/)
})
