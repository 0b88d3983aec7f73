import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { CommandError } from '../command.ts'
import { type Line, longestLine, readLines, type Source } from './lines.ts'
import { newFolder } from './testing/folder.ts'

const all = (source: Source) => Readable.from(readLines(source)).toArray() as Promise<Line[]>

/** Reads bytes that arrive in these pieces. */
async function linesOf(...pieces: (Buffer | string)[]): Promise<Line[]> {
  const stdin = Readable.from(pieces.map(piece => Buffer.from(piece)))
  return all({ file: '-', stdin, onText: () => {} })
}

const texts = (lines: Line[]) => lines.map(({ text }) => text)

describe('the lines of a log file', () => {
  test('end with LF or CRLF; the last may have no end', async () => {
    expect(texts(await linesOf('a\nb\r\n\nc\rd'))).toEqual(['a', 'b', '', 'c\rd'])
  })

  test('have numbers from 1', async () => {
    expect((await linesOf('a\n\nb')).map(({ number }) => number)).toEqual([1, 2, 3])
  })

  test('of an empty file are an empty list', async () => {
    expect(await linesOf()).toEqual([])
    expect(await linesOf('')).toEqual([])
  })

  test('begin without a byte order mark, which is only the first', async () => {
    expect(texts(await linesOf('\ufeffa\n\ufeffb'))).toEqual(['a', '\ufeffb'])
  })

  test('have a mark for bytes that are not UTF-8', async () => {
    const lines = await linesOf(Buffer.from([0x61, 0xff, 10]), '€')
    expect(lines).toEqual([
      { number: 1, text: 'a\ufffd', utf8: false },
      { number: 2, text: '€', utf8: true },
    ])
  })

  test('may be cut anywhere on their way', async () => {
    const cut = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 })
    const content = fc.array(fc.constantFrom('a', '€', '\n', '\r\n', '😀'), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(content, cut, fc.boolean(), async (units, sizes, packed) => {
        const text = Buffer.from(units.join(''))
        const bytes = packed ? gzipSync(text) : text
        const pieces: Buffer[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          pieces.push(bytes.subarray(at, (at += sizes[turn % sizes.length]!)))
        }
        expect(texts(await linesOf(...pieces))).toEqual(texts(await linesOf(text)))
      }),
    )
  })

  test('are unpacked from gzip, of several parts too, whatever the file is called', async () => {
    const file = join(newFolder(), 'packed.log')
    writeFileSync(file, Buffer.concat([gzipSync('a\nb'), gzipSync('c\n')]))
    const plain: Buffer[] = []
    let read = 0
    const source = {
      file,
      onBytes: (count: number) => (read += count),
      onText: (bytes: Buffer) => plain.push(bytes),
    }
    expect(texts(await all(source))).toEqual(['a', 'bc'])
    expect(Buffer.concat(plain).toString()).toBe('a\nbc\n')
    expect(read).toBe(Buffer.concat([gzipSync('a\nb'), gzipSync('c\n')]).length)
  })

  test('are unpacked from gzip with zeros at its end', async () => {
    expect(texts(await linesOf(gzipSync('a\n'), gzipSync('b'), Buffer.alloc(512)))).toEqual(['a', 'b'])
  })

  test.each([
    ['has zeros between its parts', Buffer.concat([gzipSync('a\n'), Buffer.alloc(512), gzipSync('b')])],
    [
      'has many zeros between its parts',
      Buffer.concat([gzipSync('a\n'), Buffer.alloc(200_000), gzipSync('b')]),
    ],
    ['ends early', gzipSync('hello '.repeat(1000)).subarray(0, 30)],
    ['is damaged', Buffer.concat([gzipSync('hello').subarray(0, 12), Buffer.from('nonsense')])],
  ])('of gzip data that %s are an error that names the file', async (_what, bytes) => {
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, i) => i * 65_536)
    const reading = linesOf(...pieces.map(at => bytes.subarray(at, at + 65_536)))
    await expect(reading).rejects.toThrow(
      new CommandError('-: the gzip data is damaged or ends early. Nothing was loaded.'),
    )
  })

  test.each([
    ['UTF-16LE', Buffer.from('\ufeff{"a": 1}\n', 'utf16le')],
    ['UTF-16LE', gzipSync(Buffer.from('ts,level\n', 'utf16le'))],
    ['UTF-16BE', Buffer.from('\ufeff{"a": 1}\n', 'utf16le').swap16()],
    ['UTF-16BE', Buffer.from('{"a": 1}\n', 'utf16le').swap16()],
    ['UTF-32LE', Buffer.from('\xff\xfe\0\0{\0\0\0', 'latin1')],
    ['UTF-32LE', Buffer.from('{\0\0\0}\0\0\0', 'latin1')],
    ['UTF-32BE', Buffer.from('\0\0\xfe\xff\0\0\0{', 'latin1')],
    ['UTF-32BE', Buffer.from('\0\0\0{\0\0\0}', 'latin1')],
  ])('in %s are an error that says how they become UTF-8 (%#)', async (name, bytes) => {
    const message = `-: the text is ${name}, not UTF-8. Nothing was loaded. Load a copy: iconv -f ${name} -t UTF-8 FILE > COPY`
    await expect(linesOf(bytes)).rejects.toThrow(new CommandError(message))
  })

  test('that are too long have no text, and those after them are read', async () => {
    const long = Buffer.alloc(1_000_000, 'x')
    const pieces = Array<Buffer>(longestLine / long.length).fill(long)
    const lines = await linesOf('a\n', ...pieces, 'x\n', ...pieces, '\nb')
    expect(lines.map(({ text }) => text?.length ?? null)).toEqual([1, null, longestLine, 1])
  })

  test('stop on a signal, even while no bytes come', async () => {
    const controller = new AbortController()
    const stdin = new Readable({ read() {} })
    const reading = all({ file: '-', stdin, signal: controller.signal, onText: () => {} })
    controller.abort(new CommandError('Stopped.'))
    await expect(reading).rejects.toThrow(new CommandError('Stopped.'))
  })
})
