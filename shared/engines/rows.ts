import { EngineError, type Result, type Row, type RowsText, type RunLimits } from './engine.ts'

type Limits = Pick<RunLimits, 'maxRows' | 'maxResultBytes' | 'onBytes' | 'asText'>

/** The rows of one result as they are read, within the limits of the run. */
export class ResultRows {
  readonly rows: Row[] = []
  private readonly texts: string[] = []
  /** How many rows there are so far. */
  count = 0
  private truncated = false
  private readonly limits: Limits
  private bytes = 0
  /** Bytes that `onBytes` has got. */
  private counted = 0

  constructor(limits: Limits) {
    this.limits = limits
  }

  /** How many more rows may come: by the limit of rows, and by that of bytes if they are as large as those so far. */
  get room(): number {
    const { maxRows, maxResultBytes = Infinity } = this.limits
    const meanBytes = this.bytes / this.count || 1
    // One more shows that the limit is passed.
    return Math.min(maxRows - this.count, Math.floor((maxResultBytes - this.bytes) / meanBytes) + 1)
  }

  /**
   * Adds the next row, unless the rows are cut before it. It is counted by its JSON text, which is what the answer holds.
   * @throws EngineError `result_too_large`, and what `onBytes` throws
   */
  add(row: Row): void {
    const { maxRows, maxResultBytes = Infinity, onBytes, asText } = this.limits
    if (this.count === maxRows) {
      this.truncated = true
      return
    }
    const text = JSON.stringify(row)
    const bytes = Buffer.byteLength(text) + 1 // and a comma
    this.count++
    this.bytes += bytes
    if (this.bytes > maxResultBytes)
      throw new EngineError(
        'result_too_large',
        `The result passes ${maxResultBytes.toLocaleString('en')} bytes of JSON with row ${this.count}`,
      )
    onBytes?.(bytes)
    this.counted += bytes
    if (asText) this.texts.push(text)
    else this.rows.push(row)
  }

  /** The rows as the limits want them. */
  get result(): Pick<Result, 'rows' | 'text' | 'truncated'> {
    const { rows, texts, count, truncated } = this
    const text = { ndjson: texts.join('\n'), count }
    return { rows, truncated, ...(this.limits.asText ? { text } : {}) }
  }

  /** Takes the rows back: the run failed, and may be repeated. */
  discard(): void {
    this.limits.onBytes?.(-this.counted)
    this.counted = 0
    this.count = 0
    this.rows.length = 0
    this.texts.length = 0
  }
}

/** The rows as the text of one JSON array. */
export function arrayText({ ndjson }: RowsText): string {
  return `[${ndjson.replaceAll('\n', ',')}]`
}

export function rowsOf(text: RowsText): Row[] {
  return JSON.parse(arrayText(text)) as Row[]
}
