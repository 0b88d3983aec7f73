import { expect, test } from '@jest/globals'
import type { Value } from '../engine.ts'
import { describeDuckDb } from './describe-engines.ts'

export interface FunctionClaims {
  /** GoogleSQL expressions and what they are, worked out from BigQuery's documentation. */
  values: [expression: string, value: Value][]
  /** Expressions that are an error in BigQuery too, and what the message says. */
  rejected?: [expression: string, message: string][]
  /** Correct GoogleSQL that DuckDB has nothing for. */
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
