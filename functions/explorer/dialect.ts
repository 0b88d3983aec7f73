/** GoogleSQL, as far as colours and completion go. The functions are those that the sandbox lets through. */
import { SQLDialect } from '@codemirror/lang-sql'
import { plainFunctions } from '../../shared/sandbox/functions.ts'

export const functionNames = [...plainFunctions]

export const keywords =
  `all and any array as asc between by case cast cross current day desc distinct else end
  except exists extract false first following for from full group having hour if in inner intersect interval into is
  join last left like limit microsecond millisecond minute month not null nulls offset on or order ordinal outer over
  partition preceding qualify quarter range right rollup rows safe_cast safe_offset second select struct then true
  unbounded union unnest using week when where window with year`.split(/\s+/)

export const googleSql = SQLDialect.define({
  keywords: keywords.join(' '),
  types: 'bool bytes date datetime float64 int64 interval json numeric bignumeric string time timestamp',
  builtin: functionNames.join(' ').toLowerCase(),
  hashComments: true,
  doubleQuotedStrings: true,
  identifierQuotes: '`',
  backslashEscapes: true,
})
