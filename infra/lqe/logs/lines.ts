/** The lines of log files, compressed with gzip or not. */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { addAbortSignal, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { CommandError } from '../command.ts'

/** A longer line is not read into memory. */
export const longestLine = 10_000_000

export interface Line {
  /** From 1. */
  number: number
  /** Without its end; `null` for a line that is too long. Bytes that are not UTF-8 are U+FFFD. */
  text: string | null
  /** Whether all its bytes were UTF-8. */
  utf8: boolean
}

export interface Source {
  /** A path, or `-` for standard input. */
  file: string
  stdin?: Readable | undefined
  signal?: AbortSignal | undefined
  /** Called with the bytes read of the file, compressed or not. */
  onBytes?: ((count: number) => void) | undefined
  /** Gets the file's content, unpacked. */
  onText: (bytes: Buffer) => void
}

/**
 * The lines of a file, which may be compressed with gzip. They end with LF or CRLF; a byte order mark at the start is
 * left out.
 * @throws CommandError for damaged gzip data, and for text in another encoding than UTF-8 that is known by its beginning; an error of the file system; the signal's reason
 */
export async function* readLines(source: Source): AsyncGenerator<Line> {
  const stream = source.file === '-' ? (source.stdin ?? process.stdin) : createReadStream(source.file)
  if (source.signal) addAbortSignal(source.signal, stream)
  try {
    const bytes = observed(stream, chunk => source.onBytes?.(chunk.length))
    yield* split(observed(unpacked(bytes), source.onText), source.file)
  } catch (error) {
    source.signal?.throwIfAborted()
    const code = (error as NodeJS.ErrnoException).code
    if (!code?.startsWith('Z_')) throw error
    throw new CommandError(`${source.file}: the gzip data is damaged or ends early. Nothing was loaded.`)
  }
}

async function* observed(stream: AsyncIterable<Buffer>, onBytes: (bytes: Buffer) => void) {
  for await (const chunk of stream) {
    onBytes(chunk)
    yield chunk
  }
}

/** Unpacks data that begins with gzip's magic number, 1f 8b (RFC 1952). Concatenated gzip files are one. */
async function* unpacked(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0)
  while (head.length < 2) {
    const next = await chunks.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  async function* all() {
    yield head
    yield* chunks
  }
  const packed = head[0] === 0x1f && head[1] === 0x8b
  yield* packed ? unzipped(all()) : all()
}

/** Zeros may stand at the end, as padding. Node leaves out what comes after zeros. */
async function* unzipped(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip()
  let [read, beforeZeros] = [0, 0]
  const source = observed(chunks, chunk => {
    const end = chunk.findLastIndex(byte => byte !== 0) + 1
    if (end > 0) beforeZeros = read + end
    read += chunk.length
  })
  const fed = pipeline(Readable.from(source), gunzip)
  fed.catch(() => {}) // the iterator has the error, too
  try {
    yield* gunzip.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    await fed
    if (beforeZeros > gunzip.bytesWritten) throw Object.assign(new Error('zeros'), { code: 'Z_DATA_ERROR' })
  } finally {
    gunzip.destroy()
  }
}

async function* split(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<Line> {
  let [number, length] = [0, 0]
  let parts: Buffer[] = []
  const take = (part: Buffer) => {
    length += part.length
    if (length > longestLine) parts = []
    else parts.push(part)
  }
  const line = (): Line => {
    const bytes = length > longestLine ? null : Buffer.concat(parts)
    ;[parts, length] = [[], 0]
    if (number === 0 && bytes !== null) checkEncoding(file, bytes)
    return decode(++number, bytes)
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let to = chunk.indexOf(10); to >= 0; to = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, to))
      yield line()
      from = to + 1
    }
    if (from < chunk.length) take(chunk.subarray(from))
  }
  if (length > 0) yield line()
}

/** Encodings by the first bytes of a text: a byte order mark, or the zeros of an ASCII character. */
const encodings: [start: RegExp, name: string][] = [
  [/^(?:\xff\xfe\0\0|[^\0]\0\0\0)/, 'UTF-32LE'],
  [/^(?:\0\0\xfe\xff|\0\0\0[^\0])/, 'UTF-32BE'],
  [/^(?:\xff\xfe|[^\0]\0)/, 'UTF-16LE'],
  [/^(?:\xfe\xff|\0[^\0])/, 'UTF-16BE'],
]

function checkEncoding(file: string, bytes: Buffer): void {
  const head = bytes.toString('latin1', 0, 4)
  const name = encodings.find(([start]) => start.test(head))?.[1]
  if (name === undefined) return
  const copy = `iconv -f ${name} -t UTF-8 FILE > COPY`
  throw new CommandError(`${file}: the text is ${name}, not UTF-8. Nothing was loaded. Load a copy: ${copy}`)
}

function decode(number: number, bytes: Buffer | null): Line {
  if (bytes === null) return { number, text: null, utf8: true }
  const marked = number === 1 && bytes.subarray(0, 3).equals(byteOrderMark)
  const text = bytes.toString('utf8', marked ? 3 : 0)
  return { number, text: text.endsWith('\r') ? text.slice(0, -1) : text, utf8: isUtf8(bytes) }
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])
