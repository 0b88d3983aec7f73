/**
 * An endpoint in several versions, perhaps another one that reads it, and interleaved calls for all of them: each is
 * answered by the version that it is for.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { runCommand } from '../../infra/lqe/testing/command.ts'
import { restoreCommand } from '../../infra/lqe/versions/commands.ts'
import { startService, type TestService } from './service.ts'

const at = '/api/endpoints/query'
export const path = `${at}/versioned`

export interface Body {
  result: { made_by: string; which: number; read_by?: string }[]
  meta: { version: string }
}

export interface Versions {
  service: TestService
  /** The files that the next `apply` reads. */
  write(name: string, settings?: string): void
  apply(): Promise<void>
  /** Name -> version, of those that were applied. */
  all: Map<string, string>
  /** The same of the endpoint `reading`, which reads the rows of the other. */
  readers: Map<string, string>
}

/**
 * Version `a` first, then `b` and so on: each says in its rows which it is.
 * @param readers versions of `reading`, by default none
 */
export async function startVersions(
  names: string[],
  rememberMs: number,
  readers: string[] = [],
): Promise<Versions> {
  const queries = join(mkdtempSync(join(tmpdir(), 'versions-')), 'queries')
  mkdirSync(queries)
  const write = (name: string, settings = 'cache: { seconds: 60 }\nsandbox: true') => {
    const yaml = [
      'id: 3c0f5e7a-2f5e-4d0e-9a63-3f1b6a0c9d11',
      'description: Says which version it is.',
      'parameters: { required: [which], properties: { which: { type: integer } } }',
      settings,
    ]
    writeFileSync(join(queries, 'versioned.yaml'), yaml.join('\n'))
    const from = `WITH t AS (SELECT '${name}' AS made_by, @which AS which)`
    writeFileSync(join(queries, 'versioned.sql'), `${from} SELECT made_by, which FROM t`)
  }
  const writeReader = (name: string) => {
    const yaml = [
      'id: 8d1e6f0b-4a3c-4f7e-b2d5-6c9a1e8f7b20',
      'description: Says who read and who made the rows.',
      'parameters: { required: [which], properties: { which: { type: integer } } }',
      'cache: { seconds: 60 }',
      "upstream: { rows_of_it: { endpoint: versioned, parameters: { which: '@which' } } }",
    ]
    writeFileSync(join(queries, 'reading.yaml'), yaml.join('\n'))
    writeFileSync(join(queries, 'reading.sql'), `SELECT '${name}' AS read_by, made_by, which FROM rows_of_it`)
  }
  write(names[0]!)
  const service = await startService({
    tables: {},
    queries,
    env: { REMEMBER_MS: String(rememberMs) },
    bundle: null,
  })
  const { store, endpoints } = service.services
  const applyNow = () => apply(service.services, { queries, dryRun: false, out: () => {} })
  const applyEach = async (names: string[], endpoint: string, write: (name: string) => void) => {
    const versions = new Map<string, string>()
    for (const name of names) {
      write(name)
      await applyNow()
      versions.set(name, (await endpoints.all()).find(each => each.name === endpoint)!.version)
    }
    return versions
  }
  const all = await applyEach(names, 'versioned', name => write(name))
  const versions = { all, readers: await applyEach(readers, 'reading', writeReader) }
  const kept = await store.query({ collection: 'endpointVersions', limit: 10 })
  expect(kept.documents).toHaveLength(names.length + readers.length)
  return { service, write, apply: applyNow, ...versions }
}

/** As the operator does, in another process than those that serve. */
export async function restore({ service }: Versions, version: string, endpoint = 'versioned'): Promise<void> {
  const command = restoreCommand(
    act => act(service.services),
    () => 'tester',
  )
  const { code, err } = await runCommand(command, [endpoint, version])
  expect([code, err]).toEqual([0, ''])
}

interface Interleaving {
  /** Of processes that serve the same data. */
  urls: string[]
  calls: number
  /** A version is restored after each so many. */
  restoreEvery: number
  rememberMs: number
  seed: number
}

/** How much later a change may be seen than memory allows: a request under way, and the machine's load. */
const slackMs = 5_000
const callers = 16

/** An endpoint while its versions are restored. */
class Restored {
  readonly endpoint: string
  readonly names: Map<string, string>
  readonly known: string[]
  private readonly inForce: { version: string; since: number }[]

  /** @param versions by name, the one in force last */
  constructor(endpoint: string, versions: Map<string, string>) {
    this.endpoint = endpoint
    this.names = new Map([...versions].map(([name, version]) => [version, name]))
    this.known = [...this.names.keys()]
    this.inForce = [{ version: this.known.at(-1)!, since: 0 }]
  }

  /** @returns whether a call from then until now may have been answered by the version of this name */
  mayAnswer(name: string | undefined, from: number): boolean {
    return this.inForce.some(
      ({ version, since }, i) =>
        this.names.get(version) === name &&
        since <= Date.now() + slackMs &&
        (this.inForce[i + 1]?.since ?? Infinity) >= from - slackMs,
    )
  }

  async restoreOther(versions: Versions, choose: <T>(items: T[]) => T): Promise<void> {
    const version = choose(this.known.filter(each => each !== this.inForce.at(-1)!.version))
    this.inForce.push({ version, since: Date.now() })
    await restore(versions, version, this.endpoint)
  }
}

/** @returns how many calls each version answered, and of those that read it each with each */
export async function interleave(
  versions: Versions,
  { urls, calls, restoreEvery, rememberMs, seed }: Interleaving,
): Promise<Record<string, number>> {
  const random = randomFrom(seed)
  const choose = <T>(items: T[]): T => items[Math.floor(random() * items.length)]!
  const made = new Restored('versioned', versions.all)
  const read = new Restored('reading', versions.readers)
  const endpoints = versions.readers.size > 0 ? [made, read] : [made]
  const counts: Record<string, number> = {}
  let left = calls
  const call = async () => {
    const of = choose(endpoints)
    const [url, asked, which] = [choose(urls), choose([null, ...of.known]), choose([1, 2, 3, 4])]
    const name = choose(['SVC-ENDPOINT-VERSION', 'LF-ENDPOINT-VERSION'])
    const headers = {
      'X-API-KEY': versions.service.key,
      'SVC-ENDPOINT-REDACT-PII': choose(['true', 'false']),
      ...(asked === null ? {} : { [name]: asked }),
    }
    const remembered = Date.now() - rememberMs
    const response = await fetch(`${url}${at}/${of.endpoint}?which=${which}`, { headers })
    const { result, meta } = (await response.json()) as Body
    const answered = of.names.get(meta.version)!
    const { made_by: maker } = result[0]!
    const row = of === read ? { read_by: answered, made_by: maker, which } : { made_by: answered, which }
    const header = response.headers.get('svc-endpoint-version')
    expect({ version: header, rows: result }).toEqual({ version: meta.version, rows: [row] })
    if (asked === null) expect(of.mayAnswer(answered, remembered)).toBe(true)
    else expect(meta.version).toBe(asked)
    if (of === read) expect(made.mayAnswer(maker, remembered)).toBe(true)
    const key = of === read ? `${answered} of ${maker}` : answered
    counts[key] = (counts[key] ?? 0) + 1
  }
  const caller = async () => {
    while (left-- > 0) {
      if (left % restoreEvery === 0) await choose(endpoints).restoreOther(versions, choose)
      await call()
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return counts
}

/** Numbers from 0 to 1, always the same of a seed: a linear congruential generator (Numerical Recipes, 7.1). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
