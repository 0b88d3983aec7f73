import type { Random } from './random.ts'

/** Pieces that change a query's meaning: names of real tables, words that open a way out, ends of tokens. */
const splinters = [
  'secret', 'dataset.secret', '`secret`', 'd.secret', 'FROM', 'FROM secret', ', secret', 'JOIN secret USING (id)',
  'UNION ALL SELECT s FROM secret', '(SELECT MAX(s) FROM secret)', 'WITH secret AS (SELECT 1)', 'AS secret', 'secret AS (',
  'WITH', 'RECURSIVE', 'SELECT', 'EXISTS', 'UNNEST', 'edge_logs', 'auth_logs', '(', ')', '[', ']', ',', ';', '.', '*', '`',
  "'", '"', "'''", '"""', "r'", '\\', '--', '#', '/*', '*/', '\r', '\n', '\0', '@', '@@', '@project', '|>', '=>', '->',
  '1', '1e', '0x', 'NULL', 'NOT', '- ', 'AS', 'OVER', 'WINDOW', 'LIMIT', 'TABLE', 'MODEL', 'dataset.f(', 'RAND()',
  'FOR SYSTEM_TIME AS OF', 'PIVOT', '\u00a0', '\u0435', '\u017f', '\u212a', '\ud800',
] // prettier-ignore

/** One query of the corpus after one to four changes. */
export function mutated(random: Random, corpus: readonly string[]): string {
  let sql = random.pick(corpus)
  const changes: ((sql: string) => string)[] = [
    text => insert(random, text, ` ${random.pick(splinters)} `),
    text => insert(random, text, random.pick(splinters)),
    text => insert(random, text, partOf(random, random.pick(corpus))),
    text => insert(random, text, partOf(random, text)),
    text => remove(random, text),
    text => replaceWord(random, text, random.pick(splinters)),
    text => replaceWord(random, text, random.pick(splinters)),
    text => swapWords(random, text),
    text => text.slice(0, random.below(text.length + 1)) + partOf(random, random.pick(corpus)),
    text => `(${text})`,
    text => `SELECT (${text})`,
    text => `WITH secret AS (${text}) SELECT s FROM secret`,
  ]
  for (let left = 1 + random.below(4); left > 0; left--) sql = random.pick(changes)(sql)
  return sql.slice(0, 20_000)
}

function partOf(random: Random, text: string): string {
  const start = random.below(text.length + 1)
  return text.slice(start, start + random.below(40))
}

function insert(random: Random, text: string, piece: string): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + piece + text.slice(at)
}

function remove(random: Random, text: string): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + text.slice(at + 1 + random.below(8))
}

function replaceWord(random: Random, text: string, piece: string): string {
  const words = text.split(/\b/)
  words[random.below(words.length)] = piece
  return words.join('')
}

function swapWords(random: Random, text: string): string {
  const words = text.split(/\b/)
  const [one, other] = [random.below(words.length), random.below(words.length)]
  const word = words[one] ?? ''
  words[one] = words[other] ?? ''
  words[other] = word
  return words.join('')
}
