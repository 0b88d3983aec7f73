/** Suites for every engine adapter, and for DuckDB alone. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Column } from '../../sql/types.ts'
import type { Binding, EngineError, QueryEngine, Row, RunLimits, Value } from '../engine.ts'
import { type Adapter, adapters, duckDb, type OpenEngine } from './adapters.ts'

/** The engine under test, and short ways to use it. */
export interface Bench {
  engine: () => QueryEngine
  append: OpenEngine['append']
  /** All rows of a query. */
  rows(sql: string, bindings?: Binding[]): Promise<Row[]>
  /** The value of one expression. */
  value(expression: string, bindings?: Binding[]): Promise<Value>
  /** The error that a query ends with. */
  failure(sql: string, bindings?: Binding[], limits?: Partial<RunLimits>): Promise<EngineError>
}

export const plenty: RunLimits = { maxRows: 10_000, timeoutMs: 60_000 }

/** A suite for every engine adapter, over empty tables. */
export function describeEngines(
  what: string,
  tables: Record<string, Column[]>,
  suite: (bench: Bench) => void,
  among: Adapter[] = adapters,
): void {
  for (const adapter of among)
    describe(`${what} on ${adapter.name}`, () => {
      let open: OpenEngine
      beforeAll(async () => {
        open = await adapter.open(tables)
      })
      afterAll(() => open.close())
      suite(benchOf(() => open))
    })
}

/** A suite for DuckDB alone, where results show how GoogleSQL is rewritten. */
export function describeDuckDb(
  what: string,
  tables: Record<string, Column[]>,
  suite: (bench: Bench) => void,
): void {
  describeEngines(what, tables, suite, [duckDb])
}

function benchOf(open: () => OpenEngine): Bench {
  const engine = () => open().engine
  const rows: Bench['rows'] = async (sql, bindings = []) =>
    (await engine().run({ sql, bindings }, plenty)).rows
  return {
    engine,
    append: (table, added) => open().append(table, added),
    rows,
    value: async (expression, bindings = []) =>
      (await rows(`SELECT ${expression} AS value`, bindings))[0]!['value']!,
    failure: (sql, bindings = [], limits = {}) =>
      engine()
        .run({ sql, bindings }, { ...plenty, ...limits })
        .then(
          () => Promise.reject(new Error(`${sql} did not fail`)),
          (error: EngineError) => error,
        ),
  }
}

interface FunctionClaims {
  /** GoogleSQL expressions and their values after BigQuery's documentation. */
  values: [expression: string, value: Value][]
  /** Expressions that are an error in BigQuery too, and a part of the message. */
  rejected?: [expression: string, message: string][]
  /** Correct GoogleSQL that the local engine does not support. */
  unsupported?: string[]
}

/** Functions and operators of the local engine, each in one expression. */
export function describeFunctions(
  what: string,
  { values, rejected = [], unsupported = [] }: FunctionClaims,
): void {
  describeDuckDb(what, {}, ({ value, failure }) => {
    test.each(values)('%s is %j', async (expression, expected) => {
      expect(await value(expression)).toEqual(expected)
    })

    for (const [expression, message] of rejected)
      test(`${expression} is refused: ${message}`, async () => {
        const error = await failure(`SELECT ${expression}`)
        expect(error.message).toContain(message)
        expect(error.reason).toBe('rejected')
      })

    for (const expression of unsupported)
      test(`${expression} is not supported`, async () => {
        const error = await failure(`SELECT ${expression}`)
        expect(error.message).toContain('is not supported by the local engine')
        expect(error.reason).toBe('unsupported')
      })
  })
}
