import { createTwoFilesPatch } from 'diff'

/** The lines that differ between two texts, as a unified diff without its head. */
export function lineDiff(before: string, after: string): string {
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: 1 })
  return patch
    .split('\n')
    .filter(line => /^(?![+-]{3} |={5}|Index: )/.test(line) && !line.startsWith('\\ No newline'))
    .join('\n')
    .trim()
}
