/** A place in a text, both from 1, as editors count them. */
export interface Place {
  line: number
  column: number
}

/** SQL that cannot be read, or that asks for what is not supported. The message is a sentence for its author. */
export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly place: Place | null

  constructor(message: string, place: Place | null = null) {
    super(message)
    this.place = place
  }
}

/** Where the offset `at` stands in `text`; a line ends with LF, CRLF or CR. */
export function placeOf(text: string, at: number): Place {
  const before = text.slice(0, at).split(/\r\n|\r|\n/)
  return { line: before.length, column: before[before.length - 1]!.length + 1 }
}

/** The offset at which a place stands in `text`: the way back from `placeOf`. */
export function offsetOf(text: string, { line, column }: Place): number {
  const lines = text.split(/(?<=\r\n|\r(?!\n)|\n)/)
  return lines.slice(0, line - 1).join('').length + column - 1
}
