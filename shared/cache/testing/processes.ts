/** For tests: several processes on one cache, which carry out orders. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../stores/store.ts'
import type { Adapter } from '../../stores/testing/adapters.ts'
import type { CacheTimes } from '../durations.ts'

/** What a process is started with. */
export interface Settings {
  adapter: string
  /** What the adapter opens. */
  place: string
  /** How far the process's own clock is off; the store's is not. */
  skewMs: number
  times: Partial<CacheTimes>
}

export interface Order {
  id: number
  key: string
  callers: number
  runMs: number
  freshMs: number
  runsFile: string
  /** Body of the answer; by default it names the process. */
  text?: string
}

export interface Report {
  id: number
  statuses: string[]
  texts: string[]
}

interface Member {
  child: ChildProcess
  read(order: Partial<Order> & { key: string }): Promise<Report>
}

export interface Crowd {
  /** Opens the store that they have in common. */
  open(): Promise<Store>
  members: Member[]
  /** Which processes ran the engine for a key, in order. */
  runs(key: string): number[]
  /** One more process. */
  start(): Promise<Member>
  stop(): Promise<void>
}

/** Starts processes on one new store, each with its clock off by its `skewMs`. */
export async function startCrowd({
  adapter,
  skewMs,
  times,
}: {
  adapter: Adapter
  skewMs: number[]
  times: Partial<CacheTimes>
}): Promise<Crowd> {
  const folder = mkdtempSync(join(tmpdir(), 'cache-'))
  const place = join(folder, 'store')
  const runsFile = join(folder, 'runs')
  const members: Member[] = []
  const start = async (skew = 0) => {
    const settings: Settings = { adapter: adapter.name, place, skewMs: skew, times }
    const member = await startOne(settings, runsFile)
    members.push(member)
    return member
  }
  await Promise.all(skewMs.map(start))
  return {
    open: () => adapter.open(place),
    members,
    start,
    runs(key) {
      const lines = existsSync(runsFile) ? readFileSync(runsFile, 'utf8').trim().split('\n') : []
      return lines.filter(line => line.startsWith(`${key} `)).map(line => Number(line.slice(key.length + 1)))
    },
    async stop() {
      for (const { child } of members) child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function startOne(settings: Settings, runsFile: string): Promise<Member> {
  const program = join(import.meta.dirname, 'process.ts')
  const child = fork(program, [JSON.stringify(settings)], {
    env: process.env, // which says where the emulator is
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  })
  const waiting = new Map<number, { resolve: (report: Report) => void; reject: (error: Error) => void }>()
  let last = 0
  const reply = (id: number) =>
    new Promise<Report>((resolve, reject) => {
      waiting.set(id, { resolve, reject })
    })
  child.on('message', (report: Report) => {
    waiting.get(report.id)?.resolve(report)
    waiting.delete(report.id)
  })
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process ended'))
  })
  await reply(0)
  return {
    child,
    read({ key, ...order }) {
      const id = ++last
      const report = reply(id)
      report.catch(() => {}) // a test that kills it expects the end
      child.send({ callers: 1, runMs: 0, freshMs: 60_000, ...order, id, key, runsFile } satisfies Order)
      return report
    },
  }
}
