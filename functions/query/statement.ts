import { apiErrorOf } from '../../shared/run/blame.ts'
import type { ColumnsOf } from '../../shared/endpoints/columns.ts'
import { EngineError, type Statement } from '../../shared/engines/engine.ts'
import { type Endpoint, upstreamBindings } from '../../shared/endpoints/definition.ts'
import { savedStatement } from '../../shared/endpoints/saved-query.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Parameters } from '../../shared/endpoints/parameters.ts'
import { assertPinsHold } from '../../shared/sandbox/pins.ts'
import type { NameKind } from '../../shared/redact/names.ts'
import { placeOf } from '../../shared/sql/error.ts'
import type { Query } from '../../shared/sql/tree.ts'
import type { Violation } from '../../shared/sandbox/caller-rules.ts'
import { type StoredText, storedTextIn } from '../../shared/sandbox/redacted-sql.ts'
import { columnsByEngine, tableQueries } from '../../shared/sandbox/offered-tables.ts'
import { placeInCaller, sandbox } from '../../shared/sandbox/sandbox.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'

/** The statement to run, and the caller's SQL in its normal form and as a tree; `null` where a saved query runs. */
export interface Composed {
  statement: Statement
  /** Where the statement may read a roll-up: the endpoint's own query, for when that cannot be read. */
  instead: Statement | null
  sql: string | null
  tree: Query | null
  /** Names that the caller's SQL gives to values of another kind, for redaction. */
  names: ReadonlyMap<string, NameKind>
}

/** Moves the places in an error from the composed statement to the caller's own SQL, and drops those outside it. */
export function mapErrorToCallerSql(
  error: unknown,
  { statement, sql, tree }: Composed,
  callerSql: string | null,
): unknown {
  if (!(error instanceof ApiError)) return error
  const problems = error.problems.map(({ line, column, ...problem }) => {
    if (line === undefined || column === undefined) return problem
    const place =
      callerSql === null || sql === null || tree === null
        ? null
        : placeInCaller({ sql: statement.sql, normal: sql, tree }, callerSql, { line, column })
    return { ...problem, ...place }
  })
  return error.with({ problems })
}

const asItIs: StoredText = { problem: null, names: new Map() }

/**
 * The saved query for these parameters, or the caller's inside its sandbox.
 * @param redaction whether the answer is redacted, and whether the caller could not have it in the clear
 * @throws ApiError `sandbox_disabled`, `redaction_locked`, `sandbox_violation`, `invalid_query`, `invalid_parameter`; what a
 * dry run of the endpoint's tables throws
 */
export async function compose(
  columnsOf: ColumnsOf,
  endpoint: Endpoint,
  caller: Caller,
  parameters: Parameters,
  callerSql: string | null,
  { redacted, isImposed }: { redacted: boolean; isImposed: boolean },
): Promise<Composed> {
  const { bindings } = parameters
  if (callerSql === null) return { ...savedStatement(endpoint, bindings), tree: null, names: asItIs.names }
  assertTakesSql(endpoint, caller)
  const asked = columnsByEngine(endpoint, callerSql, sql => columnsOf(endpoint, sql), redacted)
  const found = await asked.catch((error: unknown) => {
    throw error instanceof EngineError ? apiErrorOf(error, endpoint) : error
  })
  const { sql, normal, tree, resolution, parameters: used } = sandbox(endpoint, callerSql, found)
  const all = [...bindings, ...upstreamBindings(endpoint)]
  const needed = all.filter(({ name }) => used.includes(name))
  // A clear answer needs neither.
  const { problem, names } = redacted ? storedTextIn(tree, resolution) : asItIs
  if (problem && isImposed && !endpoint.sandboxDespiteRedaction) throw changesText(problem, callerSql)
  return { statement: { sql, bindings: needed }, instead: null, sql: normal, tree, names }
}

/** The first rows of the table in `shared/sandbox/README.md`, "Redacted answers". */
function assertRedactionHolds(endpoint: Endpoint, caller: Caller): void {
  if (!endpoint.redact || endpoint.sandboxDespiteRedaction || caller.rights.includes('pii:read')) return
  throw new ApiError(
    'redaction_locked',
    'This endpoint redacts personal data, and SQL of your own could show it in another form; leave sql out.',
    { problems: [{ parameter: 'sql', detail: 'needs the right pii:read on an endpoint that redacts' }] },
  )
}

function changesText({ message, at }: Violation, callerSql: string): ApiError {
  return new ApiError(
    'redaction_locked',
    `Answers for this API key are redacted, so its SQL leaves stored text as it is: ${message}.`,
    { problems: [{ parameter: 'sql', ...placeOf(callerSql, at), detail: message }] },
  )
}

/** @throws ApiError where the endpoint takes no SQL of this caller, whatever the SQL */
export function assertTakesSql(endpoint: Endpoint, caller: Caller): void {
  if (!endpoint.sandbox)
    throw new ApiError('sandbox_disabled', 'This endpoint takes no SQL; leave sql out.', {
      problems: [{ parameter: 'sql', detail: 'is not taken by this endpoint' }],
    })
  assertRedactionHolds(endpoint, caller)
  assertPinsHold(endpoint, caller.pins)
}

/** Whether SQL of this caller can be answered, and has a table to read. */
export function answersSql(endpoint: Endpoint, caller: Caller): boolean {
  try {
    assertTakesSql(endpoint, caller)
    return tableQueries(endpoint).length > 0
  } catch {
    return false
  }
}
