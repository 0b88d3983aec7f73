import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readCsv } from './csv.ts'
import { CommandError } from '../command.ts'
import { type Line, longestLine } from './lines.ts'
import { expectProcessorTime } from '../../../shared/testing/processor-time.ts'

/** Reads CSV that arrives in these pieces. */
async function linesOf(...pieces: (Buffer | string)[]): Promise<Line[]> {
  const stdin = Readable.from(pieces.map(piece => Buffer.from(piece)))
  return Readable.from(readCsv({ file: '-', stdin, onText: () => {} })).toArray() as Promise<Line[]>
}

/** What is read by the lines' numbers: a row's values, or why there is none. The line of names is left out. */
async function read(...pieces: (Buffer | string)[]): Promise<[number: number, row: unknown][]> {
  const rows = (await linesOf(...pieces)).filter(({ text }) => text !== '')
  return rows.map(({ number, text }) => {
    const row = JSON.parse(text!) as object | string
    return [number, typeof row === 'string' ? row : Object.values(row)]
  })
}

const afterQuote = 'text after a closing quote; a quote in a quoted value is written ""'
const unclosed = 'a quoted value without its closing quote'
const count = (values: number) => `values: ${values}, names: 2`

describe('the rows of a CSV file', () => {
  test.each<[what: string, text: string, rows: [number, unknown][]]>([
    [
      'end with LF, CRLF or CR',
      'a,b\r\n1,2\n3,4\r5,6',
      [
        [2, ['1', '2']],
        [3, ['3', '4']],
        [4, ['5', '6']],
      ],
    ],
    [
      'all end with CR in files of old Macs',
      'a,b\r1,2\r3\r',
      [
        [2, ['1', '2']],
        [3, count(1)],
      ],
    ],
    ['have ; between values', 'a;b\n1,5;2\n', [[2, ['1,5', '2']]]],
    ['have tabs between values', 'a\tb\n1\t\n', [[2, ['1', null]]]],
    ['have | between values', 'a|b\n1|2\n', [[2, ['1', '2']]]],
    ['have the delimiter of the names, whatever is in quotes', '"a;b;c",d\n1,2\n', [[2, ['1', '2']]]],
    ['have the delimiter of names of several lines', 'a,"b\nb;b;b"\n1,2\n', [[3, ['1', '2']]]],
    [
      'have delimiters, quotes and lines in quotes',
      'a,b\n"1,""2""","x\r\n\ny"\n3,4\n',
      [
        [2, ['1,"2"', 'x\n\ny']],
        [5, ['3', '4']],
      ],
    ],
    ['may have blanks around quotes', 'a, "b"\n "1" , "2,3"\n', [[2, ['1', '2,3']]]],
    ['keep blanks and quotes of values without quotes', 'a,b\n 1 ,5" disk\n', [[2, [' 1 ', '5" disk']]]],
    [
      'may have empty values at their end',
      'a,b\n1,2,,\n,\n',
      [
        [2, ['1', '2']],
        [3, [null, null]],
      ],
    ],
    [
      'are not blank lines, which count as lines',
      '\na,b\n\n1\n \n2,3\n',
      [
        [4, count(1)],
        [6, ['2', '3']],
      ],
    ],
    [
      'are reported where values are missing or too many',
      'a,b\n1,2,3\n4,5\n6\n',
      [
        [2, count(3)],
        [3, ['4', '5']],
        [4, count(1)],
      ],
    ],
    [
      'go on after a quote too many',
      'a,b\n1,"x"y"\n2,3\n',
      [
        [2, afterQuote],
        [3, ['2', '3']],
      ],
    ],
    [
      'go on after a quote that another line closes',
      'a,b\n1,"x\n2,"y"\n3,4\n',
      [
        [2, afterQuote],
        [3, ['2', 'y']],
        [4, ['3', '4']],
      ],
    ],
    [
      'go on after a quote that makes one row of several',
      'a,b\n1,"x\n2,3\n4,y",5\n6,7\n',
      [
        [2, count(3)],
        [3, ['2', '3']],
        [4, count(3)],
        [5, ['6', '7']],
      ],
    ],
    [
      'go on after a quote that nothing closes',
      'a,b\n1,"x\n2,3\n\n4,5',
      [
        [2, unclosed],
        [3, ['2', '3']],
        [5, ['4', '5']],
      ],
    ],
    ['end where the last one has no closing quote', 'a,b\n1,"x', [[2, unclosed]]],
  ])('%s', async (_what, text, rows) => {
    expect(await read(text)).toEqual(rows)
  })

  test('have the names of the first line, each once', async () => {
    const [, line] = await linesOf('a, a ,A,,a_1,__proto__\n1,2,3,4,5,6\n')
    expect(line!.text).toBe('{"a":"1","a_2":"2","A":"3","column3":"4","a_1":"5","__proto__":"6"}')
  })

  test('are as many as lines far from the beginning say', async () => {
    const row = '1,2\n'.repeat(50_000)
    const rows = await read('a,b\n', row, '"x\ny",z\n', row)
    expect(rows).toHaveLength(100_001)
    expect(rows.slice(50_000, 50_002)).toEqual([
      [50_002, ['x\ny', 'z']],
      [50_004, ['1', '2']],
    ])
  })

  test.each([
    ['a row', 'x'.repeat(longestLine)],
    ['a quoted value', `"${`${'x'.repeat(99)}\n`.repeat(longestLine / 100)}"`],
  ])('go on after %s that is too long', async (_what, long) => {
    const rows = await read('a,b\n', long, ',1\n2,3\n')
    expect(rows[0]).toEqual([2, `more than ${longestLine} bytes`])
    expect(rows.at(-1)).toEqual([expect.any(Number), ['2', '3']])
  })

  test('of which each line might begin a row are read in a time that grows with their length', async () => {
    await expectProcessorTime(2_000, async () => {
      expect(await read('a,b\n', '",x","\n'.repeat(100_000))).toHaveLength(100_000)
    })
  })

  test('have a mark for bytes that are not UTF-8, and so has the line of names', async () => {
    const lines = await linesOf(Buffer.from('a,na\xefve\n1,2\n3,"x\n\xff"\n', 'latin1'))
    expect(lines).toEqual([
      { number: 1, text: '', utf8: false },
      { number: 2, text: '{"a":"1","na\ufffdve":"2"}', utf8: true },
      { number: 3, text: '{"a":"3","na\ufffdve":"x\\n\ufffd"}', utf8: false },
    ])
  })

  test('read back as what was written, cut anywhere on their way', async () => {
    const value = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', ' ', '€'), maxLength: 6 })
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    const row = fc.array(value, { minLength: 2, maxLength: 2 })
    const end = fc.constantFrom('\n', '\r\n')
    const cut = fc.integer({ min: 1, max: 9 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(row),
        end,
        cut,
        fc.constantFrom(',', ';', '\t'),
        async (rows, lineEnd, size, delimiter) => {
          const text = ['a b'.split(' '), ...rows]
            .map(values => values.map(quoted).join(delimiter) + lineEnd)
            .join('')
          const bytes = Buffer.from(text)
          const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          )
          expect((await read(...pieces)).map(([, values]) => values)).toEqual(
            rows.map(values => values.map(each => each || null)),
          )
        },
      ),
    )
  })

  test('need a line of names that can be read', async () => {
    const unread = read('"a"b,c\n1,2\n')
    await expect(unread).rejects.toThrow(CommandError)
    await expect(unread).rejects.toThrow(`-:1: the line of names has ${afterQuote}. Nothing was loaded.`)
    await expect(read('"a,b\n1,2\n')).rejects.toThrow(unclosed)
    expect(await read('')).toEqual([])
  })
})
