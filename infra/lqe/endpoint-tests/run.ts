/** Runs an endpoint's tests on DuckDB, over their own rows and with their present, by the steps of a request. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { loadConfig } from '../../../shared/config.ts'
import { queryText } from '../../../shared/endpoints/query-string.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { EngineError, type Row } from '../../../shared/engines/engine.ts'
import { ApiError } from '../../../shared/errors.ts'
import type { Services } from '../../../shared/services.ts'
import { valueDiff } from '../apply/diff.ts'
import { carryOut, planFor } from '../apply/plan.ts'
import { type FileProblem, QueriesError } from '../apply/yaml.ts'
import { usingServices } from '../command.ts'
import { BadEntry, entryReader, type Json } from '../logs/entries.ts'
import { loadLogs } from '../logs/load.ts'
import { answerOf } from '../query.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import type { EndpointTests, Expected, TestCase } from './read.ts'

/** What a case answered. */
export interface Outcome {
  got: Expected
  /** `null` where it is what the case expects. */
  problem: FileProblem | null
}

/** @returns an outcome for each case @throws QueriesError for rows that their table cannot have */
export async function runTests(tests: EndpointTests): Promise<Outcome[]> {
  return withRows(tests, async services => {
    const outcomes: Outcome[] = []
    for (const [at, each] of tests.cases.entries()) outcomes.push(await runCase(services, tests, each, at))
    return outcomes
  })
}

/**
 * A service of its own over the tests' rows, until `act` has ended.
 * @throws QueriesError for rows that their table cannot have
 */
export async function withRows<T>(tests: EndpointTests, act: (services: Services) => Promise<T>): Promise<T> {
  assertRows(tests)
  const { tablesFolder } = tests
  return inTemporaryFolder('lqe-test', async folder => {
    for (const [table, rows] of Object.entries(tests.tables)) {
      const file = join(folder, `${table}.ndjson`)
      writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
      await loadLogs({ logsFolder: join(folder, 'logs'), tablesFolder, table, files: [file], out: () => {} })
    }
    const folders = { DATA_DIR: folder, TABLES_DIR: tablesFolder }
    const config = loadConfig({ ...folders, FROZEN_NOW: tests.now, ENGINE_PROCESSES: '0' })
    return usingServices(config, async services => {
      await store(services, tests)
      return act(services)
    })
  })
}

/** An endpoint that reads the rows of others finds them in the store. */
async function store({ store }: Services, { endpoint, sources }: EndpointTests): Promise<void> {
  const endpoints = sources.map(source => source.endpoint)
  if (endpoint.upstream) await carryOut(await planFor(endpoints, store), store, null)
}

/** What a load would leave out is an error here. */
function assertRows({ tables, problem, tablesFolder }: EndpointTests): void {
  const problems: FileProblem[] = []
  const schemas = readTableSchemas(tablesFolder)
  for (const [table, rows] of Object.entries(tables)) {
    const columns = schemas.get(table)
    if (!columns) {
      const detail = `is no log table; here are ${[...schemas.keys()].join(', ')}`
      problems.push(problem(`/tables/${table}`, detail, true))
      continue
    }
    const unknown: string[] = []
    const read = entryReader(columns, field => unknown.push(field))
    for (const [at, row] of rows.entries())
      try {
        read(row as Json, at + 1)
        for (const field of unknown.splice(0))
          problems.push(problem(`/tables/${table}/${at}`, `has ${field}, unknown to the table`))
      } catch (error) {
        if (!(error instanceof BadEntry)) throw error
        problems.push(problem(`/tables/${table}/${at}`, error.message))
      }
  }
  QueriesError.assertNone(problems)
}

/** @param at the case's place in its file */
export async function runCase(
  services: Services,
  tests: EndpointTests,
  one: TestCase,
  at: number,
): Promise<Outcome> {
  const { got, reason } = await outcomeOf(services, tests, one)
  const expected = {
    ...(one.rows === undefined ? {} : { rows: one.rows }),
    ...(one.error ? { error: one.error } : {}),
  }
  if (isDeepStrictEqual(got, expected)) return { got, problem: null }
  const words =
    'rows' in expected || 'error' in expected
      ? `answers otherwise${reason}:\n${valueDiff(expected, got).join('\n')}`
      : 'says neither rows nor error; lqe test --update writes what comes'
  return { got, problem: tests.problem(`/cases/${at}`, named(one, words)) }
}

function named({ name }: TestCase, words: string): string {
  return name === undefined ? words : `"${name}" ${words}`
}

async function outcomeOf(
  services: Services,
  { endpoint, now }: EndpointTests,
  { parameters, sql, redact = endpoint.redact, columns, rows: expected }: TestCase,
): Promise<{ got: Expected; reason: string }> {
  try {
    const options = { sql: sql ?? null, redact, fresh: true, now }
    const { answer } = await answerOf(services, endpoint, queryText(parameters), options)
    const rows = picked(await answer.rows(), columns)
    return { got: { rows: typeof expected === 'number' ? rows.length : rows }, reason: '' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message: detail, cause } = error
    return {
      got: { error: { code, detail } },
      reason: cause instanceof EngineError ? ` (${cause.message})` : '',
    }
  }
}

function picked(rows: Row[], columns: string[] | undefined): Row[] {
  if (!columns) return rows
  return rows.map(row => Object.fromEntries(columns.map(column => [column, row[column] ?? null])))
}
