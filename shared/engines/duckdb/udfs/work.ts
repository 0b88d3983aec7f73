/**
 * How large the arguments of a user-defined function may be in one row: what it does with them in some 100 ms, as it cannot
 * be stopped. Each function takes a time that grows with their size, and no faster.
 */

interface Class {
  functions: RegExp
  /** Characters, bytes and elements of all arguments together. */
  most: number
}

/** The first one counts. */
const classes: Class[] = [
  // Some microseconds for an element of a format.
  { functions: /^gsql_(?:format|parse)_(?:date|datetime|time|timestamp)$/, most: 10_000 },
  { functions: /^gsql_cast_(?!bytes_text|text_bytes)|^gsql_interval/, most: 10_000 },
  // Digits become a number in a time that grows with their square; a BIGNUMERIC has 77.
  { functions: /numeric|^gsql_(?:decimal_digits|hexadecimal|fixed_decimal)$/, most: 1_000 },
  // No host and no address is as long.
  { functions: /^gsql_(?:public_suffix|reg_domain|(?:safe_)?ip_)/, most: 10_000 },
  // The square counts.
  { functions: /^gsql_edit_distance$/, most: 3_000 },
  // As text; what takes long are values, which json.ts and json-text.ts count.
  { functions: /^gsql_json_\w+_in$/, most: 1_048_576 },
  { functions: /^gsql_(?:json|lax)_/, most: 1_200_000 },
  { functions: /^gsql_(?:fingerprint|to_base32)$/, most: 524_288 },
  {
    functions: /^gsql_(?:reverse_bytes|characters|bytes|(?:upper|lower)(?:_bytes)?|sha512)$/,
    most: 4_500_000,
  },
  { functions: /./, most: 262_144 },
]

/** Values, keys and signs of JSON in one row, each of which takes about a microsecond. */
export const mostJsonTokens = 100_000

export function mostOf(name: string): number {
  return classes.find(({ functions }) => functions.test(name))!.most
}

/** Of a row's arguments; an element of a list is as much as some characters. */
export function sizeOf(values: unknown[]): number {
  let size = 0
  for (const value of values)
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length
    else if (Array.isArray(value)) size += 4 * value.length
  return size
}
