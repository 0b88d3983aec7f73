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

/** Rows of cells as lines, in columns. */
export function aligned(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map(row => row[at]!.length)))
  const lineOf = (row: string[]) => row.map((cell, at) => cell.padEnd(widths[at]!)).join('  ')
  return rows.map(row => lineOf(row).trimEnd())
}

function oneLine(text: string): string {
  return visible(text).replaceAll('\n', String.raw`\u{a}`)
}

/** What to do about what the system refuses, by the code of Node's error or the words of DuckDB's. */
const remedies: [refused: RegExp, remedy: string][] = [
  [/\bEACCES\b|\bEPERM\b|Permission denied/, 'Check who may read and write there.'],
  [/\bENOSPC\b|\bEDQUOT\b|No space left/, 'Make room on the disk, then run it again.'],
  [/\bEFBIG\b|File too large/, 'Raise the limit on the size of a file (ulimit -f), then run it again.'],
  [/\bELOOP\b/, 'Its links lead in a circle: name a file or folder itself.'],
  [/\bEISDIR\b/, 'It is a folder: name a file.'],
  [/\bENOTDIR\b|\bEEXIST\b/, 'A file is where a folder should be: name another place, or move the file.'],
  [/\bENOENT\b/, 'Name one that is there.'],
  [/\bEROFS\b/, 'What is there can only be read: name another place.'],
  [/\bENAMETOOLONG\b/, 'Give it a shorter name.'],
  [
    /\bEMFILE\b|\bENFILE\b|Too many open files/,
    'Raise the limit on open files (ulimit -n), then run it again.',
  ],
  [/\bEIO\b|Input\/output error/, 'Check the disk.'],
]

/** A line of an error's message, with what to do. */
export function withRemedy(line: string): string {
  const [, remedy] = remedies.find(([refused]) => refused.test(line)) ?? []
  return remedy === undefined ? line : `${line.replace(/\.$/, '')}. ${remedy}`
}
