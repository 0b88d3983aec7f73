/** SQL with a line for each clause. Strings, comments and the words themselves stay as they are written. */

const pieces =
  /(?<keep>--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/|[rRbB]{0,2}(?:'''[\s\S]*?'''|"""[\s\S]*?"""|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|`[^`]*`)|(?<word>[A-Za-z_@][\w@.]*)|(?<space>\s+)|(?<other>[\s\S])/g
const clauses =
  /^(WITH|SELECT|FROM|WHERE|GROUP|HAVING|QUALIFY|WINDOW|ORDER|LIMIT|UNION|INTERSECT|JOIN|LEFT|RIGHT|FULL|INNER|CROSS)$/i
const joins = /^(LEFT|RIGHT|FULL|INNER|CROSS|OUTER)$/i

/** @returns the same tokens, with other spaces; a comment to the end of its line ends that line */
export function format(sql: string): string {
  let text = ''
  let last = ''
  /** For each open parenthesis, whether a query is in it. */
  const open: boolean[] = []
  const depth = () => open.filter(Boolean).length
  const tokens = [...sql.trim().matchAll(pieces)].map(({ groups }) => groups!)
  const next = (i: number) => tokens.slice(i + 1).find(({ space }) => space === undefined)
  const line = (indent: number) => (text = `${text.trimEnd()}\n${'  '.repeat(indent)}`)
  for (const [i, { keep, word, space, other }] of tokens.entries()) {
    if (space !== undefined) {
      if (!/\s$/.test(text) && text !== '') text += ' '
      continue
    }
    const inQuery = open.length === 0 || open.at(-1)
    const isJoin = /^(JOIN|OUTER)$/i.test(word ?? '') && joins.test(last)
    const isFunction = /^(LEFT|RIGHT)$/i.test(word ?? '') && next(i)?.['other'] === '('
    const inBetween = /between/i.test(text.slice(text.lastIndexOf('\n')))
    if (word && inQuery && text !== '') {
      if (clauses.test(word) && !isJoin && !isFunction) line(depth())
      else if (/^(AND|OR)$/i.test(word) && !inBetween) line(depth() + 1)
    }
    if (other === ')' && open.pop() === true) line(depth())
    text += keep ?? word ?? other ?? ''
    if (other === '(') {
      open.push(/^(SELECT|WITH)$/i.test(next(i)?.['word'] ?? ''))
      if (open.at(-1)) line(depth())
    }
    if (keep && /^(--|#)/.test(keep)) line(depth())
    if (word) last = word
  }
  return text.trim().replaceAll(/[ \t]+\n/g, '\n')
}
