/** DuckDB's errors as the port's. Its messages quote values and SQL, so only the words listed here reach callers. */
import { SqlError } from '../../sql/error.ts'
import { patterns } from '../../sql/hints.ts'
import { EngineError, type EngineErrorReason } from '../engine.ts'
import { raisedMessages, UnsupportedError } from './rewrite/context.ts'

/**
 * What DuckDB's messages mean, of which the first that fits counts; `$1` is what the pattern's group found. First those of our
 * own functions, whose messages quote no values (udfs/register.ts). Of log files the names are ours, but for those that
 * operators put beside them. What DuckDB cannot plan is not supported: the rewriting has settled names and types by the
 * tables' schemas.
 */
const meanings = patterns(String.raw`
  ^Invalid Input Error: GoogleSQL: (.+)$ => rejected: $1
  ^Invalid Input Error: A function failed => failed: The local engine failed
  ^Invalid Input Error: (File '.*' too small to be a Parquet file|No magic bytes found|Failed to read (Parquet )?file "|Invalid string encoding found in Parquet file "|Cannot read ) => failed: A log file is damaged
  ^Invalid Input Error: [^\n]* file ['"][^'"\n]*\.parquet['"] => failed: A log file is damaged
  ^Conversion Error: Error while reading file " => failed: A log file has other columns than its table
  ^Invalid Error => failed: A log file is damaged
  ^IO Error => failed: A log file is missing, or cannot be read
  ^Conversion Error: Could not convert string '(${raisedMessages.join('|')})' to => rejected: $1
  ^Invalid Input Error: ((?:bad repetition|invalid (?:character|escape|named|perl|repetition)|missing [)\]]|no argument|pattern too large|trailing \\|unexpected \))(?: [a-z]+)*) => rejected: Bad regular expression: $1
  ^(Conversion|Invalid Input) Error: Malformed JSON => rejected: A value is not JSON
  ^Invalid Input Error: Could not parse string => rejected: A date or time does not have the format given
  TimeZone => rejected: Unknown time zone
  ^Binder Error: LIMIT\/OFFSET cannot be negative => rejected: LIMIT and OFFSET take no negative number
  More than one row returned by a subquery => rejected: A scalar subquery returned more than one row
  must appear in the GROUP BY clause => rejected: A column is neither grouped nor aggregated
  (WHERE|GROUP BY) clause cannot contain aggregates => rejected: An aggregate function cannot stand here
  aggregate function calls cannot be nested => rejected: Aggregate functions cannot be nested
  [Ww]indow functions? (is|are) not allowed|cannot contain window functions => rejected: A window function cannot stand here
  Period must be greater than 0|bucket using zero => rejected: A bucket needs a width above zero
  ^Conversion Error.*out of range => rejected: A number or date is out of range
  ^Conversion Error => rejected: A value cannot be converted to the type asked for
  ^Out of Range Error => rejected: A number or date is out of range
  ^Invalid Input Error => rejected: A function refuses a value that it is given
  [Nn]on-inner join on (correlated columns|subquery) => unsupported: The local engine cannot run a LEFT, RIGHT or FULL JOIN whose ON has a subquery, or a column of a query around: select what is compared in a common table (WITH), and join that
  window expression is not supported here => unsupported: The local engine cannot run a window by a column of a query around: select it in a common table (WITH), and join that
  ^(Binder|Catalog|Parser|Not implemented|Serialization) Error => unsupported: The local engine cannot plan this query: write its subqueries as common tables (WITH), and join them
  ^Out of Memory Error => result_too_large: The query needs more memory than the local engine has: filter before it sorts, groups or joins
`)

/** Any error of a run or of its preparation, as an EngineError. */
export function engineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error
  if (error instanceof SqlError) {
    const reason = error instanceof UnsupportedError ? 'unsupported' : 'rejected'
    return new EngineError(reason, error.message, { place: error.place, cause: error })
  }
  const text = messageOf(error)
  const [pattern, meaning] = meanings.find(([pattern]) => pattern.test(text)) ?? [
    null,
    'failed: The local engine failed',
  ]
  const reason = meaning.split(':')[0] as EngineErrorReason
  const words = meaning.slice(reason.length + 2).replace('$1', () => pattern!.exec(text)![1]!)
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
  return messageOf(error).startsWith('Out of Memory Error') || (cause !== undefined && isOutOfMemory(cause))
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
