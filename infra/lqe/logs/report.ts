/** The report of a load: lines and fields that are left out, and rows that will be hard to find. */
import type { BadEntry } from './entries.ts'

/** More bad lines or unknown fields than these are only counted. */
const shown = 20
/** Names come from the data, so their number has to be bounded. */
const keptNames = 1000

/** What could not be loaded as it is, for the operator. */
export class LoadReport {
  badLines = 0
  withoutProject = 0
  notUtf8 = 0
  readonly #lines: string[] = []
  /** By field, the lines that are left out for the lack of it. */
  readonly #missing = new Map<string, number>()
  readonly #unknown = new Map<string, number>()
  #projectField = ''

  get unknownFields(): number {
    return this.#unknown.size
  }

  bad(file: string, line: number, { message, missing }: BadEntry): void {
    this.badLines += 1
    if (missing !== null) this.#missing.set(missing, (this.#missing.get(missing) ?? 0) + 1)
    if (this.#lines.length < shown) this.#lines.push(`${file}:${line}: ${message}`)
  }

  /** A row that is loaded without its project. */
  lacking(field: string): void {
    this.withoutProject += 1
    this.#projectField = field
  }

  unknown(field: string): void {
    const count = this.#unknown.get(field) ?? 0
    if (count > 0 || this.#unknown.size < keptNames) this.#unknown.set(field, count + 1)
  }

  print(out: (line: string) => void): void {
    for (const line of this.#lines) out(line)
    if (this.badLines > shown) out(`... and ${this.badLines - shown} more`)
    for (const [field, count] of this.#missing) out(`left out, as they have no ${field}; lines: ${count}`)
    const names = [...this.#unknown].slice(0, shown)
    for (const [name, count] of names) out(`left out: ${name}, unknown to the table; lines: ${count}`)
    if (this.#unknown.size > shown) out(`... and ${this.#unknown.size - shown} more unknown fields`)
    if (this.withoutProject > 0)
      out(
        `without ${this.#projectField}, so that an endpoint such as logs.all does not find them; rows: ${this.withoutProject}`,
      )
    if (this.notUtf8 > 0) out(`bytes that are not UTF-8 became U+FFFD; lines: ${this.notUtf8}`)
  }
}
