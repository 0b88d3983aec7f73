/** What a file holds, as far as it tells whether an earlier load brought the same, or the beginning of it. */
import { createHash, type Hash } from 'node:crypto'

/** The length and the hash of a content that is read piece by piece, and of its beginnings of some lengths. */
export class Content {
  /** Bytes so far. */
  bytes = 0
  readonly #hash: Hash
  /** Lengths to come, the next one last. */
  readonly #lengths: number[]
  readonly #beginnings = new Map<number, string>()

  /** @param options what else decides which entries are read; contents of other options are others */
  constructor(options: string, lengths: number[]) {
    this.#hash = createHash('sha256').update(options)
    this.#lengths = [...new Set(lengths)].sort((a, b) => b - a)
  }

  add(piece: Buffer): void {
    let from = 0
    for (let next = this.#lengths.at(-1); next !== undefined; next = this.#lengths.at(-1)) {
      if (next > this.bytes + piece.length) break
      this.#hash.update(piece.subarray(from, next - this.bytes))
      from = next - this.bytes
      this.#beginnings.set(next, this.hash)
      this.#lengths.pop()
    }
    this.#hash.update(piece.subarray(from))
    this.bytes += piece.length
  }

  /** Of all so far. */
  get hash(): string {
    return this.#hash.copy().digest('hex')
  }

  beginsWith({ bytes, hash }: { bytes: number; hash: string }): boolean {
    return this.#beginnings.get(bytes) === hash
  }
}
