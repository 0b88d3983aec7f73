/**
 * Asks Google's reference evaluator whether what is derived of random queries has their rows, cell by cell: the batch for
 * many sets of parameters, against each set alone; or a roll-up's level by the hour, against the log table. `zetasql.ts` says
 * how the evaluator is installed; name its folder:
 *
 *     node shared/engines/testing/reference/derived.ts <folder> batches|levels [count] [first seed]
 *
 * It prints counts of outcomes, and each difference where it is found. `an error` is one of the query itself, which has then no
 * rows to compare.
 */
import { Random } from '../../../sandbox/testing/random.ts'
import { SqlError } from '../../../sql/error.ts'
import { parse } from '../../../sql/parser.ts'
import { parameterNames } from '../../../sql/walk.ts'
import { freePort } from '../../../testing/free-port.ts'
import { batchFor, type ParameterSet, splitRows } from '../../../warm/batch.ts'
import {
  bindingsOf,
  endpointOf,
  randomQuery,
  randomRows,
  shown,
  tables,
} from '../../../warm/testing/random-queries.ts'
import { columns, historyOf } from '../../duckdb/testing/level-histories.ts'
import type { Binding, QueryEngine, Result } from '../../engine.ts'
import { byTheHour } from '../../rollup-levels.ts'
import { ZetaSql } from './zetasql.ts'

const [folder = '', subject = '', count = '10000', first = '1'] = process.argv.slice(2)
const zetasql = new ZetaSql(folder, await freePort())

/** What the evaluator does not answer. */
class Unanswered extends Error {}

async function run(sql: string, bindings: Binding[]): Promise<Result> {
  const verdict = await zetasql.evaluate(sql, bindings)
  if ('unjudged' in verdict) throw new Unanswered(`not judged: ${verdict.unjudged}`)
  if ('error' in verdict) throw new Unanswered(`an error: ${verdict.error}`)
  return { ...verdict, truncated: false }
}

/** What of the engine a batch is made by: the columns of tables. */
const engine = {
  describe: ({ sql }) => Promise.resolve({ columns: tables[/`(.*)`/.exec(sql)![1]!] }),
} as QueryEngine

async function* batches(seed: number): AsyncGenerator<string> {
  const random = new Random(seed)
  const { sql, isOrdered } = randomQuery(random)
  const names = [...parameterNames(parse(sql)).keys()].toSorted()
  if (names.length === 0) return yield 'no parameter'
  const drawn = random.some(2, 6, () => bindingsOf(names, random))
  const sets: ParameterSet[] = [...drawn, drawn[0]!]
  const alone: Result[] = []
  for (const set of drawn) alone.push(await run(sql, set))
  alone.push(alone[0]!)
  const endpoint = endpointOf(sets)
  const { sql: made, bindings } = (await batchFor(engine, endpoint, { sql, rollups: [] }))(sets)
  const together = splitRows(endpoint, sets.length, await whole(made, bindings))
  const texts = [alone, together].map(results => results.map(result => shown(result, isOrdered)))
  const at = sets.findIndex((_, at) => texts[0]![at] !== texts[1]![at])
  const isFilled = alone.some(({ rows }) => rows.length > 0)
  yield at < 0
    ? `equal${isFilled ? ', with rows' : ''}${isOrdered ? ', in order' : ''}`
    : different([sql, JSON.stringify(sets[at]), made, texts[0]![at]!, texts[1]![at]!])
}

async function* levels(seed: number): AsyncGenerator<string> {
  const rows = []
  for (const step of historyOf(seed)) {
    rows.push(...step.rows)
    await zetasql.load({ logs: { columns, rows } })
    for (const { rollup, own, from, bindings } of step.asked) {
      const made = byTheHour(rollup, from)
      const common = [rollup, made.rollup].map(({ name, sql }) => `\`${name}\` AS (${sql})`)
      const expected = await run(own, bindings)
      const found = await whole(`WITH ${common.join(', ')} ${made.sql}`, bindings)
      const texts = [expected, found].map(result => shown(result, true))
      yield texts[0] === texts[1]
        ? `equal${expected.rows.length > 0 ? ', with rows' : ''}`
        : different([own, JSON.stringify(bindings), made.sql, ...texts])
    }
  }
}

/** What is derived of a query that has rows has rows. */
async function whole(sql: string, bindings: Binding[]): Promise<Result> {
  return run(sql, bindings).catch((error: Error) => {
    if (error.message.startsWith('an error')) throw new Error(`${error.message}\n${sql}`)
    throw error
  })
}

function different(lines: string[]): string {
  process.stdout.write(`${lines.join('\n')}\n`)
  return 'different'
}

const subjects: Record<string, (seed: number) => AsyncGenerator<string>> = { batches, levels }
const tally = new Map<string, number>()
const last = Number(first) + Number(count) - 1

function counted(outcome: string, seed: number): void {
  if (outcome === 'different') process.stdout.write(`seed ${seed}: different\n`)
  tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
}

/** Of an error, without its place and names that are numbered. */
function outcomeOf(error: unknown): string {
  if (error instanceof SqlError) return `refused: ${error.message}`
  if (!(error instanceof Unanswered)) return different([String(error)])
  return error.message.split('\n', 1)[0]!.replaceAll(/\d+/g, '#').slice(0, 100)
}

const rows = randomRows(new Random(1))
await zetasql.start(
  Object.fromEntries(Object.entries(tables).map(([name, of]) => [name, { columns: of, rows: rows[name]! }])),
)
for (let seed = Number(first); seed <= last; seed++) {
  try {
    for await (const outcome of subjects[subject]!(seed)) counted(outcome, seed)
  } catch (error) {
    counted(outcomeOf(error), seed)
  }
  if (seed === last || seed % 500 === 0)
    process.stdout.write(`seeds ${first} to ${seed}: ${JSON.stringify([...tally])}\n`)
}
zetasql.stop()
