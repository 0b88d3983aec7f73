/** All that lqe prints. A terminal obeys control characters, and rows, names and messages may hold some. */
import { visible } from '../../shared/visible-text.ts'

/** On standard output, each as one line. */
export function print(...lines: string[]): void {
  for (const line of lines) console.log(oneLine(line))
}

/** On standard error, each as one line. */
export function warn(...lines: string[]): void {
  for (const line of lines) console.error(oneLine(line))
}

/** On standard output, for a program: a pipe or a file gets the text as it is. */
export function printData(text: string): void {
  if (!process.stdout.isTTY) return console.log(text)
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) print(line)
}

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', String.raw`\u{a}`)
}
