/** Random queries of the language that callers with redacted answers may use, and of what is next to it. */
import fc from 'fast-check'
import { plainFunctions } from '../../shared/sql/functions.ts'

/** Between ` | ` and line ends. */
const listed = (text: string) => text.trim().split(/ \| |\n\s*/)

const columns =
  'id timestamp status ms bytes trace version method path peer note cookie token otp cvv card cardf cardtext tel password passwords args event_message login metadata j body'.split(
    ' ',
  )
const fields =
  'password.`hash` password.prefix password.tokens j.otp j.card j.password j.password.`hash` j.args j.user.mail metadata[SAFE_OFFSET(0)].request metadata[SAFE_OFFSET(0)].request.cookie metadata[SAFE_OFFSET(0)].otp metadata[SAFE_OFFSET(0)] args[SAFE_OFFSET(1)] passwords[SAFE_OFFSET(0)].prefix s.cookie s'.split(
    ' ',
  )
/** Under these redaction is lenient. */
const aliases =
  'id trace seq version release tokens token keys secrets passwords emails count n x c value name prefix status f0_ kind tokens_type length'.split(
    ' ',
  )
const constants = listed(`
      'x' | 'GET' | '{"a":[' | ',' | '' | '$.password.hash' | '$.args[1]' | '%d' | 0 | 1 | 10 | 1e15 | -1 | NULL
      TRUE | [] | ['password', 'x'] | STRUCT('x' AS c, 'y' AS d) | TIMESTAMP '2026-01-01' | INTERVAL 1 DAY
      UNIX_SECONDS(CURRENT_TIMESTAMP())`)
const types = 'STRING INT64 FLOAT64 NUMERIC BOOL TIMESTAMP DATE JSON BYTES'.split(' ')

const pick = (from: readonly string[]) => fc.constantFrom(...from)
const leaf = fc.oneof(
  { arbitrary: pick(columns), weight: 4 },
  { arbitrary: pick(fields), weight: 2 },
  pick(constants),
)
/** Those that keep a value come more often. */
const functions = fc.oneof(
  pick([...plainFunctions]),
  pick(
    'MAX MIN ANY_VALUE TRIM IF IFNULL COALESCE NULLIF LAG ARRAY_AGG SUM AVG ROUND DIV SAFE_DIVIDE MAX_BY LAX_STRING'.split(
      ' ',
    ),
  ),
)

const { expression } = fc.letrec<{ expression: string }>(tie => {
  const deeper = tie('expression')
  const both = fc.tuple(deeper, deeper)
  return {
    expression: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { arbitrary: leaf, weight: 6 },
      fc
        .tuple(functions, fc.array(deeper, { minLength: 1, maxLength: 3 }))
        .map(([f, of]) => `${f}(${of.join(', ')})`),
      fc.tuple(functions, deeper).map(([f, x]) => `${f}(${x})`),
      fc.tuple(functions, deeper).map(([f, x]) => `${f}(${x}) OVER (ORDER BY id)`),
      fc.tuple(pick(types), deeper).map(([type, x]) => `SAFE_CAST(${x} AS ${type})`),
      fc
        .tuple(pick(['+', '-', '*', '/', '||', '=', '<']), both)
        .map(([sign, [a, b]]) => `(${a} ${sign} ${b})`),
      both.map(([a, b]) => `IF(id = 'a', ${a}, ${b})`),
      both.map(([a, b]) => `CASE WHEN status > 1 THEN ${a} ELSE ${b} END`),
      fc.tuple(deeper, pick(aliases)).map(([x, name]) => `STRUCT(${x} AS ${name}).${name}`),
      fc
        .tuple(deeper, pick(['[SAFE_OFFSET(0)]', '[OFFSET(1)]', '[1]', '.`hash`', '.tokens', "['otp']"]))
        .map(([x, part]) => `(${x})${part}`),
      fc
        .tuple(deeper, pick(["'$.password.hash'", "'$.otp'", "'$.args[1]'", "'$'"]))
        .map(([x, path]) => `JSON_VALUE(${x}, ${path})`),
      deeper.map(x => `(SELECT MAX(${x}) FROM seen)`),
      both.map(([a, b]) => `[${a}, ${b}]`),
      deeper.map(x => `WITH(v AS ${x}, v)`),
    ),
  }
})

/** What the language allows, of the right types: most of these run. */
const texts =
  'peer note cookie token cardtext tel event_message login body path version password.`hash` password.prefix metadata[SAFE_OFFSET(0)].request.cookie'
const amounts = 'otp cvv card cardf status ms bytes trace password.tokens metadata[SAFE_OFFSET(0)].otp'
const { text, amount } = fc.letrec<{ text: string; amount: string }>(tie => {
  const [t, n] = [tie('text'), tie('amount')]
  const of = (shapes: string[]) =>
    fc.tuple(pick(shapes), t, t, n, n).map(([shape, a, b, x, y]) => {
      return shape
        .replaceAll('TEXT', a)
        .replaceAll('OTHER', b)
        .replaceAll('AMOUNT', x)
        .replaceAll('SECOND', y)
    })
  return {
    text: fc.oneof(
      { maxDepth: 2, depthSize: 'small' },
      { arbitrary: pick(texts.split(' ')), weight: 3 },
      of(
        listed(`
      TRIM(TEXT) | IF(id = 'a', TEXT, NULL) | IFNULL(TEXT, 'x') | COALESCE(TRIM(TEXT), OTHER, 'x')
      NULLIF(TEXT, 'x') | CASE WHEN LOWER(TEXT) LIKE '%a%' THEN OTHER ELSE 'x' END | CAST(TEXT AS STRING)
      (SELECT MAX(TEXT) FROM seen) | CAST(AMOUNT AS STRING) | LAG(TEXT) OVER (ORDER BY id)
      FIRST_VALUE(TEXT) OVER (ORDER BY id) | STRUCT(TEXT AS c).c | JSON_VALUE(j, '$.password.hash')
      JSON_VALUE(body, '$.password.prefix') | JSON_VALUE(body, '$.otp') | LAX_STRING(j.password.prefix)
      WITH(v AS TEXT, v) | (SELECT m.request.cookie FROM UNNEST(metadata) AS m) | ARRAY(SELECT TEXT)[OFFSET(0)]
      CONCAT(TEXT, OTHER) | JSON_VALUE(TEXT, '$.a') | SUBSTR(TEXT, 2) | IF(TEXT = OTHER, TEXT, NULL)
      IF(TRUE, TEXT, OTHER) | ARRAY_AGG(TEXT) OVER ()[OFFSET(0)]`),
      ),
    ),
    amount: fc.oneof(
      { maxDepth: 2, depthSize: 'small' },
      { arbitrary: pick(amounts.split(' ')), weight: 3 },
      of(
        listed(`
      AMOUNT * 10 | AMOUNT / 1e15 | AMOUNT / 10 | 100 * AMOUNT | ROUND(AMOUNT / 1000, 2)
      DIV(CAST(AMOUNT AS INT64), 10) | FLOOR(AMOUNT) | TRUNC(AMOUNT) | SAFE_CAST(TEXT AS INT64)
      SAFE_CAST(TEXT AS FLOAT64) | CAST(AMOUNT AS FLOAT64) | IF(status > 5, AMOUNT, 0) | COALESCE(AMOUNT, 0)
      SUM(AMOUNT) OVER () | AVG(AMOUNT) OVER () | AMOUNT / SUM(SECOND) OVER ()
      PERCENTILE_CONT(AMOUNT, 0.5) OVER () | LEAD(AMOUNT) OVER (ORDER BY id) | (SELECT SUM(AMOUNT) FROM seen)
      (SELECT SUM(AMOUNT) / SUM(SECOND) FROM seen) | (SELECT SUM(AMOUNT) / COUNT(*) FROM seen)
      (SELECT APPROX_QUANTILES(AMOUNT, 2)[OFFSET(1)] FROM seen) | INT64(j.otp) | LAX_INT64(j.card)
      FLOAT64(j.card) | IF(TRUE, AMOUNT, SECOND) | WITH(v AS AMOUNT, v) | STRUCT(AMOUNT AS tokens).tokens
      NULLIF(AMOUNT, 0) | GREATEST(AMOUNT, 1) | AMOUNT - SECOND | MOD(CAST(AMOUNT AS INT64), 1000)
      SUM(IF(status > 5, AMOUNT, SECOND)) OVER () | LENGTH(TEXT) | SAFE_DIVIDE(AMOUNT, 7) | -AMOUNT
      AMOUNT * SECOND`),
      ),
    ),
  }
})

const column = fc
  .tuple(
    fc.oneof(expression, { arbitrary: text, weight: 2 }, { arbitrary: amount, weight: 2 }),
    fc.option(pick(aliases), { freq: 6 }),
  )
  .map(([x, name]) => (name ? `${x} AS ${name}` : x))
const from = fc.oneof(
  { arbitrary: fc.constant('seen AS s'), weight: 5 },
  pick([
    'seen AS s, UNNEST(metadata) AS m',
    'seen AS s, UNNEST(passwords) AS p',
    'seen AS s, UNNEST(args) AS a',
    '(SELECT *, s FROM seen AS s)',
    '(SELECT cookie AS id, password AS x, otp AS tokens, card / 1e15 AS token, status, path FROM seen)',
    'seen AS s JOIN (SELECT id, cookie AS c FROM seen) USING (id)',
    'seen AS s FULL JOIN (SELECT cookie AS path) USING (path)',
    "seen AS s JOIN UNNEST([STRUCT('GET' AS x, 1 AS n)]) AS y ON s.method = y.x",
    'seen AS s, UNNEST(GENERATE_ARRAY(1, 9)) AS n',
  ]),
)
const tail = pick(['', '', '', ' GROUP BY ALL', ' ORDER BY 1', " WHERE path LIKE '/%'", ' LIMIT 1'])
const select = fc
  .tuple(fc.array(column, { minLength: 1, maxLength: 3 }), from, tail)
  .map(([items, of, end]) => `SELECT ${items.join(', ')} FROM ${of}${end}`)
const one = fc.tuple(column, from).map(([item, of]) => `SELECT ${item} FROM ${of}`)
const nested = fc.oneof(
  { arbitrary: select, weight: 4 },
  fc.tuple(select, pick(aliases)).map(([inner, name]) => `SELECT ${name} FROM (${inner})`),
  fc.tuple(select, pick(aliases)).map(([inner, name]) => `WITH w AS (${inner}) SELECT w.${name} AS x FROM w`),
  select.map(inner => `SELECT * FROM (${inner}) AS t`),
  select.map(inner => `SELECT t FROM (${inner}) AS t`),
  fc
    .tuple(select, pick(aliases), pick(aliases))
    .map(([inner, a, b]) => `SELECT t.${a} AS ${b} FROM (${inner}) AS t`),
  fc
    .tuple(one, pick(['UNION ALL', 'UNION DISTINCT', 'INTERSECT DISTINCT', 'UNION ALL BY NAME']), one)
    .map(([a, set, b]) => `${a} ${set} ${b}`),
  fc.tuple(one, pick(constants)).map(([a, x]) => `SELECT ${x} AS x UNION ALL ${a}`),
)

/** Texts of queries over `seen` of `planted.ts`; many are refused or no queries at all. */
export const redactedQueries: fc.Arbitrary<string> = nested

/** The places of 424242, in numbers to divide by. */
const places = [100000, 10000, 1000, 100, 10, 1]
const digit = (place: number) => `MOD(DIV(s.num, ${place}), 10)`
const digits = '0 1 2 3 4 5 6 7 8 9'.split(' ')

/** What a condition chooses, of each digit: a text, or a number in its place. */
const chosen = {
  text: (place: number) => `CASE ${digit(place)} ${digits.map(d => `WHEN ${d} THEN '${d}'`).join(' ')} END`,
  number: (place: number) =>
    `CASE ${digits.map(d => `WHEN ${digit(place)} = ${d} THEN ${Number(d) * place}`).join(' ')} END`,
  count: (place: number) =>
    `(SELECT ${digits.map(d => `${Number(d) * place} * COUNTIF(${digit(place)} = ${d})`).join(' + ')} FROM UNNEST([1]))`,
}
const wrapped = listed(`X | MAX(X) OVER () | (SELECT X) | COALESCE(X, X) | IF(TRUE, X, X) | WITH(v AS X, v)
  (SELECT ANY_VALUE(v) FROM UNNEST([1]), (SELECT X AS v)) | (SELECT SUM(CAST(X AS INT64)) FROM UNNEST([1]))`)
const sums = listed('A + B + C + D + E + F | SAFE_ADD(A, B) + C + D + E + F | A - -B - -C - -D - -E - -F')
const joined =
  listed(`A || B || C || D || E || F | CONCAT(A, B, C, D, E, F) | FORMAT('%s%s%s%s%s%s', A, B, C, D, E, F)
  ARRAY_TO_STRING([A, B, C, D, E, F], '') | TO_JSON_STRING(CONCAT(A, B, C, D, E, F))
  (SELECT STRING_AGG(v, '') FROM (SELECT A AS v UNION ALL SELECT B UNION ALL SELECT C UNION ALL SELECT D UNION ALL SELECT E UNION ALL SELECT F))`)
const filled = (shape: string, pieces: string[]) =>
  shape.replaceAll(/\b[A-F]\b/g, name => pieces['ABCDEF'.indexOf(name)]!)
const together = fc
  .tuple(
    fc.oneof(
      ...[[sums, chosen.number] as const, [sums, chosen.count] as const, [joined, chosen.text] as const].map(
        ([shapes, piece]) => fc.tuple(pick(shapes), fc.constant(piece)),
      ),
    ),
    pick(wrapped),
    fc.boolean(),
  )
  .map(([[shape, piece], wrap, isNested]) => {
    const pieces = places.map(place => wrap.replaceAll(/\bX\b/g, piece(place)))
    const columns = pieces.map((text, at) => `${text} AS ${'abcdef'[at]}`).join(', ')
    return isNested
      ? `SELECT ${filled(shape, 'a b c d e f'.split(' '))} AS n FROM (SELECT ${columns} FROM kept AS s)`
      : `SELECT ${filled(shape, pieces)} AS n FROM kept AS s`
  })

/** Two digits at a time, as three values may be put together where they are counts. */
const inPairs = fc
  .tuple(
    pick(listed("A || B || C | CONCAT(A, B, C) | FORMAT('%s%s%s', A, B, C) | CONCAT(A, B) || C")),
    pick(wrapped.slice(0, -1)),
  )
  .map(([shape, wrap]) => {
    const branches = digits.flatMap(a => digits.map(b => `WHEN ${Number(a + b)} THEN '${a}${b}'`)).join(' ')
    const piece = (place: number) => `CASE MOD(DIV(s.num, ${place}), 100) ${branches} END`
    const pieces = [10000, 100, 1].map(place => wrap.replaceAll(/\bX\b/g, piece(place)))
    return `SELECT ${filled(shape, pieces)} AS n FROM kept AS s`
  })

/** Functions of a column that is known and one that is not, here as `A` and `B`. */
const pairs =
  listed(`A - B = 0 | SAFE_SUBTRACT(A, B) = 0 | (A ^ B) = 0 | ABS(A - B) < 1 | A - B BETWEEN 0 AND 0 | A = B
  GREATEST(A - B, B - A) = 0 | SAFE_DIVIDE(A + 1, B + 1) = 1 | NULLIF(A, B) IS NULL | CASE A WHEN B THEN TRUE END
  STRPOS(CAST(A AS STRING), CAST(B AS STRING)) = 1 | EDIT_DISTANCE(CAST(A AS STRING), CAST(B AS STRING)) = 0
  CONCAT(CAST(A AS STRING), CAST(B AS STRING)) IN ('00', '11', '22', '33', '44', '55', '66', '77', '88', '99')
  REGEXP_EXTRACT(CAST(A AS STRING), CAST(B AS STRING)) IS NOT NULL | [A] = [B] | (A, 1) = (B, 1) | B IN (A) | B IN UNNEST([A])`)
const related = fc.tuple(pick(pairs), pick(['=', 'JOIN'])).map(([pair, how]) => {
  const on = (place: number) => pair.replaceAll(/\bA\b/g, digit(place)).replaceAll(/\bB\b/g, 'w.n')
  const from = (place: number) =>
    how === '='
      ? `digits AS w WHERE ${on(place)}`
      : `digits AS v JOIN digits AS w ON v.n = w.n AND ${on(place)}`
  return `SELECT ${places.map(place => `(SELECT MIN(w.n) FROM ${from(place)}) AS d${place}`).join(', ')} FROM kept AS s`
})

/** Sums of what is known, up to what is not: how many are below it is a digit. */
const limits =
  listed(`P <= s.num | NOT P > s.num | P BETWEEN 0 AND s.num | s.num / P >= 1 | s.num - P >= 0 | (SELECT SUM(s.num) FROM UNNEST([1])) >= P
  (SELECT AVG(s.num) FROM UNNEST([1])) / P >= 1 | P <= (SELECT MAX(x.num) FROM kept AS x) | EXISTS (SELECT 1 FROM kept AS x WHERE x.num >= P)
  GREATEST(P, s.num) = s.num | DIV(CAST(s.num AS INT64), CAST(P AS INT64)) > 0`)
const summed = fc
  .tuple(pick(limits), pick(['SUM(V)', 'SUM(V) * 1', 'AVG(V) * COUNT(V)', '0 + SUM(V)']))
  .map(([limit, sum]) => {
    const below = (place: number) => {
      const step = `CASE m.n WHEN 0 THEN DIV(s.num, ${place * 10}) * ${place * 10} ELSE m.one * ${place} END`
      const total = `(SELECT ${sum.replaceAll(/\bV\b/g, step)} FROM digits AS m WHERE m.n <= o.n)`
      return `(SELECT COUNT(*) - 1 FROM digits AS o WHERE ${limit.replaceAll(/\bP\b/g, total)})`
    }
    return `SELECT ${places.map(place => `${below(place)} AS d${place}`).join(', ')} FROM kept AS s`
  })

/** Each, where it ran, would show 424242 in a row of its answer. */
export const readingQueries: fc.Arbitrary<string> = fc.oneof(together, inPairs, related, summed)
