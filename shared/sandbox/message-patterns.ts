/**
 * What differs between messages of one kind, and what stands for it: messages that are equal when masked have one shape. RE2
 * (of GoogleSQL) and JavaScript read the patterns alike, so rows are grouped by the engine, and the shape is made of one message of
 * each group. The SQL of redacted callers may group by it (`redacted-sql.ts`), as that tells less than grouping by the text itself.
 */

/**
 * Products with their versions, and what they add in brackets: browsers and other clients, of which access logs have hundreds. A
 * version has a dot, so that `items/17` of a path is none. https://www.rfc-editor.org/rfc/rfc9110#field.user-agent
 */
const agent = String.raw`[A-Za-z][\w.+-]*/\d+(?:\.\d+)+[\w.+-]*(?: \([^)]*\)| \[[^\]]*\]| [A-Za-z][\w.+-]*/\d[\w.+-]*)*`

/** One after the other; `$1` in JavaScript is `\1` in GoogleSQL. */
export const masks: readonly { pattern: string; by: string }[] = [
  {
    // Of lines as Supabase's edge has them, METHOD | status | address | ray | URL | agent: also `node`, without a version.
    pattern: String.raw`(\b[A-Z]+ \| \d{3} \| [^|]+ \| [^|]+ \| [^|]+ \| )[^|]+$`,
    by: String.raw`\1<client>`,
  },
  { pattern: String.raw`\bHTTP/\d(?:\.\d)?\b`, by: 'HTTP/<n>' }, // of a protocol, which is no client
  { pattern: String.raw`(^|[ \t\n"'|(,;:=\[])${agent}`, by: String.raw`\1<agent>` },
  {
    pattern: String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[ ]?[+-]\d\d:?\d\d)?`,
    by: '<time>',
  },
  { pattern: String.raw`[^\s/@"'<>=,;()\[\]{}]+(?:@|%40)[\w.-]+`, by: '<email>' }, // also as in a URL
  {
    // IPv6 and MAC, IPv4 and its port.
    pattern: String.raw`\b(?:[\da-fA-F]{1,4}(?::[\da-fA-F]{0,4}){3,7}|(?:[\da-fA-F]{1,4}:)+:[\da-fA-F:]+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?)\b`,
    by: '<ip>',
  },
  {
    // UUIDs, hexadecimal numbers, and words so long that they are keys, hashes or parts of a token.
    pattern: String.raw`\b(?:[\da-fA-F]{8}-(?:[\da-fA-F]{4}-){3}[\da-fA-F]{12}|0x[\da-fA-F]+|(?:\d+[a-f]|[a-f]+\d)[\da-f]{4,}|(?:\d+[A-F]|[A-F]+\d)[\dA-F]{4,}|[\w-]{32,})\b`,
    by: '<id>',
  },
  {
    // Numbers, with their units and as versions: `v1` alone is a name, as in a path.
    pattern: String.raw`\b(?:[vV]\d+\.)?\d[\w.]*(?:-(?:alpha|beta|canary|dev|next|pre|rc)[\w.]*)?|\d{4,}`,
    by: '<n>',
  },
  {
    // Not the names and values of JSON, which stand behind other signs.
    pattern: String.raw`(^|[\w)>"'] |[=(])(?:"(?:[^"\\]|\\.)*"|'[^'\n]*')(?: "(?:[^"\\]|\\.)*")*`,
    by: String.raw`\1<text>`,
  },
]

/** The shape of a message: `GET /orders/<n> from <ip>`. */
export function shapeOfMessage(message: string): string {
  return masks.reduce(
    (text, { pattern, by }) => text.replaceAll(new RegExp(pattern, 'g'), by.replace('\\1', '$1')),
    message,
  )
}

/** What a mask stands for, and a redacted text. */
const parts: Record<string, string> = {
  ...Object.fromEntries(masks.flatMap(({ pattern, by }) => (/^<\w+>$/.test(by) ? [[by, pattern]] : []))),
  '<client>': '[^|]+',
  '<agent>': agent,
  '<text>': String.raw`(?:"(?:[^"\\]|\\.)*"|'[^'\n]*')(?: "(?:[^"\\]|\\.)*")*`,
  REDACTED: '.+',
}

const longest = 1000

/** A shape as a filter has it: of one that is long its beginning, with `…` behind. */
export function shapeAsFilter(shape: string): string {
  return shape.length <= longest ? shape : `${shape.slice(0, longest).replace(/<[a-z]*$/, '')}…`
}

/** The regular expression of the messages that have the shape, or begin with it where it ends with `…`. */
export function patternOfShape(filter: string): string {
  const [shape, end] = filter.endsWith('…') ? [filter.slice(0, -1), ''] : [filter, '$']
  const names = new RegExp(`(${Object.keys(parts).join('|')})`)
  const written = shape
    .split(names)
    .map(part =>
      Object.hasOwn(parts, part) ? `(?:${parts[part]})` : part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
    )
  return `(?s)^${written.join('')}${end}`
}
