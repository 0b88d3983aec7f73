/**
 * The local engine in processes of its own, one for each query that runs. Nothing in DuckDB bounds the memory and the time of
 * every query (it plans without heeding an interruption, and does not count the memory of lists and texts), but a process can
 * be killed: with it ends that query and no other.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { ending } from '../../package-folder.ts'
import { SqlError } from '../../sql/error.ts'
import { Deadline } from '../deadline.ts'
import {
  type DescribeLimits,
  describeMs,
  type Description,
  EngineError,
  type QueryEngine,
  type Rollup,
  type Rollups,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engine.ts'
import { rowsOf } from '../rows.ts'
import { Scheduler } from '../scheduler.ts'
import type { ProcessCall, ProcessOptions, Reply } from './process.ts'
import { readTableSchemas } from './tables.ts'

export interface ProcessesOptions extends ProcessOptions {
  /** Queries that run at a time. */
  atOnce: number
  /** The current time of queries, as ISO text; by default the time at which a run starts. */
  now?: string
}

/** Node and DuckDB with nothing to do have some 130 MB. */
const idleBytes = 200_000_000
/** Between two looks at how much a process has; where that takes a process of its own, fewer. */
const lookMs = process.platform === 'linux' ? 50 : 500
/** A query that runs for longer may take the processor: the process for the next one starts beside it. */
const spareAfterMs = 100
/** For an interruption to take effect, before the process is killed. */
const graceMs = 300
/** A run is lost with its process where that crashes, or somebody kills it. */
const mostLosses = 3

/**
 * Runs GoogleSQL on DuckDB. The first process starts in the first call.
 * @throws ConfigError for a schema that cannot be read
 */
export function openDuckDbProcesses(options: ProcessesOptions): QueryEngine {
  readTableSchemas(options.tablesFolder)
  return new EngineProcesses(options)
}

class EngineProcesses implements QueryEngine {
  private readonly options: ProcessesOptions
  private readonly scheduler: Scheduler
  private readonly idle: EngineProcess[] = []
  private readonly busy = new Set<EngineProcess>()
  private closed = false
  readonly rollups: Rollups

  constructor(options: ProcessesOptions) {
    this.options = options
    this.scheduler = new Scheduler(options.atOnce, { repeatable: true })
    const keep = (name: 'has' | 'create' | 'remove') => (rollup: Rollup) =>
      this.ask({ name, rollup }, { timeoutMs: Infinity }) as Promise<never> // the engine limits it
    this.rollups = { has: keep('has'), create: keep('create'), remove: keep('remove') }
  }

  async run(statement: Statement, limits: RunLimits): Promise<RunResult> {
    const now = this.options.now ?? new Date().toISOString()
    const { onBytes: _, signal: __, asText, ...sent } = limits
    const call: ProcessCall = { name: 'run', statement, limits: sent, now }
    const { text, ...result } = (await this.ask(call, limits, limits.labels?.key)) as RunResult
    return asText ? { ...result, text: text! } : { ...result, rows: rowsOf(text!) }
  }

  describe(statement: Statement, limits: DescribeLimits = {}): Promise<Description> {
    const { timeoutMs = describeMs } = limits
    const call: ProcessCall = { name: 'describe', statement, limits: { timeoutMs } }
    return this.ask(call, { ...limits, timeoutMs }, limits.labels?.key) as Promise<Description>
  }

  async close(): Promise<void> {
    this.closed = true
    for (const each of [...this.idle.splice(0), ...this.busy]) each.kill('closed')
  }

  private ask(
    call: ProcessCall,
    limits: Pick<RunLimits, 'timeoutMs' | 'signal' | 'onBytes'>,
    owner = '',
  ): Promise<unknown> {
    const deadline = new Deadline(limits)
    return this.scheduler.with(owner, deadline, turn => this.inProcess(call, turn, limits.onBytes))
  }

  private async inProcess(
    call: ProcessCall,
    turn: Deadline,
    onBytes?: RunLimits['onBytes'],
  ): Promise<unknown> {
    for (let losses = 1; ; losses++) {
      turn.check()
      if (this.closed) throw lost.closed()
      const one = this.idle.pop() ?? new EngineProcess(this.options)
      this.busy.add(one)
      const sparing = setTimeout(() => this.spare(), spareAfterMs)
      try {
        return await one.ask(call, turn, onBytes)
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        turn.check()
        // What a process has of the queries before is not this one's.
        const isItsOwn = error.why === 'memory' && !one.hasServed
        if (error.why === 'closed' || isItsOwn || losses === mostLosses) throw lost[error.why]()
      } finally {
        clearTimeout(sparing)
        this.busy.delete(one)
        if (one.isUsable) this.idle.push(one)
        else this.spare()
      }
    }
  }

  /** So that the next query need not wait for a process to start. */
  private spare(): void {
    if (this.idle.length === 0 && this.busy.size < this.options.atOnce && !this.closed)
      this.idle.push(new EngineProcess(this.options))
  }
}

type Why = 'closed' | 'crashed' | 'stopped' | 'memory'

class Lost extends Error {
  readonly why: Why
  constructor(why: Why) {
    super(why)
    this.why = why
  }
}

const lost: Record<Why, () => EngineError> = {
  closed: () => new EngineError('cancelled', 'The local engine was closed'),
  crashed: () => new EngineError('unavailable', 'The local engine ended while it ran the query'),
  stopped: () => new EngineError('cancelled', 'The query was stopped'),
  memory: () =>
    new EngineError(
      'result_too_large',
      'The query needs more memory than the local engine has: filter before it sorts, groups or joins',
    ),
}

/** DuckDB keeps to its limit by its own count. Lists, texts and functions, which it does not count, may have a quarter more. */
const withUncounted = 1.25

interface Asked {
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  onBytes: (bytes: number) => void
}

/** Answers one call at a time. */
class EngineProcess {
  /** Whether it has answered a call. */
  hasServed = false
  private readonly memoryBytes: number
  private readonly child: ChildProcess
  private asked: Asked | null = null
  private why: Why | null = null

  constructor({ memoryBytes, logsFolder, tablesFolder }: ProcessesOptions) {
    this.memoryBytes = memoryBytes
    const options: ProcessOptions = { logsFolder, tablesFolder, memoryBytes }
    this.child = fork(new URL(`process.${ending}`, import.meta.url), [JSON.stringify(options)], {
      execArgv: [],
      env: { NODE_COMPILE_CACHE: getCompileCacheDir() },
      serialization: 'advanced',
    })
    this.child.on('message', (reply: Reply) => this.hear(reply))
    this.child.on('exit', () => this.end('crashed'))
    this.child.on('error', () => this.kill('crashed'))
    this.letGo()
  }

  get isUsable(): boolean {
    return this.why === null && this.child.connected
  }

  /** Rejects with Lost where the process ends first, and at the end of `turn` soon. */
  async ask(call: ProcessCall, turn: Deadline, onBytes?: RunLimits['onBytes']): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    let given = 0
    const count = (bytes: number) => {
      given += bytes
      onBytes?.(bytes)
    }
    this.asked = { resolve, reject, onBytes: count }
    this.child.ref()
    this.child.channel?.ref()
    const looking = setInterval(() => this.look(), lookMs)
    const forget = turn.onEnd(() => this.stop())
    if (this.isUsable) this.child.send(call, error => error && this.kill('crashed'))
    else reject(new Lost('crashed'))
    try {
      return await promise
    } catch (error) {
      onBytes?.(-given)
      throw error
    } finally {
      clearInterval(looking)
      forget()
      this.asked = null
      this.hasServed = true
      // What it keeps would be missed by the next one.
      this.look(0.5)
      this.letGo()
    }
  }

  kill(why: Why): void {
    this.why ??= why
    this.child.kill('SIGKILL')
    this.end(why)
  }

  /** It is killed where an interruption does not end its call. */
  private stop(): void {
    const { asked } = this
    if (this.isUsable) this.child.send('stop', () => {})
    setTimeout(() => {
      if (asked === this.asked) this.kill('stopped')
    }, graceMs)
  }

  private hear(reply: Reply): void {
    const { asked } = this
    if (!asked) return
    if ('bytes' in reply) this.count(asked, reply.bytes)
    else if ('failed' in reply) asked.reject(errorOf(reply))
    else asked.resolve(reply.done)
  }

  private count(asked: Asked, bytes: number): void {
    try {
      asked.onBytes(bytes)
    } catch (error) {
      asked.reject(error)
      this.kill('stopped')
    }
  }

  private end(why: Why): void {
    this.why ??= why
    this.asked?.reject(new Lost(this.why))
  }

  /** @param share of the memory of a query that it may have at this moment */
  private look(share = 1): void {
    if (!this.isUsable) return
    if (residentBytes(this.child.pid!) > idleBytes + this.memoryBytes * withUncounted * share)
      this.kill('memory')
  }

  /** A child process that has ended is forgotten. */
  private letGo(): void {
    this.child.unref()
    this.child.channel?.unref()
  }
}

function errorOf({ failed }: Extract<Reply, { failed: unknown }>): EngineError {
  const { reason, message, ofSql, ...where } = failed
  return new EngineError(reason, message, {
    ...where,
    cause: ofSql ? new SqlError(message, where.place) : undefined,
  })
}

/** Memory of a process in bytes, also of one that is too busy to say it; 0 of one that has ended. */
function residentBytes(pid: number): number {
  try {
    const text =
      process.platform === 'linux'
        ? /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
        : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'latin1' })
    return Number(text ?? 0) * 1024
  } catch {
    return 0
  }
}
