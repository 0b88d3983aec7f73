import { expect, test } from '@jest/globals'
import type { EngineError, QueryEngine, Statement } from '../engines/engine.ts'
import { describeEngines } from '../engines/testing/describe-engines.ts'
import { runNewestFirst } from './newest-first.ts'
import {
  appendRandomRows,
  compareWindows,
  logTable,
  newestEndpoint,
  statementOf,
  tails,
} from './testing/windows.ts'

const hour = 3_600_000
const limits = { maxRows: 1000, timeoutMs: 60_000 }

describeEngines('the newest rows by steps', logTable, ({ engine, append }) => {
  /** The engine, and how far back each of its runs reads, in hours; `null` = without a bound. */
  function watched(): { readings: (number | null)[]; engine: QueryEngine } {
    const readings: (number | null)[] = []
    const hoursBack = ({ bindings }: Statement) => {
      const { value } = bindings.find(({ name }) => name === 'from')!
      return value === null ? null : Math.round((Date.now() - Date.parse(value as string)) / hour)
    }
    const run: QueryEngine['run'] = (statement, limits) => {
      readings.push(hoursBack(statement))
      return engine().run(statement, limits)
    }
    return { readings, engine: { ...engine(), run } }
  }

  test('are those of one reading, for random windows, projects and densities', async () => {
    await appendRandomRows({ append }, 11)
    // A seed with readings of all kinds among its first calls; the soak takes random ones.
    const counts = await compareWindows(engine(), { seed: 14, count: 12 })
    expect(counts.narrow).toBeGreaterThan(2)
    expect(counts.readings).toBeGreaterThan(15)
  })

  test('take as many readings as it needs, and begin where the last call ended', async () => {
    const endpoint = newestEndpoint(tails[0], ['PT2H', 'PT5H', 'P2D'])
    const calls = [
      ['dense', null, [2]],
      ['hourly', null, [2, 5]],
      ['hourly', null, [5]],
      ['none', null, [2, 48, null]],
      ['none', null, [null]],
      ['sparse', hour * 4, [2, 4]],
    ] as const
    const { readings, engine } = watched()
    for (const [project, back, expected] of calls) {
      const from = back === null ? null : new Date(Date.now() - back).toISOString().replace('Z', '000Z')
      await runNewestFirst(engine, endpoint, statementOf(endpoint, project, from, null), limits)
      expect([project, readings.splice(0)]).toEqual([project, expected])
    }
  })

  test('count back from the upper bound', async () => {
    const endpoint = newestEndpoint(tails[0], ['PT2H'])
    const until = new Date(Date.now() - 10 * hour).toISOString().replace('Z', '000Z')
    const { readings, engine } = watched()
    await runNewestFirst(engine, endpoint, statementOf(endpoint, 'dense', null, until), limits)
    expect(readings).toEqual([12, null])
  })

  test('are read at once where the statement has another shape', async () => {
    const endpoint = newestEndpoint('SELECT COUNT(*) AS n FROM entries ORDER BY n DESC LIMIT 1')
    const { readings, engine } = watched()
    await runNewestFirst(engine, endpoint, statementOf(endpoint, 'dense', null, null), limits)
    expect(readings).toEqual([null])
  })

  test('cost what all readings cost, also where the last one is refused', async () => {
    const endpoint = newestEndpoint(tails[1], ['PT1H', 'P1D'])
    const statement = statementOf(endpoint, 'none', null, null)
    const whole = (await engine().run(statement, limits)).bytes
    if (whole === null) return expect(engine().constructor.name).not.toBe('BigQueryEngine')
    const each: number[] = []
    const run: QueryEngine['run'] = async (...args) => {
      const result = await engine().run(...args)
      each.push(result.bytes!)
      return result
    }
    const { bytes } = await runNewestFirst({ ...engine(), run }, endpoint, statement, limits)
    const [hour = 0, day = 0] = each
    expect(each).toEqual([hour, day, whole])
    expect(hour).toBeLessThanOrEqual(whole)
    expect(bytes).toBe(hour + day + whole)
    const maxBytes = hour + day + 5
    const error = await runNewestFirst({ ...engine(), run }, endpoint, statement, {
      ...limits,
      maxBytes,
    }).catch((thrown: EngineError) => thrown)
    expect(error).toMatchObject({ reason: 'too_many_bytes', cost: { bytes: hour + day } })
    expect((error as EngineError).bytes).toEqual({ estimate: hour + day + whole, limit: maxBytes })
  })
})
