/** The recipe of clients.md, "Prometheus": its files, as a scrape reads them, and in Prometheus itself where it is installed. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse as parseYaml } from 'yaml'
import { edgeRow } from '../../functions/testing/edges.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { freePort } from '../../shared/testing/free-port.ts'

const recipe = join(import.meta.dirname, 'prometheus')
const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
const queries = join(folder, 'queries')
const page = readFileSync(join(import.meta.dirname, 'clients.md'), 'utf8')

interface Scrape {
  metrics_path: string
  params: Record<string, string[]>
  authorization: { credentials_file: string }
}
const config = readFileSync(join(recipe, 'prometheus.yml'), 'utf8')
const [scrape] = (parseYaml(config) as { scrape_configs: [Scrape] }).scrape_configs
const [project] = scrape.params['project']!

let service: TestService
let prometheus: ChildProcess | undefined

beforeAll(async () => {
  const [copy] = /^cp infra\/docs\/prometheus\/.*$/m.exec(page)!
  cpSync('queries', queries, { recursive: true })
  execFileSync('sh', ['-c', copy.replace(/queries\/$/, queries)])
  const row = (id: string, secondsAgo: number, status: number) => ({
    ...edgeRow(id, new Date(Date.now() - secondsAgo * 1000).toISOString(), project!, '/rest/v1/items'),
    metadata: [{ response: [{ status_code: status }] }],
  })
  const rows = [row('a', 2, 200), row('b', 3, 201), row('c', 4, 503), row('old', 600, 500)]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, queries })
})

afterAll(async () => {
  if (prometheus) {
    const ended = new Promise(resolve => prometheus!.once('exit', resolve))
    prometheus.kill()
    await ended
  }
  await service.stop()
  rmSync(folder, { recursive: true })
})

test('a scrape gets the numbers of which the alerts speak', async () => {
  const address = `${scrape.metrics_path}?${new URLSearchParams({ project: project! }).toString()}`
  const headers = {
    Authorization: `Bearer ${service.key}`,
    Accept: 'text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  }
  const text = await (await service.fetch(address, { headers, key: null })).text()
  const lines = text
    .trimEnd()
    .replace(/ \d{10}$/, ' NOW')
    .split('\n')
  expect(lines.slice(0, 2)).toEqual([
    '# HELP edge_requests_5m Requests of the last five minutes',
    '# TYPE edge_requests_5m gauge',
  ])
  expect(lines.filter(line => !line.startsWith('#')).toSorted()).toEqual([
    'edge_counted_seconds NOW',
    'edge_requests_5m{code="2xx"} 2',
    'edge_requests_5m{code="3xx"} 0',
    'edge_requests_5m{code="4xx"} 0',
    'edge_requests_5m{code="5xx"} 1',
  ])
  for (const [metric] of readFileSync(join(recipe, 'alerts.yml'), 'utf8').matchAll(/\bedge_\w+/g))
    expect(text).toContain(`# TYPE ${metric} gauge`)
})

const isInstalled = ['prometheus', 'promtool'].every(each => spawnSync(each, ['--version']).status === 0)
if (!isInstalled) console.warn('prometheus is not installed: its own reading of the recipe is skipped')
const testWithPrometheus = isInstalled ? test : test.skip

testWithPrometheus(
  'promtool finds no fault in the metrics, and the alerts fire when they should',
  async () => {
    const address = `${scrape.metrics_path}?project=${project}&format=prometheus`
    const input = await (await service.fetch(address)).text()
    const checked = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    expect([checked.status, checked.stderr]).toEqual([0, ''])
    const counted = { series: 'edge_counted_seconds{}', values: '0+60x10 600x20' }
    const requests = (code: string, values: string) => ({
      series: `edge_requests_5m{code="${code}"}`,
      values,
    })
    const alert = (eval_time: string, alertname: string, summary?: string) => ({
      eval_time,
      alertname,
      exp_alerts: summary ? [{ exp_annotations: { summary } }] : [],
    })
    const tests = {
      rule_files: [join(recipe, 'alerts.yml')],
      tests: [
        {
          interval: '1m',
          input_series: [counted, requests('2xx', '90x30'), requests('5xx', '0x10 10x20')],
          alert_rule_test: [
            alert('10m', 'ServerErrors'),
            alert('20m', 'ServerErrors', '10% of the requests of five minutes failed'),
            alert('12m', 'LogsNotCounted'),
            alert('29m', 'LogsNotCounted', 'The numbers from the logs are missing, or old'),
          ],
        },
      ],
    }
    writeFileSync(join(folder, 'test.json'), JSON.stringify(tests))
    const tested = spawnSync('promtool', ['test', 'rules', join(folder, 'test.json')], { encoding: 'utf8' })
    expect([tested.status, tested.stderr]).toEqual([0, ''])
  },
)

testWithPrometheus('Prometheus scrapes them with the key of the file, and has both alerts', async () => {
  cpSync(recipe, folder, { recursive: true })
  const own = config.replace('localhost:8080', new URL(service.url).host).replace(/(interval: )60s.*/, '$15s')
  writeFileSync(join(folder, 'prometheus.yml'), own.replace(/(timeout: )30s.*/, '$15s'))
  writeFileSync(join(folder, scrape.authorization.credentials_file), `${service.key}\n`)
  const url = `127.0.0.1:${await freePort()}`
  const flags = { 'config.file': 'prometheus.yml', 'storage.tsdb.path': 'data', 'web.listen-address': url }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  prometheus = spawn('prometheus', args, { cwd: folder, stdio: 'ignore' })
  const ask = async <T>(path: string) => {
    const response = await fetch(`http://${url}/api/v1/${path}`).catch(() => null)
    // Before its rules are read it answers 503 in plain text.
    return response?.ok ? ((await response.json()) as { data: T }).data : undefined
  }
  const sums = () => ask<{ result: { value: [number, string] }[] }>('query?query=sum(edge_requests_5m)')
  let sum: string | undefined // a scrape that takes too long leaves none
  while (!sum) {
    sum = (await sums())?.result[0]?.value[1]
    await sleep(100)
  }
  expect(sum).toBe('3')
  const rules = await ask<{ groups: { rules: { name: string }[] }[] }>('rules')
  expect(rules!.groups[0]!.rules.map(({ name }) => name)).toEqual(['ServerErrors', 'LogsNotCounted'])
})
