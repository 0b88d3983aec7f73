/** What an operator hears about a load: bad lines, fields the table has not, bytes that are no text. */
const shown = 20
/** Names come from the data: their number is not ours to bound. */
const keptNames = 1000

export class LoadReport {
  badLines = 0
  readonly #lines: string[] = []
  readonly #unknown = new Map<string, number>()
  #notUtf8 = 0

  bad(file: string, line: number, reason: string): void {
    this.badLines += 1
    if (this.#lines.length < shown) this.#lines.push(`${file}:${line}: ${reason}`)
  }

  unknown(field: string): void {
    if (this.#unknown.has(field) || this.#unknown.size < keptNames)
      this.#unknown.set(field, (this.#unknown.get(field) ?? 0) + 1)
  }

  notUtf8(): void {
    this.#notUtf8 += 1
  }

  print(out: (line: string) => void): void {
    for (const line of this.#lines) out(printable(line))
    if (this.badLines > shown) out(`... and ${this.badLines - shown} more`)
    const names = [...this.#unknown].slice(0, shown)
    for (const [name, count] of names)
      out(printable(`left out: ${name}, unknown to the table; lines: ${count}`))
    if (this.#unknown.size > shown) out(`... and ${this.#unknown.size - shown} more unknown fields`)
    if (this.#notUtf8 > 0) out(`bytes that are not UTF-8 became U+FFFD; lines: ${this.#notUtf8}`)
  }
}

/** Log lines may hold what a terminal takes for commands. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\ufffd')
}
