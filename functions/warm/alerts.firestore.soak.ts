/** 1,000 alerts on 100 endpoints in one call of the warm function, with Google's Firestore emulator, an engine and a receiver. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { environment } from '../../shared/alerts/testing/delivering.ts'
import { type Receiver, startReceiver } from '../../shared/alerts/testing/receiver.ts'
import { loadConfig } from '../../shared/config.ts'
import { describeEmulator } from '../../shared/stores/testing/describe-stores.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'
import { warmEndpoints } from './handler.ts'

const [endpoints, alertsEach] = [100, 10]
const alerts = endpoints * alertsEach
const now = '2026-03-10T12:30:30.000Z'

/** Every other project has a request, which sets its alert off. */
const projects = Array.from({ length: alerts }, (_, i) => `project${i}`)
const rows = projects
  .filter((_, i) => i % 2 === 0)
  .map(project => edgeRow(project, '2026-03-10T12:30:00.000Z', project, '/'))

function writeEndpoints(queries: string, port: number): void {
  const hook = `{ kind: webhook, url: 'http://127.0.0.1:${port}/', secret: HOOK_SECRET }`
  writeFileSync(join(queries, 'channels.yaml'), `hook: ${hook}\n`)
  for (let i = 0; i < endpoints; i++) {
    const id = `0b1f3c5e-6d3c-4f6e-9a55-${String(i).padStart(12, '0')}`
    writeFileSync(
      join(queries, `one.n${i}.yaml`),
      `id: ${id}
description: Requests of a project.
parameters: { required: [project], properties: { project: { type: string } } }
cache: { seconds: 60 }
`,
    )
    writeFileSync(
      join(queries, `one.n${i}.sql`),
      `SELECT project, COUNT(*) AS requests, ${i} AS n FROM \`cloudflare.logs.prod\` WHERE project = @project GROUP BY project\n`,
    )
    for (const project of projects.slice(i * alertsEach, (i + 1) * alertsEach))
      writeFileSync(
        join(queries, `${project}.alert.yaml`),
        `endpoint: one.n${i}
parameters: { project: ${project} }
condition: { value: rows, above: 0 }
text: '{{ requests }} of {{ project }}'
channels: [hook]
`,
      )
  }
}

describeEmulator('the warm function over Firestore', () => {
  const queries = mkdtempSync(join(tmpdir(), 'alerts-on-firestore-'))
  let service: TestService
  let receiver: Receiver

  beforeAll(async () => {
    receiver = await startReceiver({ secure: false })
    writeEndpoints(queries, receiver.port)
    const env = {
      ...environment,
      FROZEN_NOW: now,
      STORE: 'firestore',
      GOOGLE_CLOUD_PROJECT: `alerts-${Date.now()}`,
      ALERTS_TO_LOOPBACK: 'yes',
    }
    service = await startService({ tables: { 'cloudflare.logs.prod': rows }, queries, env })
  }, 600_000)
  afterAll(async () => {
    await service.stop()
    await receiver.close()
    rmSync(queries, { recursive: true })
  })

  test(`${alerts} alerts on ${endpoints} endpoints are evaluated, stored and told in one call, within a minute`, async () => {
    const { services, env } = service
    const config = loadConfig(env)
    const all = await services.endpoints.all()
    for (const round of ['first', 'second'] as const) {
      const started = performance.now()
      const report = await warmEndpoints({ services, config, log: () => {} }, all)
      const seconds = (performance.now() - started) / 1000
      const counts: Record<string, number> = {}
      for (const { counts: own, error } of report.alerts) {
        expect(error).toBeNull()
        for (const [what, n] of Object.entries(own)) counts[what] = (counts[what] ?? 0) + n
      }
      process.stdout.write(`${round} call: ${seconds.toFixed(1)} s ${JSON.stringify(counts)}\n`)
      if (round === 'first')
        expect(counts).toEqual({ evaluated: alerts, firing: alerts / 2, sent: alerts / 2 })
      else expect(Object.keys(counts).filter(what => what !== 'evaluated')).toEqual([]) // some are due again
      expect(seconds).toBeLessThan(60)
    }
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(alerts / 2)
  }, 600_000)
})
