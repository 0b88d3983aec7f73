/** The tests of `queries/` notice nearly every other condition, bound and literal in its SQL. */
import { expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import type { Services } from '../../../shared/services.ts'
import { readQueries } from '../apply/read.ts'
import { type EndpointTests, readTests } from './read.ts'
import { runCase, withRows } from './run.ts'
import { mutantsOf } from './testing/mutants.ts'

const { tablesDir } = loadConfig({})

/** Every query of an endpoint, and the endpoint with another one in its place. */
function queriesOf(
  endpoint: Endpoint,
): [name: string, sql: string, change: (sql: string) => Partial<Endpoint>][] {
  const { sql, rollups, answers } = endpoint
  const answer = (at: number, changed: Partial<Endpoint['answers'][number]>) => ({
    answers: answers.with(at, { ...answers[at]!, ...changed }),
  })
  return [
    ['own query', sql, sql => ({ sql })],
    ...rollups.map((rollup, at): ReturnType<typeof queriesOf>[number] => [
      rollup.name,
      rollup.sql,
      sql => ({ rollups: rollups.with(at, { ...rollup, sql }) }),
    ]),
    ...answers.map(({ sql }, at): ReturnType<typeof queriesOf>[number] => [
      'from-roll-up',
      sql,
      sql => answer(at, { sql }),
    ]),
  ]
}

/** Mutants that change no answer, so that no test can catch them, each with the reason. */
const equivalent: [change: RegExp, reason: string][] = [
  [
    / 7 -> 8$|without .*INTERVAL 7 DAY\)$| 10080 -> 10081$/,
    'seven days are 10080 minutes: one bound is for BigQuery to prune by',
  ],
  [/^from-roll-up, .* 0 -> 1$/, 'an origin begins with https://, and so with no reference'],
  [/rollup, line (21|1): without/, 'a URL that is NULL has neither origin nor words'],
  [/rollup, line (9|1): '' -> /, 'an origin that is no URL stands for no reference'],
  [/rollup, line (11|1): (r'\^|'')/, 'words of the origin count once, whether they stand in it or beside it'],
]

async function isCaught(services: Services, tests: EndpointTests): Promise<boolean> {
  for (const [at, one] of tests.cases.entries())
    if ((await runCase(services, tests, one, at)).problem) return true
  return false
}

const missed = 'not caught'

test('at least 95 % of the mutants that change an answer are caught, of each endpoint', async () => {
  for (const tests of readTests('queries', readQueries('queries'), tablesDir))
    await withRows(tests, async services => {
      expect(await isCaught(services, tests)).toBe(false)
      const survivors: string[] = []
      let count = 0
      for (const [name, sql, change] of queriesOf(tests.endpoint))
        for (const mutant of mutantsOf(sql)) {
          const endpoint = {
            ...tests.endpoint,
            ...change(mutant.sql),
            version: `${tests.endpoint.name} mutant ${++count}`,
          }
          if (!(await isCaught(services, { ...tests, endpoint })))
            survivors.push(`${name}, line ${mutant.change}`)
        }
      const reasons = new Map<string, string[]>()
      for (const survivor of survivors) {
        const reason = equivalent.find(([change]) => change.test(survivor))?.[1] ?? missed
        reasons.set(reason, [...(reasons.get(reason) ?? []), survivor])
      }
      const caught = count - survivors.length
      const lines = [...reasons].flatMap(([reason, changes]) => [
        `  ${reason}:`,
        ...changes.map(change => `    ${change}`),
      ])
      const telling = caught + (reasons.get(missed)?.length ?? 0)
      process.stdout.write(
        [
          `${tests.endpoint.name}: ${caught} of ${count} mutants are caught, of ${telling} that change an answer`,
          ...lines,
          '',
        ].join('\n'),
      )
      expect(count).toBeGreaterThan(40)
      expect(caught / telling).toBeGreaterThanOrEqual(0.95)
    })
}, 7_200_000)
