/** An endpoint in several versions, and interleaved calls for them: each is answered by the version that it is for. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { runCommand } from '../../infra/lqe/testing/command.ts'
import { restoreCommand } from '../../infra/lqe/versions/commands.ts'
import { startService, type TestService } from './service.ts'

export const path = '/api/endpoints/query/versioned'

export interface Body {
  result: { made_by: string; which: number }[]
  meta: { version: string }
}

export interface Versions {
  service: TestService
  /** The files that the next `apply` reads. */
  write(name: string, settings?: string): void
  apply(): Promise<void>
  /** Name -> version, of those that were applied. */
  all: Map<string, string>
}

/** Version `a` first, then `b` and so on: each says in its rows which it is. */
export async function startVersions(names: string[], rememberMs: number): Promise<Versions> {
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
  write(names[0]!)
  const service = await startService({
    tables: {},
    queries,
    env: { REMEMBER_MS: String(rememberMs) },
    bundle: null,
  })
  const all = new Map<string, string>()
  const { store, endpoints } = service.services
  const applyNow = () => apply(service.services, { queries, dryRun: false, out: () => {} })
  for (const name of names) {
    write(name)
    await applyNow()
    all.set(name, (await endpoints.all())[0]!.version)
  }
  expect((await store.query({ collection: 'endpointVersions', limit: 10 })).documents).toHaveLength(
    names.length,
  )
  return { service, write, apply: applyNow, all }
}

/** As the operator does, in another process than those that serve. */
export async function restore({ service }: Versions, version: string): Promise<void> {
  const command = restoreCommand(
    act => act(service.services),
    () => 'tester',
  )
  const { code, err } = await runCommand(command, ['versioned', version])
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

/** @returns how many calls each version answered */
export async function interleave(
  versions: Versions,
  { urls, calls, restoreEvery, rememberMs, seed }: Interleaving,
): Promise<Record<string, number>> {
  const random = randomFrom(seed)
  const choose = <T>(items: T[]): T => items[Math.floor(random() * items.length)]!
  const names = new Map([...versions.all].map(([name, version]) => [version, name]))
  const known = [...names.keys()]
  const inForce = [{ version: known.at(-1)!, since: 0 }]
  const wasInForce = (version: string, from: number, to: number) =>
    inForce.some(
      (each, at) =>
        each.version === version && each.since <= to && (inForce[at + 1]?.since ?? Infinity) >= from,
    )
  const counts: Record<string, number> = {}
  let left = calls
  const call = async () => {
    const [url, asked, which] = [choose(urls), choose([null, ...known]), choose([1, 2, 3, 4])]
    const name = choose(['SVC-ENDPOINT-VERSION', 'LF-ENDPOINT-VERSION'])
    const headers = {
      'X-API-KEY': versions.service.key,
      'SVC-ENDPOINT-REDACT-PII': choose(['true', 'false']),
      ...(asked === null ? {} : { [name]: asked }),
    }
    const began = Date.now()
    const response = await fetch(`${url}${path}?which=${which}`, { headers })
    const { result, meta } = (await response.json()) as Body
    const expected = { version: meta.version, rows: [{ made_by: names.get(meta.version), which }] }
    expect({ version: response.headers.get('svc-endpoint-version'), rows: result }).toEqual(expected)
    if (asked === null)
      expect(wasInForce(meta.version, began - rememberMs - slackMs, Date.now() + slackMs)).toBe(true)
    else expect(meta.version).toBe(asked)
    const answered = names.get(meta.version)!
    counts[answered] = (counts[answered] ?? 0) + 1
  }
  const caller = async () => {
    while (left-- > 0) {
      if (left % restoreEvery === 0) {
        const version = choose(known.filter(each => each !== inForce.at(-1)!.version))
        inForce.push({ version, since: Date.now() })
        await restore(versions, version)
      }
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
