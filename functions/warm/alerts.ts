/** The alerts of an endpoint, by the steps of a call: each alert is a caller of its own. */
import { randomUUID } from 'node:crypto'
import type { Alert, Endpoint } from '../../shared/endpoints/definition.ts'
import { maxAgeMs } from '../../shared/alerts/due.ts'
import type { Subject } from '../../shared/alerts/record.ts'
import { type AlertReport, type Ask, findingOf, runAlerts } from '../../shared/alerts/run.ts'
import { fillText } from '../../shared/alerts/state.ts'
import { refreshTogether } from '../../shared/alerts/together.ts'
import type { AnswerResult } from '../../shared/run/query-request.ts'
import type { Config } from '../../shared/config.ts'
import { queryText } from '../../shared/endpoints/query-string.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import type { Log } from '../../shared/log.ts'
import type { RequestLine } from '../../shared/request-log.ts'
import type { Services } from '../../shared/services.ts'
import { Timing } from '../../shared/timing.ts'
import { version } from '../../shared/version.ts'
import { Budget } from '../../shared/warm/turn.ts'
import { limitOf } from '../../shared/warm/upstream.ts'
import { answerQuestion } from '../query/answer.ts'
import { withTimesAsText } from '../../shared/answers/times.ts'

interface Alerting {
  services: Services
  config: Pick<Config, 'frozenNow'>
  log: Log
  budget: Budget
}

/** One call for the alerts of an endpoint, with a line of usage for each that asked for rows. */
export async function runAlertsOf(alerting: Alerting, endpoint: Endpoint): Promise<AlertReport> {
  const { services, config, log, budget } = alerting
  const usage = new Map<string, Usage>()
  const present = (now: number) => (config.frozenNow === null ? now : Date.parse(config.frozenNow))
  const report = await runAlerts(
    {
      ...services,
      log,
      ask: (subject, now, beforeMs) => ask(alerting, usage, subject, present(now) - beforeMs),
      async prepare(subjects, now) {
        const bytes = await refreshTogether(
          { ...services, log, budget, now, present: present(now) },
          subjects,
        )
        for (const { alert } of bytes ? subjects : []) {
          const { line } = usageIn(usage, endpoint, alert)
          line.bytes = (line.bytes ?? 0) + bytes! / subjects.length
        }
      },
    },
    endpoint,
    budget,
  )
  for (const { line, statuses } of usage.values()) {
    const [cache, ...others] = statuses
    const one = cache && others.length === 0 ? { cache } : {}
    const bytes = typeof line.bytes === 'number' ? { bytes: Math.round(line.bytes) } : {}
    log(line.error === undefined ? 'INFO' : 'WARNING', 'alert evaluated', { ...line, ...one, ...bytes })
  }
  return report
}

/** What an alert finds now, and would tell, for an operator. Nothing is stored but answers. */
export async function askNow(
  services: Services,
  config: Pick<Config, 'frozenNow' | 'warmMaxBytes' | 'warmDeadlineMs'>,
  subject: Subject,
): Promise<{ finding: string; value: number | null; text: string }> {
  const budget = new Budget({ ms: config.warmDeadlineMs, bytes: config.warmMaxBytes })
  const present = config.frozenNow === null ? Date.now() : Date.parse(config.frozenNow)
  const alerting = { services, config, log: services.log, budget }
  const asking: Ask = (one, now, beforeMs) => ask(alerting, new Map(), one, now - beforeMs)
  const found = await findingOf(asking, subject, present)
  if (!found) return { finding: 'not now: another process makes the answer', value: null, text: '' }
  if ('code' in found) return { finding: found.finding, value: null, text: found.code }
  return { ...found, text: fillText(subject.alert, subject.set, found).text }
}

/** Of all sets of an alert in one call. */
interface Usage {
  line: RequestLine & { status: number; sets: number; rows: number; ms: number }
  statuses: Set<AnswerResult['status']>
}

/** The rows as a caller gets them who may call the endpoint, and nothing more; times are for people. @throws ApiError */
async function ask(
  { services, budget }: Alerting,
  usage: Map<string, Usage>,
  { endpoint, alert, set }: Subject,
  moment: number,
): Promise<Row[] | null> {
  const { line, statuses } = usageIn(usage, endpoint, alert)
  const question = {
    caller: callerFor(endpoint, alert),
    // It brings its answers up to date itself, so that to read them is no use for which the warmer keeps them fresh.
    endpoint: { ...endpoint, warm: null },
    query: queryText(set),
    callerSql: null,
    redacted: endpoint.redact,
    bypass: false,
    maxAgeSeconds: maxAgeMs(endpoint, alert) / 1000,
    gone: () => budget.signal,
  }
  const context = {
    services: { ...services, byteLimits: () => limitOf(budget) },
    config: { frozenNow: new Date(moment).toISOString() },
    notes: line,
  }
  const started = performance.now()
  line.sets++
  try {
    const { result } = await answerQuestion(context, question, new Timing())
    if (result.failure) throw result.failure
    statuses.add(result.status)
    // Another process is about to make a new one.
    if (result.status === 'stale') return null
    const rows = await result.answer.rows()
    line.rows += rows.length
    const { times = [] } = result.answer.summary
    return rows.map(row => withTimesAsText(row, times))
  } catch (error) {
    if (error instanceof ApiError) Object.assign(line, { error: error.code, status: error.status })
    throw error
  } finally {
    line.ms += Math.round(performance.now() - started)
  }
}

function callerFor({ name: endpoint }: Endpoint, { name }: Alert): Caller {
  return { keyId: `alert:${name}`, name, endpoints: [endpoint], pins: {}, rights: [], limits: null }
}

function usageIn(usage: Map<string, Usage>, endpoint: Endpoint, alert: Alert): Usage {
  const known = usage.get(alert.name)
  if (known) return known
  const { name, version: asked } = endpoint
  const { keyId } = callerFor(endpoint, alert)
  const names = { how: 'alert' as const, key: keyId, endpoint: name, version: asked }
  const request = { requestId: randomUUID(), method: 'POST', serviceVersion: version }
  const line = { ...request, ...names, status: 200, sets: 0, rows: 0, ms: 0 }
  const made: Usage = { line, statuses: new Set() }
  usage.set(alert.name, made)
  return made
}
