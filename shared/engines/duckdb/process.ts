/**
 * A process in which the local engine runs one query at a time, as `processes.ts` asks. That ends it where a query takes more
 * memory or time than it may, so nothing here has to.
 */
import { SqlError } from '../../sql/error.ts'
import {
  type Description,
  EngineError,
  type Rollup,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engine.ts'
import { openDuckDb } from './engine.ts'
import { readTableSchemas } from './tables.ts'

export interface ProcessOptions {
  logsFolder: string
  /** Holds the schemas of the tables. */
  tablesFolder: string
  /** That one query may take. */
  memoryBytes: number
}

/** What a process is asked, one call at a time. */
export type ProcessCall =
  | {
      name: 'run'
      statement: Statement
      limits: Omit<RunLimits, 'onBytes' | 'signal' | 'asText'>
      now: string
    }
  | { name: 'describe'; statement: Statement; limits: Pick<RunLimits, 'timeoutMs'> }
  | { name: 'has' | 'create' | 'remove'; rollup: Rollup }

/** For each call any number of `bytes`, and one of the others at the end. A result has its rows as text. */
export type Reply =
  | { bytes: number }
  | { done: RunResult | Description | boolean | void }
  | { failed: Pick<EngineError, 'reason' | 'message' | 'place' | 'bytes'> & { ofSql: boolean } }

/** Of JSON text, between two messages. */
const bytesPerMessage = 262_144

const options = JSON.parse(process.argv[2]!) as ProcessOptions
const readTables = () => readTableSchemas(options.tablesFolder)
let now = ''
const engine = openDuckDb({ ...options, tables: readTables(), readTables, now: () => now })
let stopping = new AbortController()

const send = (reply: Reply) => void process.send!(reply)

async function run({ statement, limits, now: time }: Extract<ProcessCall, { name: 'run' }>) {
  now = time
  let counted = 0
  const onBytes = (bytes: number) => {
    counted += bytes
    if (counted < bytesPerMessage) return
    send({ bytes: counted })
    counted = 0
  }
  const done = await engine.run(statement, { ...limits, onBytes, asText: true, signal: stopping.signal })
  send({ bytes: counted })
  return done
}

function answer(call: ProcessCall): Promise<Extract<Reply, { done: unknown }>['done']> {
  if (call.name === 'run') return run(call)
  if (call.name === 'describe') return engine.describe(call.statement, call.limits)
  return engine.rollups[call.name](call.rollup)
}

function failureOf(error: unknown): Reply {
  const known = error instanceof EngineError ? error : new EngineError('failed', 'The local engine failed')
  const { reason, message, place, bytes, cause } = known
  return { failed: { reason, message, place, bytes, ofSql: cause instanceof SqlError } }
}

process.on('message', (message: ProcessCall | 'stop') => {
  if (message === 'stop') return stopping.abort()
  stopping = new AbortController()
  void answer(message).then(
    done => send({ done }),
    error => send(failureOf(error)),
  )
})
// A terminal sends its signals to all processes, and runs go on while the service drains.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.on('disconnect', () => process.exit())
