/** Differences as people read them: a unified diff without its head. */
import { createTwoFilesPatch } from 'diff'
import { stringify } from 'yaml'

/** The lines that differ between two texts. */
export function lineDiff(before: string, after: string): string {
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: 1 })
  return patch
    .split('\n')
    .filter(line => /^(?![+-]{3} |={5}|Index: )/.test(line) && !line.startsWith('\\ No newline'))
    .join('\n')
    .trim()
}

/** A bound for whole answers that are others: more is only counted. */
const mostLines = 40
const mostCharacters = 300

/** The lines that differ between two values as YAML, in which each cell of a row has one; indented. */
export function valueDiff(before: unknown, after: unknown): string[] {
  const lines = lineDiff(stringify(before), stringify(after)).split('\n')
  const more = lines.length - mostLines
  return lines
    .slice(0, mostLines)
    .map(line => (line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line))
    .concat(more > 0 ? [`and ${more} more lines`] : [])
    .map(line => `    ${line}`)
}
