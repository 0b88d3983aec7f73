/**
 * What the service promises of its speed, and what two earlier commits had: a step that is within the noise of the one before
 * adds up with others, and only shows against a commit long ago. `infra/docs/contributing.md` has the same table.
 */
export interface Target {
  /** Of ours: against what. */
  what: string
  most: number
  /** `x` = a ratio to what is measured beside it. */
  unit: 'x' | 'ms' | 'MB' | 'runs'
  /**
   * The same of earlier commits, November 2026, on machines of two cores; `null` = it was not measured. `hot` is of both by turns
   * within a run, a median of five runs; that of `newest` and `chart` is of the files that `many-logs.ts` makes now.
   */
  bf5efd7: number | null
  '8193ba3': number | null
}

function target(what: string, most: number, unit: Target['unit'], before: (number | null)[]): Target {
  const [bf5efd7 = null, later = null] = before
  return { what, most, unit, bf5efd7, '8193ba3': later }
}

export const targets = {
  hot: target('a hot answer: a bare function that sends the same bytes, CPU', 0.9, 'x', [0.91, 1.23]),
  token: target('a hot answer by a token: by a key, CPU', 1.3, 'x', []),
  coldCpu: target('a cold start, deployed: a bare function, CPU', 1.8, 'x', [null, 2]),
  coldClock: target('a cold start, deployed: a bare function, on the clock', 1.8, 'x', [null, 1.9]),
  missCached: target('a miss of usage.api-counts: the engine alone, CPU', 1.05, 'x', [null, 1.12]),
  missUncached: target('a call of logs.all: the engine alone, CPU', 1.08, 'x', [null, 1.12]),
  newest: target('the newest 100 of 1,000,000 rows: DuckDB by hand, CPU', 1.5, 'x', [null, 0.66]),
  newestOfTen: target('the newest 100 of 10,000,000 rows: of 1,000,000, CPU', 2, 'x', [null, 1.96]),
  chart: target('a chart of seven days of 1,000,000 rows: the log table, CPU', 0.01, 'x', [null, 0.0067]),
  chartOverHttp: target('a chart of seven days of 1,000,000 rows, over HTTP', 40, 'ms', [null, 61]),
  manyCharts: target('1,000 charts of the warmer: one, CPU', 2, 'x', [null, 1.3]),
  callers: target('4 processes x 50 callers of one cold key', 1, 'runs', [null, 1]),
  redact: target('redacting 1,000 rows: two regular expressions, CPU', 0.8, 'x', [null, 0.83]),
  memory: target('resident memory of 1 GiB at its highest', 614, 'MB', [null, 553]),
}
