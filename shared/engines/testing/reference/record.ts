/**
 * Records what Google's reference evaluator makes of the corpus, in `corpus/*.ndjson`. `zetasql.ts` says how it is
 * installed; name its folder, and subjects if not all are to be recorded:
 *
 *     node shared/engines/testing/reference/record.ts <folder> [subject ...]
 *
 * Questions that the evaluator cannot judge are printed, and to be taken out of the corpus.
 */
import type { Value } from '../../engine.ts'
import { type Answer, type Failed, type Question, questionsOf, subjects, writeAnswers } from './corpus.ts'
import { tables } from './tables.ts'
import { ZetaSql } from './zetasql.ts'

const [folder = '', ...named] = process.argv.slice(2)
const zetasql = new ZetaSql(folder)

async function record(subject: string): Promise<void> {
  const answers = new Map<string, Answer>()
  for (const question of questionsOf(subject)) {
    const started = performance.now()
    const answer = await answerTo(question)
    const seconds = (performance.now() - started) / 1000
    if (seconds > 2) process.stdout.write(`${seconds.toFixed(1)} s: ${question.id}\n`)
    if (answer) answers.set(question.id, answer)
  }
  writeAnswers(subject, answers)
  process.stdout.write(`${subject}: ${answers.size} answers\n`)
}

/** `null` for one that cannot be judged. */
async function answerTo({ id, sql, grid }: Question): Promise<Answer | null> {
  const all = grid ? `SELECT ${sql} AS value FROM ${grid} ORDER BY n` : sql
  const verdict = await zetasql.evaluate(all)
  if ('unjudged' in verdict) return notJudged(id, verdict.unjudged)
  if ('rows' in verdict) return grid ? verdict.rows.map(row => row['value']!) : verdict.rows
  if (!grid) return { error: verdict.error }
  const each: (Value | Failed)[] = []
  for (let n = 1; n <= tables[grid]!.rows.length; n++) {
    const one = await zetasql.evaluate(`SELECT ${sql} AS value FROM ${grid} WHERE n = ${n}`)
    if ('unjudged' in one) return notJudged(id, one.unjudged)
    each.push('rows' in one ? one.rows[0]!['value']! : { error: one.error })
  }
  const errors = new Set(each.map(value => JSON.stringify(value)))
  return errors.size === 1 ? { error: verdict.error } : each
}

function notJudged(id: string, why: string): null {
  process.stdout.write(`not judged: ${id}: ${why}\n`)
  return null
}

await zetasql.start(tables)
for (const subject of named.length > 0 ? named : subjects) await record(subject)
zetasql.stop()
