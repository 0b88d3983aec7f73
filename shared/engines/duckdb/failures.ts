/** DuckDB's errors as the port's. Its messages quote values and SQL, so only the words listed here reach callers. */
import { SqlError } from '../../sql/error.ts'
import { EngineError, type EngineErrorReason } from '../engine.ts'
import { raisedMessages, UnsupportedError } from './rewrite/context.ts'

type Meaning = [pattern: RegExp | string, message: string]

/**
 * Faults of the query or of a value in it, by a pattern of DuckDB's message or its beginning; the first one counts. `$1` is
 * what the pattern's group found.
 */
const rejected: Meaning[] = [
  ...raisedMessages.map((message): Meaning => [
    `Conversion Error: Could not convert string '${message}' to`,
    message,
  ]),
  [
    /^Invalid Input Error: ((?:bad repetition|invalid (?:character|escape|named|perl|repetition)|missing [)\]]|no argument|pattern too large|trailing \\|unexpected \))(?: [a-z]+)*)/,
    'Bad regular expression: $1',
  ],
  [/^(Conversion|Invalid Input) Error: Malformed JSON/, 'A value is not JSON'],
  [/^Invalid Input Error: Could not parse string/, 'A date or time does not have the format given'],
  [/TimeZone/, 'Unknown time zone'],
  [/^Binder Error: LIMIT\/OFFSET cannot be negative/, 'LIMIT and OFFSET take no negative number'],
  [/More than one row returned by a subquery/, 'A scalar subquery returned more than one row'],
  [/must appear in the GROUP BY clause/, 'A column is neither grouped nor aggregated'],
  [/(WHERE|GROUP BY) clause cannot contain aggregates/, 'An aggregate function cannot stand here'],
  [/aggregate function calls cannot be nested/, 'Aggregate functions cannot be nested'],
  [
    /window functions? (is|are) not allowed|cannot contain window functions/i,
    'A window function cannot stand here',
  ],
  [/Period must be greater than 0|bucket using zero/, 'A bucket needs a width above zero'],
  [/^Conversion Error.*out of range/, 'A number or date is out of range'],
  [/^Conversion Error/, 'A value cannot be converted to the type asked for'],
  [/^Out of Range Error/, 'A number or date is out of range'],
  [/^Invalid Input Error/, 'A function refuses a value that it is given'],
]

/** Of our own functions, whose messages quote no values (see shared/engines/duckdb/udfs/register.ts). */
const ofFunction = /^Invalid Input Error: GoogleSQL: (.+)$/

/** Faults of log files. The names of files are ours, but for those that operators put beside them. */
const ofFiles: Meaning[] = [
  [
    /^Invalid Input Error: (File '.*' too small to be a Parquet file|No magic bytes found|Failed to read (Parquet )?file "|Invalid string encoding found in Parquet file "|Cannot read )/,
    'A log file is damaged',
  ],
  [/^Invalid Input Error: [^\n]* file ['"][^'"\n]*\.parquet['"]/, 'A log file is damaged'],
  [/^Conversion Error: Error while reading file "/, 'A log file has other columns than its table'],
  [/^Invalid Error/, 'A log file is damaged'],
  [/^IO Error/, 'A log file is missing, or cannot be read'],
]

/** What DuckDB cannot plan, and what to write instead. The rewriting has settled names and types by the tables' schemas. */
const unsupported: Meaning[] = [
  [
    /non-inner join on (correlated columns|subquery)/i,
    'The local engine cannot run a LEFT, RIGHT or FULL JOIN whose ON has a subquery, or a column of a query around: select what is compared in a common table (WITH), and join that',
  ],
  [
    /window expression is not supported here/,
    'The local engine cannot run a window by a column of a query around: select it in a common table (WITH), and join that',
  ],
  [
    /^(Binder|Catalog|Parser|Not implemented|Serialization) Error/,
    'The local engine cannot plan this query: write its subqueries as common tables (WITH), and join them',
  ],
]

const outOfMemory = /^Out of Memory Error/

const meanings: [reason: EngineErrorReason, ...Meaning][] = [
  ['rejected', ofFunction, '$1'],
  ['failed', 'Invalid Input Error: A function failed', 'The local engine failed'],
  ...ofFiles.map((meaning): (typeof meanings)[number] => ['failed', ...meaning]),
  ...rejected.map((meaning): (typeof meanings)[number] => ['rejected', ...meaning]),
  ...unsupported.map((meaning): (typeof meanings)[number] => ['unsupported', ...meaning]),
  [
    'result_too_large',
    outOfMemory,
    'The query needs more memory than the local engine has: filter before it sorts, groups or joins',
  ],
]

/** Any error of a run or of its preparation, as an EngineError. */
export function engineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  if (error instanceof SqlError) {
    const reason = error instanceof UnsupportedError ? 'unsupported' : 'rejected'
    return new EngineError(reason, error.message, { place: error.place, cause: error })
  }
  const text = messageOf(error)
  const [reason = 'failed', pattern, meaning = 'The local engine failed'] =
    meanings.find(([, pattern]) =>
      typeof pattern === 'string' ? text.startsWith(pattern) : pattern.test(text),
    ) ?? []
  const words = meaning.replace('$1', () => (pattern as RegExp).exec(text)![1]!)
  if (reason !== 'failed') return new EngineError(reason, words, { cause: error })
  // Callers do not see why a run failed; operators look for the file, or for DuckDB's own words, without what they quote.
  const [file] = /[^/"']*\/[^/"']*\.parquet(?=["'])/.exec(text) ?? []
  const [own] = /^[A-Z][\w ]* Error: .{1,200}/i.exec(text.replaceAll(/(["'`]).*?\1|\/\S+/gs, '...')) ?? []
  return new EngineError(reason, [words, file ?? own].filter(Boolean).join(': '), { cause: error })
}

/** Whether the error comes from a log file with other columns than its table, or damaged ones, or from what DuckDB lacks. */
export function mayBeOfFiles(error: unknown): boolean {
  return /^(Binder|Catalog|Not implemented) Error/.test(messageOf(error))
}

/** Whether a run, or the making of its roll-ups' parts, has found no memory: its own need, or that of the runs beside it. */
export function isOutOfMemory(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: unknown }
  return outOfMemory.test(messageOf(error)) || (cause !== undefined && isOutOfMemory(cause))
}

/** Whether the database is of no use after this error. */
export function isFatal(error: unknown): boolean {
  return /^(FATAL|INTERNAL) Error|database has been invalidated/.test(messageOf(error))
}

/** Not by `instanceof Error`: a native module's errors may be of another realm. */
function messageOf(error: unknown): string {
  const text = String((error as { message?: unknown } | undefined)?.message ?? error)
  return text.replace(/^Failed to extract statements: /, '')
}
