/** Every attack is stopped by its rule, with a message that says why, and reaches no engine. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ApiError } from '../errors.ts'
import { sandbox } from './sandbox.ts'
import { attacks } from './testing/attacks.ts'
import { logs } from './testing/endpoints.ts'
import { RecordingEngine } from './testing/recording-engine.ts'

const realNames = /cloudflare|deno-|gotrue|postgres\.logs|\.prod/

/** As the service does it: an error of the sandbox ends the request before an engine runs. */
async function answer(engine: RecordingEngine, sql: string): Promise<ApiError | null> {
  try {
    await engine.run({ sql: sandbox(logs, sql).sql, bindings: [] })
    return null
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

for (const { rule, code, stops, attempts } of attacks) {
  describe(rule, () => {
    test.each(Object.entries(attempts))('stops %s', async (_, sql) => {
      const engine = new RecordingEngine()
      const error = await answer(engine, sql)
      expect(error?.code).toBe(code)
      expect(error?.problems).toHaveLength(1)
      expect(error?.problems[0]?.detail).toMatch(stops)
      expect(engine.statements).toEqual([])
    })

    test.each(Object.entries(attempts))('shows of %s only what the caller wrote', async (_, sql) => {
      const error = await answer(new RecordingEngine(), sql)
      const shownToCaller = JSON.stringify([error?.message, error?.problems])
      if (!realNames.test(sql)) expect(shownToCaller).not.toMatch(realNames)
      expect(error!.message.length).toBeLessThan(600)
    })
  })
}

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const examples = [...readme.matchAll(/^\*\*(\d+)\. .*?```(?:sql)?\n(.*?)\n```/gms)].map(
  match => [match[1]!, match[2]!.replace('\\r', '\r')] as const,
)

test.each(examples)('the example of rule %s in the README is stopped: %s', async (_, sql) => {
  expect((await answer(new RecordingEngine(), sql))?.code).toMatch(/^(sandbox_violation|invalid_query)$/)
})

test('each rule has an example in the README', () => {
  expect(examples.map(([rule]) => Number(rule))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('there are at least 150 attacks', () => {
  const attempts = attacks.flatMap(group => Object.values(group.attempts))
  expect(new Set(attempts).size).toBe(attempts.length)
  expect(attempts.length).toBeGreaterThanOrEqual(150)
})

test('an allowed query reaches the engine that the attacks do not', async () => {
  const engine = new RecordingEngine()
  expect(await answer(engine, 'SELECT COUNT(*) FROM edge_logs')).toBeNull()
  expect(engine.statements).toHaveLength(1)
})
