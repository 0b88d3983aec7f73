import type { Value } from '../engine.ts'

/** Parses JSON text; integers that a number would not hold exactly become their digits. */
export function parseExactJson(text: string): Value {
  // Sixteen digits in a row, in a string too, are rare: only then is each value looked at, which is slow.
  return JSON.parse(text, /\d{16}/.test(text) ? exactInteger : undefined) as Value
}

/** `context` is the source text of a primitive value (ECMAScript 2025, in Node since 21). */
function exactInteger(_: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const inexact = typeof value === 'number' && !Number.isSafeInteger(value)
  return inexact && source && /^-?\d+$/.test(source) ? source : value
}
