/**
 * `npm run recall -- FOLDER`: what the redactor finds in a folder of logs, against `personal-data.ts`. Recall is the
 * share of members that are gone from a redacted line; precision the share of replacements that cover a member. What
 * differs is printed, most frequent first, for a person to judge: a replacement may also be a credential by its name.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { redactText } from '../../shared/redact/redact.ts'
import { type Kind, personalData } from './personal-data.ts'

/** Counts by shape: each number is written as 9. */
class Shapes {
  private readonly counts = new Map<string, { count: number; example: string }>()

  add(text: string): void {
    const shape = text.replaceAll(/\d+/g, '9')
    const { count, example } = this.counts.get(shape) ?? { count: 0, example: text }
    this.counts.set(shape, { count: count + 1, example })
  }

  print(title: string, most: number): void {
    const sorted = [...this.counts.values()].toSorted((a, b) => b.count - a.count)
    if (sorted.length > 0) console.log(`\n${title}`)
    for (const { count, example } of sorted.slice(0, most))
      console.log(`${String(count).padStart(7)}  ${example}`)
    if (sorted.length > most) console.log(`         and ${sorted.length - most} more shapes`)
  }
}

interface Count {
  present: number
  left: number
}

function measure(folder: string, most: number): void {
  const counts = new Map<Kind, Count>()
  const [left, unconfirmed] = [new Shapes(), new Shapes()]
  let [lines, replaced, confirmed] = [0, 0, 0]
  for (const line of linesOf(folder)) {
    lines++
    const members = personalData(line)
    const redacted = redactText(line)
    for (const { kind, text } of members) {
      const count = counts.get(kind) ?? { present: 0, left: 0 }
      counts.set(kind, count)
      count.present++
      if (!redacted.includes(text)) continue
      count.left++
      left.add(`${kind}: ${around(line, line.indexOf(text), text.length)}`)
    }
    for (const { at, text } of replacements(line, redacted)) {
      replaced++
      if (members.some(member => text.includes(member.text))) confirmed++
      else unconfirmed.add(around(line, at, text.length))
    }
  }
  left.print('Left in the text:', most)
  unconfirmed.print('Replaced, and no address by the slow way:', most)
  console.log(`\n${lines} lines`)
  for (const [kind, { present, left: missed }] of counts)
    console.log(`${kind}: ${present}, left ${missed}: recall ${share(present - missed, present)}`)
  console.log(
    `replacements: ${replaced}, confirmed ${confirmed}: precision at least ${share(confirmed, replaced)}`,
  )
}

function* linesOf(folder: string): Generator<string> {
  for (const name of readdirSync(folder).toSorted()) {
    const path = join(folder, name)
    if (statSync(path).isFile())
      yield* readFileSync(path, 'utf8')
        .split('\n')
        .filter(line => line !== '')
  }
}

/** The parts of `line` in place of which `redacted` has the replacement. */
function replacements(line: string, redacted: string): { at: number; text: string }[] {
  if (line === redacted) return []
  const kept = redacted
    .split('REDACTED')
    .map(part => part.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`))
  const parts = new RegExp(`^${kept.join('(.+?)')}$`, 'ds').exec(line)?.indices ?? []
  return parts.slice(1).map(part => {
    const [start, end] = part!
    return { at: start, text: line.slice(start, end) }
  })
}

/** A text with a little of its line on both sides. */
function around(line: string, at: number, length: number): string {
  return `${line.slice(Math.max(0, at - 20), at)}[${line.slice(at, at + length)}]${line.slice(at + length, at + length + 12)}`
}

function share(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(3)} %`
}

await new Command('recall')
  .description('Compare what the redactor finds in a folder of logs with a slow and strict way to find it')
  .argument('<folder>', 'a folder of log files')
  .option('--most <shapes>', 'how many shapes of differences to print', Number, 40)
  .action((folder: string, { most }: { most: number }) => measure(folder, most))
  .parseAsync()
