/** One process that uses the cache, for tests over several: it carries out orders that come over IPC. */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Answer } from '../../answers/answer.ts'
import { adapters } from '../../stores/testing/adapters.ts'
import { AnswerCache } from '../cache.ts'
import type { Order, Report, Settings } from './processes.ts'

const settings = JSON.parse(process.argv[2]!) as Settings
const adapter = adapters.find(({ name }) => name === settings.adapter)!
const cache = new AnswerCache(await adapter.open(settings.place), { memoryMs: 0, ...settings.times })
globalThis.Date = skewedDate(settings.skewMs) as DateConstructor

process.on('message', (order: Order) => {
  carryOut(order)
    .then(report => process.send!(report))
    .catch((error: unknown) =>
      process.send!({ id: order.id, statuses: [], texts: [String(error)] } satisfies Report),
    )
})
process.send!({ id: 0, statuses: [], texts: [] } satisfies Report)

async function carryOut({ id, key, callers, runMs, freshMs, runsFile, text }: Order): Promise<Report> {
  const read = () =>
    cache.read({
      keyFields: { endpointId: 'e', version: 'v', parameters: key, sql: null, variant: 'clear' },
      freshMs,
      timeoutMs: 30_000,
      noteUse: false,
      bypass: false,
      async make() {
        appendFileSync(runsFile, `${key} ${process.pid}\n`)
        await sleep(runMs)
        const body = Buffer.from(text ?? `made by ${process.pid}`)
        return { answer: Answer.fromJson({ rows: 1, truncated: false, redacted: false, columns: [] }, body) }
      },
    })
  const served = await Promise.all(Array.from({ length: callers }, read))
  const bodies = await Promise.all(served.map(({ answer }) => answer.bytes('identity')))
  await cache.close()
  return { id, statuses: served.map(({ status }) => status), texts: bodies.map(body => body.toString()) }
}

/** The whole clock: a client that reads it in two ways must not see two times. */
function skewedDate(skewMs: number) {
  const TrueDate = Date
  return class extends TrueDate {
    constructor(value: number | string | Date = TrueDate.now() + skewMs) {
      super(value)
    }

    static override now(): number {
      return TrueDate.now() + skewMs
    }
  }
}
