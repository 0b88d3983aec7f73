import type { Json } from './entries.ts'
import { BadEntry } from './error.ts'

/** An integer past 2^53 may be in the line: only then is the slower reading worth its time. */
const longDigits = /\d{16}/

/**
 * Reads one line of newline-delimited JSON. Integers of up to 64 bits keep all their digits.
 * @throws BadEntry
 */
export function parseJson(line: string): Json {
  try {
    return JSON.parse(line, longDigits.test(line) ? keepDigits : undefined) as Json
  } catch (error) {
    throw new BadEntry(`not JSON: ${(error as Error).message}`)
  }
}

function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?\d{1,20}$/.test(source) ? BigInt(source) : value
}
