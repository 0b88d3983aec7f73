/** From rows to the finished answer: bytes that are encoded once and sent many times. */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gunzip, gzip } from 'node:zlib'
import type { Endpoint } from '../endpoints/definition.ts'
import type { Result, Row, Value } from '../engines/engine.ts'
import { arrayText, rowsOf } from '../engines/rows.ts'
import { fieldName, mapScalars } from '../engines/values.ts'
import type { PageMarks } from '../pages/page.ts'
import type { NameKind } from '../redact/names.ts'
import { redactInTurns, redactNames } from '../redact/redact.ts'
import type { Column, SqlType } from '../sql/types.ts'

export type Encoding = 'gzip' | 'br' | 'identity'

/** Facts of an answer beside its bytes. */
export interface Summary {
  rows: number
  truncated: boolean
  redacted: boolean
  /** Of an endpoint with pages. */
  page?: PageMarks
  /** Names of the result's columns, for formats that need them where there are no rows. */
  columns: string[]
  /** Where its TIMESTAMPs are, the names of nested ones joined by U+0000, which no name holds; absent where there are none. */
  times?: string[]
}

/** A finished JSON body in its encodings, each of which is made once, with its first use. */
export class Answer {
  readonly summary: Summary
  /** SHA-256 of the identity bytes, hex. The body is a function of the rows, so equal rows have equal tags. */
  readonly tag: string
  readonly rawBytes: number
  /** Bytes of the encodings made so far. */
  heldBytes = 0
  /** Called when another encoding has been made. */
  onGrown: () => void = () => {}
  private readonly made = new Map<string, Promise<Buffer>>()

  private constructor(summary: Summary, tag: string, rawBytes: number, encoding: Encoding, bytes: Buffer) {
    this.summary = summary
    this.tag = tag
    this.rawBytes = rawBytes
    this.made.set(encoding, Promise.resolve(this.retain(bytes)))
  }

  static fromJson(summary: Summary, json: Buffer): Answer {
    return new Answer(summary, hash('sha256', json), json.length, 'identity', json)
  }

  /** An answer from the cache; `tag` and `rawBytes` are those of its identity bytes. */
  static fromGzip(summary: Summary, tag: string, rawBytes: number, bytes: Buffer): Answer {
    return new Answer(summary, tag, rawBytes, 'gzip', bytes)
  }

  bytes(encoding: Encoding): Promise<Buffer> {
    return this.form(encoding, async () =>
      encoding === 'identity'
        ? promisify(gunzip)(await this.bytes('gzip'))
        : encode(await this.bytes('identity'), encoding),
    )
  }

  /** The answer in a form of its own, by its name, which is made with its first use; where that fails, with the next. */
  form(name: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.made.get(name)
    if (known) return known
    const making = make().then(bytes => {
      const retained = this.retain(bytes)
      this.onGrown()
      return retained
    })
    this.made.set(name, making)
    making.catch(() => this.made.delete(name))
    return making
  }

  async rows(): Promise<Row[]> {
    return (JSON.parse((await this.bytes('identity')).toString()) as { result: Row[] }).result
  }

  has(encoding: Encoding): boolean {
    return this.made.has(encoding)
  }

  private retain(bytes: Buffer): Buffer {
    this.heldBytes += bytes.length
    return trim(bytes)
  }
}

/**
 * Bytes in memory of their own. Small ones are part of a larger buffer, which they would keep alive: zlib's chunks are
 * 16 KB, Node's pool has at least 8.
 */
function trim(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}

const encoders: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  identity: async bytes => bytes,
  gzip: bytes => promisify(gzip)(bytes),
  br: bytes =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
}

/** Bytes in an encoding. */
export function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoders[encoding](bytes)
}

/**
 * The answer of a run, whose rows the engine has cut to the limit: redacted where required, then encoded.
 * @param names that a caller's SQL gives, for redaction
 */
export async function finish(
  endpoint: Endpoint,
  result: Result,
  redacted: boolean,
  page?: PageMarks,
  names?: ReadonlyMap<string, NameKind>,
): Promise<Answer> {
  const { text, truncated } = result
  const columns = result.columns.map(column => column.name)
  const times = result.columns.flatMap(({ name, type }) => timesIn(name, type))
  const known = {
    truncated,
    redacted,
    columns,
    ...(times.length > 0 ? { times } : {}),
    ...(page ? { page } : {}),
  }
  if (text && sendsRowsAsRead(endpoint, redacted))
    return enclose(endpoint, arrayText(text), { ...known, rows: text.count })
  const rows = text ? rowsOf(text) : result.rows
  const shown = redacted ? await redactInTurns(rows, names) : rows
  const sent = endpoint.jsonAsText ? rowsWithJsonText({ rows: shown, columns: result.columns }) : shown
  return encloseRows(endpoint, sent, known)
}

/** Whether an answer has the rows as the engine gives them, so that their text will do. */
export function sendsRowsAsRead({ jsonAsText }: Endpoint, redacted: boolean): boolean {
  return !redacted && !jsonAsText
}

/** Lists have no place of their own in a path. */
function timesIn(path: string, type: SqlType): string[] {
  if (type.kind === 'ARRAY') return timesIn(path, type.element)
  if (type.kind !== 'STRUCT') return type.kind === 'TIMESTAMP' ? [path] : []
  return type.fields.flatMap((field, at) => timesIn(`${path}\0${fieldName(field.name, at)}`, field.type))
}

/** A redacted answer from a clear one, without another run. The reverse does not exist. */
export async function redactAnswer(
  endpoint: Endpoint,
  clear: Answer,
  names?: ReadonlyMap<string, NameKind>,
): Promise<Answer> {
  const rows = await redactInTurns(await clear.rows(), names)
  return encloseRows(endpoint, rows, { ...clear.summary, redacted: true })
}

function encloseRows(endpoint: Endpoint, rows: Row[], known: Omit<Summary, 'rows'>): Answer {
  const { columns, times } = known
  const names = known.redacted ? redactNames(columns) : columns
  const summary = { ...known, rows: rows.length }
  if (names.every((name, at) => name === columns[at])) return enclose(endpoint, JSON.stringify(rows), summary)
  const named = rows.map(row => Object.fromEntries(columns.map((name, at) => [names[at], row[name]])))
  const inTimes = times?.map(path => path.replace(/^[^\0]*/, name => names[columns.indexOf(name)]!))
  return enclose(endpoint, JSON.stringify(named), {
    ...summary,
    columns: names,
    ...(inTimes ? { times: inTimes } : {}),
  })
}

/** @param result the text of a JSON array */
function enclose(endpoint: Endpoint, result: string, summary: Summary): Answer {
  const { rows, truncated, redacted, page } = summary
  const own = { endpoint: endpoint.name, version: endpoint.version, rows, truncated, redacted }
  const marks = Object.entries(page ?? {}).filter(([, mark]) => mark !== null)
  const meta = { ...own, ...Object.fromEntries(marks) }
  const body = Buffer.from(`{"result":${result},"meta":${JSON.stringify(meta)}}`)
  return Answer.fromJson(summary, body)
}

/** The columns as readers see them who parse JSON themselves, as those of Logflare do (`json: text` in a definition): text. */
export function columnsWithJsonText(columns: Column[]): Column[] {
  return columns.map(({ name, type }) => ({ name, type: typeWithText(type) }))
}

function typeWithText(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { ...type, element: typeWithText(type.element) }
  if (type.kind === 'STRUCT')
    return { ...type, fields: type.fields.map(field => ({ ...field, type: typeWithText(field.type) })) }
  return type.kind === 'JSON' ? { kind: 'STRING' } : type
}

/** The rows with text where JSON is, at any depth; NULL stays. */
function rowsWithJsonText({ rows, columns }: Pick<Result, 'rows' | 'columns'>): Row[] {
  const type = { kind: 'STRUCT', fields: columns } as const
  return rows.map(row => mapScalars(type, row, withText) as Row)
}

function withText({ kind }: SqlType, value: Value): Value {
  return kind === 'JSON' ? JSON.stringify(value) : value
}
