/** How a user-defined function of DuckDB is written in JavaScript. */

/** DuckDB's types; a DECIMAL is one of (38, 9), which holds a NUMERIC. */
export type ColumnType =
  'BIGINT' | 'BLOB' | 'BOOLEAN' | 'DECIMAL' | 'DOUBLE' | 'INTERVAL' | 'VARCHAR' | 'VARCHAR[]'

export interface Interval {
  months: number
  days: number
  micros: bigint
}

/** The values of those types in JavaScript; of a DECIMAL its billionths. */
interface Values {
  BIGINT: bigint
  BLOB: Uint8Array
  BOOLEAN: boolean
  DECIMAL: bigint
  DOUBLE: number
  INTERVAL: Interval
  VARCHAR: string
  'VARCHAR[]': (string | null)[]
}

export type Arguments<Types extends ColumnType[]> = { [At in keyof Types]: Values[Types[At]] }

export interface ScalarFunction {
  parameters: ColumnType[]
  returns: ColumnType
  compute: (...values: never[]) => unknown
}

/** A function of arguments that are not NULL; its result may be. Throws ValueError for values that it refuses. */
export function scalar<const Types extends ColumnType[], Returns extends ColumnType>(
  parameters: Types,
  returns: Returns,
  compute: (...values: Arguments<Types>) => Values[Returns] | null,
): ScalarFunction {
  return { parameters, returns, compute }
}

/** What a text such as a path or a format means; the last ones are remembered, since all rows of a query have the same. */
export function memoize<Meaning>(read: (text: string) => Meaning): (text: string) => Meaning {
  const known = new Map<string, Meaning>()
  return text => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= 100) known.clear()
    const meaning = read(text)
    known.set(text, meaning)
    return meaning
  }
}

/** Refuses a value. Its message reaches callers, so it quotes none. */
export class ValueError extends Error {}
