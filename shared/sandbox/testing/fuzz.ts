import { ApiError } from '../../errors.ts'
import { parse } from '../../sql/parser.ts'
import { sandbox } from '../sandbox.ts'
import { statementLimits } from '../../sql/limits.ts'
import { attacks } from './attacks.ts'
import { logs } from './endpoints.ts'
import { leavesOf } from './leaves.ts'
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

const hostile = attacks.flatMap(({ attempts }) => Object.values(attempts)).filter(sql => sql.length < 2_000)

/** Makes queries of hostile and of valid ones by one to four changes; the same numbers make the same ones. */
export function mutations(random: Random): () => string {
  const valid = random.some(
    200,
    200,
    () => randomQuery(random, ['edge_logs', 'auth_logs', 'postgres_logs']).sql,
  )
  const corpus = [...hostile, ...valid.filter(sql => sql.length < 1_000)]
  return () => mutated(random, corpus)
}

/** Tries `count` mutations; the same seed tries the same ones. */
export function fuzz(count: number, seed: number): FuzzReport {
  const next = mutations(new Random(seed))
  const report: FuzzReport = { tried: 0, accepted: 0, failures: [] }
  for (; report.tried < count; report.tried++) {
    const sql = next()
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

/** Pieces that change a query's meaning: names of real tables, words that open a way out, ends of tokens. */
const splinters = [
  'secret', 'dataset.secret', '`secret`', 'd.secret', 'FROM', 'FROM secret', ', secret', 'JOIN secret USING (id)',
  'UNION ALL SELECT s FROM secret', '(SELECT MAX(s) FROM secret)', 'WITH secret AS (SELECT 1)', 'AS secret', 'secret AS (',
  'WITH', 'RECURSIVE', 'SELECT', 'EXISTS', 'UNNEST', 'edge_logs', 'auth_logs', '(', ')', '[', ']', ',', ';', '.', '*', '`',
  "'", '"', "'''", '"""', "r'", '\\', '--', '#', '/*', '*/', '\r', '\n', '\0', '@', '@@', '@project', '|>', '=>', '->',
  '1', '1e', '0x', 'NULL', 'NOT', '- ', 'AS', 'OVER', 'WINDOW', 'LIMIT', 'TABLE', 'MODEL', 'dataset.f(', 'RAND()',
  'FOR SYSTEM_TIME AS OF', 'PIVOT', '\u00a0', '\u0435', '\u017f', '\u212a', '\ud800',
] // prettier-ignore

/** One query of the corpus after one to four changes. */
function mutated(random: Random, corpus: readonly string[]): string {
  let sql = random.pick(corpus)
  const changes: ((sql: string) => string)[] = [
    text => insert(random, text, ` ${random.pick(splinters)} `),
    text => insert(random, text, random.pick(splinters)),
    text => insert(random, text, partOf(random, random.pick(corpus))),
    text => insert(random, text, partOf(random, text)),
    text => remove(random, text),
    text => replaceWord(random, text, random.pick(splinters)),
    text => replaceWord(random, text, random.pick(splinters)),
    text => swapWords(random, text),
    text => text.slice(0, random.below(text.length + 1)) + partOf(random, random.pick(corpus)),
    text => `(${text})`,
    text => `SELECT (${text})`,
    text => `WITH secret AS (${text}) SELECT s FROM secret`,
  ]
  for (let left = 1 + random.below(4); left > 0; left--) sql = random.pick(changes)(sql)
  return sql.slice(0, 20_000)
}

function partOf(random: Random, text: string): string {
  const start = random.below(text.length + 1)
  return text.slice(start, start + random.below(40))
}

function insert(random: Random, text: string, piece: string): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + piece + text.slice(at)
}

function remove(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + text.slice(at + 1 + random.below(8))
}

function replaceWord(random: Random, text: string, piece: string): string {
  const words = text.split(/\b/)
  words[random.below(words.length)] = piece
  return words.join('')
}

function swapWords(random: Random, text: string): string {
  const words = text.split(/\b/)
  const [one, other] = [random.below(words.length), random.below(words.length)]
  const word = words[one] ?? ''
  words[one] = words[other] ?? ''
  words[other] = word
  return words.join('')
}
