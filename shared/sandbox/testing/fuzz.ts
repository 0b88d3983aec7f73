import { ApiError } from '../../errors.ts'
import { parse } from '../../sql/parser.ts'
import { sandbox } from '../sandbox.ts'
import { statementLimits } from '../../sql/limits.ts'
import { attacksOnCorners } from './attacks-on-corners.ts'
import { attacksOnLanguage } from './attacks-on-language.ts'
import { attacksOnTables } from './attacks-on-tables.ts'
import { attacksOnText } from './attacks-on-text.ts'
import { logs } from './endpoints.ts'
import { leavesOf } from './leaves.ts'
import { mutated } from './mutations.ts'
import { Random } from './random.ts'
import { randomQuery } from './random-queries.ts'

export interface FuzzReport {
  tried: number
  /** How many the sandbox let pass. */
  accepted: number
  /** Crashes, leaks, and queries that took too long. */
  failures: { sql: string; what: string }[]
}

const slowMs = 100

const hostile = [...attacksOnCorners, ...attacksOnLanguage, ...attacksOnTables, ...attacksOnText]
  .flatMap(({ attempts }) => Object.values(attempts))
  .filter(sql => sql.length < 2_000)

/** Tries `count` mutations of hostile and of valid queries; the same seed tries the same ones. */
export function fuzz(count: number, seed: number): FuzzReport {
  const random = new Random(seed)
  const valid = random.some(
    200,
    200,
    () => randomQuery(random, ['edge_logs', 'auth_logs', 'postgres_logs']).sql,
  )
  const corpus = [...hostile, ...valid.filter(sql => sql.length < 1_000)]
  const report: FuzzReport = { tried: 0, accepted: 0, failures: [] }
  for (; report.tried < count; report.tried++) {
    const sql = mutated(random, corpus)
    const { accepted, failure } = attempt(sql)
    if (accepted) report.accepted++
    if (failure) report.failures.push({ sql, what: failure })
  }
  return report
}

function attempt(sql: string): { accepted: boolean; failure: string | null } {
  const start = performance.now()
  let accepted = false
  let failure = null
  try {
    const composed = sandbox(logs, sql)
    accepted = true
    failure = leakOf(composed.sql)
  } catch (error) {
    const expected = error instanceof ApiError && error.code !== 'internal'
    if (!expected) failure = String(error instanceof Error ? (error.cause ?? error) : error)
  }
  const slow = performance.now() - start > slowMs && fastestOf(3, sql) > slowMs
  return { accepted, failure: slow ? `takes over ${slowMs} ms` : failure }
}

function leakOf(composed: string): string | null {
  const outside = [...leavesOf(parse(composed, statementLimits))].filter(name => !realTables.has(name))
  return outside.length > 0 ? `reads ${outside.join(', ')}` : null
}

const realTables = leavesOf(parse(logs.sql))

/** On a busy machine a fast query may seem slow, so a slow one is timed again. */
function fastestOf(times: number, sql: string): number {
  const taken = Array.from({ length: times }, () => {
    const start = performance.now()
    try {
      sandbox(logs, sql)
    } catch {
      // Only the time matters.
    }
    return performance.now() - start
  })
  return Math.min(...taken)
}
