/** A place in a text. Line and column count from 1, as in editors; a column is one UTF-16 unit. */
export interface Place {
  line: number
  column: number
}

/** SQL that does not parse or is not supported. The message is for its author: a sentence without capital and stop. */
export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly place: Place | null

  constructor(message: string, place: Place | null = null) {
    super(message)
    this.place = place
  }
}

/** The place of an offset in `text`; a line ends with LF, CRLF or CR. */
export function placeOf(text: string, at: number): Place {
  const before = text.slice(0, at).split(/\r\n|\r|\n/)
  return { line: before.length, column: before[before.length - 1]!.length + 1 }
}

/** The offset of a place in `text`, the inverse of `placeOf`. */
export function offsetOf(text: string, { line, column }: Place): number {
  const lines = text.split(/(?<=\r\n|\r(?!\n)|\n)/)
  return lines.slice(0, line - 1).join('').length + column - 1
}

/** The error of a node, at its place. */
export type Refuse = (node: { at: number }, message: string) => SqlError

export function refusing(sql: string): Refuse {
  return (node, message) => new SqlError(message, placeOf(sql, node.at))
}
