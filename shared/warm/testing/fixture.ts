/** A cache with answers in use, and an engine that counts its runs; for tests of the warmer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach } from '@jest/globals'
import { AnswerCache } from '../../cache/cache.ts'
import { answersCollection, cacheKey, type CacheKeyFields, firstFields, headAt } from '../../cache/head.ts'
import type { QueryEngine, Row, RunLimits, Statement } from '../../engines/engine.ts'
import type { Endpoint } from '../../endpoints/definition.ts'
import { endpointFrom } from '../../endpoints/definition-file.ts'
import { finish } from '../../answers/answer.ts'
import { redactionVersion } from '../../redact/redact.ts'
import type { Details } from '../../log.ts'
import { fieldOf, setColumn, setsParameter } from '../../sql/batch/sets.ts'
import type { Fields, Store, Write } from '../../stores/store.ts'
import type { Adapter } from '../../stores/testing/adapters.ts'
import { type Faults, withFaults } from '../../stores/testing/faults.ts'
import { Budget } from '../turn.ts'
import type { WarmReport } from '../report.ts'
import { warm } from '../warm.ts'

const query = 'SELECT made, @project AS `of` FROM logs WHERE span = @span'
/** One that no batch can be made of. */
const alone = `${query} LIMIT @project`

/** Fresh for 15 minutes, refreshed every 5; `batch`: by one statement for many sets. */
export function endpointWith(changes: { batch?: boolean; [setting: string]: unknown } = {}): Endpoint {
  const { batch = false, ...settings } = changes
  const definition = {
    id: '00000000-0000-4000-8000-00000000000a',
    description: 'Something to count.',
    parameters: {
      required: ['project'],
      properties: {
        project: { type: 'string' },
        span: { type: 'string', enum: ['long', 'short'], default: 'short' },
      },
    },
    cache: { seconds: 900 },
    warm: { seconds: 300 },
    ...settings,
  }
  return endpointFrom('a.counts', definition, batch ? query : alone, () => `${query} AND TRUE`)
}

export function keyFieldsFor(
  endpoint: Endpoint,
  project: string,
  changes: Partial<CacheKeyFields> = {},
): CacheKeyFields {
  const parameters = JSON.stringify([
    ['project', project],
    ['span', 'short'],
  ])
  const { id, version } = endpoint
  return { endpointId: id, version, parameters, sql: null, variant: 'clear', ...changes }
}

export interface Use {
  keyFields: CacheKeyFields
  /** How long ago the answer was made. */
  ageMs?: number
  /** How long ago it was last read. */
  usedMs?: number
  uses?: number
  fields?: Fields
}

/** Stores an answer as readers leave it who read it some time ago. */
export async function use(store: Store, endpoint: Endpoint, usage: Use): Promise<void> {
  const { keyFields, ageMs = 400_000, usedMs = 10_000, uses = 2, fields = {} } = usage
  const cache = new AnswerCache(store, { memoryMs: 0 })
  const result = { columns: [], rows: [{ made: 'before' }], truncated: false }
  await cache.read({
    keyFields,
    freshMs: endpoint.cacheSeconds * 1000,
    timeoutMs: 60_000,
    noteUse: false,
    bypass: false,
    make: async () => ({ answer: await finish(endpoint, result, keyFields.variant !== 'clear') }),
  })
  await cache.close()
  const at = headAt(cacheKey(keyFields))
  const { document, readAt } = await store.get(at)
  const stored = { ...(document!.fields['stored'] as object), madeAt: readAt - ageMs }
  await store.update(at, { set: { stored, usedAt: readAt - usedMs, uses, ...fields } })
}

/** Many answers in use, as `use` stores one: by a few writes, and without a payload. */
export async function useMany(store: Store, endpoint: Endpoint, projects: string[]): Promise<void> {
  const { readAt } = await store.get({ collection: answersCollection, id: 'none' })
  const sizes = { chunks: 0, bytes: 1, rawBytes: 1, sha256: '', etag: '' }
  const summary = { rows: 0, truncated: false, redacted: false, columns: [] }
  const stored = { generation: 'before', ...sizes, ...summary, madeAt: readAt - 400_000 }
  const writes = projects.map((project, i): Write => {
    const keyFields = keyFieldsFor(endpoint, project)
    const fields = { ...firstFields(keyFields, readAt - 10_000 - i / 8), uses: 2, stored }
    return { type: 'create', at: headAt(cacheKey(keyFields)), fields }
  })
  for (let i = 0; i < writes.length; i += 500) await store.batch(writes.slice(i, i + 500))
}

/** What readers get now, without another run. */
export async function bodyOf(store: Store, keyFields: CacheKeyFields): Promise<string | null> {
  const found = await new AnswerCache(store, { memoryMs: 0 }).peek(keyFields, 3_600_000)
  return found && (await found.answer.bytes('identity')).toString()
}

export const redacted = { variant: redactionVersion }

interface CountingEngine extends QueryEngine {
  /** Projects of each run, in order; of one set, or of all of @sets. */
  ran: string[][]
  /** Called before each run; what it throws, the run throws. */
  before: (projects: string[], statement: Statement, limits: RunLimits) => void | Promise<void>
}

/** Answers `{made: 'now', of: project}` for each set, with the number of the set for a batch. */
function countingEngine({ ms = 5, bytes = 100 } = {}): CountingEngine {
  const told = { bytes, slotMs: null, jobId: null, truncated: false }
  const engine: CountingEngine = {
    ran: [],
    before: () => {},
    async run(statement, limits) {
      const { isBatch, projects } = askedBy(statement)
      engine.ran.push(projects)
      await engine.before(projects, statement, limits)
      await sleep(ms)
      const rows = projects.map((of, set) => ({ made: 'now', of, ...(isBatch ? { [setColumn]: set } : {}) }))
      const columns = ['made', 'of', ...(isBatch ? [setColumn] : [])]
      return { columns: columns.map(name => ({ name, type: { kind: 'STRING' } })), rows, ...told }
    },
    describe: () => Promise.reject(new Error('not used')),
    rollups: { has: async () => true, create: async () => {}, remove: async () => {} },
    close: async () => {},
  }
  return engine
}

function askedBy({ bindings }: Statement): { isBatch: boolean; projects: string[] } {
  const isBatch = bindings[0]!.name === setsParameter
  const sets = isBatch
    ? (bindings[0]!.value as Row[]).map(set => set[fieldOf('project')])
    : bindings.flatMap(({ name, value }) => (name === 'project' ? [value] : []))
  return { isBatch, projects: sets as string[] }
}

export interface Scene {
  store: Store
  faults: Faults
  engine: CountingEngine
  logged: [message: string, details: Details][]
  run(endpoints: Endpoint[], allowance?: typeof plenty): Promise<WarmReport>
}

export const plenty = { ms: 60_000, bytes: 1e12 }

/** A new store and engine before each test of the suite. */
export function sceneOn(adapter: Adapter): Scene {
  const scene = {} as Scene
  beforeEach(async () => {
    const faults: Faults = {}
    const logged: Scene['logged'] = []
    const engine = countingEngine()
    const store = withFaults(await adapter.open(), {
      before: (...call) => faults.before?.(...call),
      after: (...call) => faults.after?.(...call),
    })
    const log = (_: unknown, message: string, details: Details = {}) => void logged.push([message, details])
    const run: Scene['run'] = (endpoints, allowance = plenty) =>
      warm({ engine, store, log }, endpoints, new Budget(allowance))
    Object.assign(scene, { store, faults, engine, logged, run })
  })
  afterEach(() => scene.store.close())
  return scene
}

/** `p0`, `p1`, ... */
export function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `p${i}`)
}

/** Parameters of another span. */
export function long(project: string): Pick<CacheKeyFields, 'parameters'> {
  return {
    parameters: JSON.stringify([
      ['project', project],
      ['span', 'long'],
    ]),
  }
}
