/** Random calls for the newest rows, each against one reading of the whole. */
import type { Endpoint } from '../../endpoints/definition.ts'
import { endpointFrom } from '../../endpoints/definition-file.ts'
import { fromMicros } from '../../endpoints/timestamps.ts'
import type { Binding, QueryEngine, Row, Statement, Value } from '../../engines/engine.ts'
import type { OpenEngine } from '../../engines/testing/adapters.ts'
import { Random } from '../../sandbox/testing/random.ts'
import type { Column } from '../../sql/types.ts'
import { runNewestFirst } from '../newest-first.ts'

export const logTable: Record<string, Column[]> = {
  logs: [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
    { name: 'project', type: { kind: 'STRING' } },
    { name: 'status', type: { kind: 'ARRAY', element: { kind: 'INT64' } } },
  ],
}

/** As `logs.all`: tables bounded by the parameters, and the newest rows of one of them. */
const ownSql = `WITH entries AS (
  SELECT t.id, t.timestamp, t.status FROM logs AS t
  WHERE t.project = @project
    AND t.timestamp > COALESCE(@from, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@until, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
)
`
export const tails = [
  'SELECT id, timestamp FROM entries ORDER BY timestamp DESC, id LIMIT 20',
  'SELECT id, timestamp AS time FROM entries ORDER BY time DESC, id LIMIT 3 OFFSET 4',
  'SELECT e.id, s FROM entries AS e CROSS JOIN UNNEST(e.status) AS s WHERE s > 300 ORDER BY e.timestamp DESC, id, s LIMIT 10',
  "SELECT * FROM (SELECT id, timestamp FROM entries WHERE id LIKE '%1%') ORDER BY 2 DESC, 1 LIMIT 50",
  'SELECT id FROM entries AS e WHERE EXISTS (SELECT 1 FROM UNNEST(e.status) AS s WHERE s = 500) ORDER BY timestamp DESC, id LIMIT 5',
]

/** An endpoint with one of the `tails`, and steps from a minute to a day. */
export function newestEndpoint(tail = tails[0]!, steps = ['PT1M', 'PT10M', 'PT1H', 'P1D']): Endpoint {
  const time = { type: 'string', format: 'iso-timestamp' } as const
  const definition = {
    id: '00000000-0000-4000-8000-000000000001',
    description: 'd',
    parameters: { properties: { project: { type: 'string' }, from: time, until: time } },
    newestFirst: { start: 'from', end: 'until', steps },
  }
  return endpointFrom('newest.rows', definition, ownSql + tail)
}

export function statementOf(
  { sql }: Endpoint,
  project: string,
  from: string | null,
  until: string | null,
): Statement {
  const time = { kind: 'TIMESTAMP' as const }
  const bindings: Binding[] = [
    { name: 'from', type: time, value: from },
    { name: 'project', type: { kind: 'STRING' }, value: project },
    { name: 'until', type: time, value: until },
  ]
  return { sql, bindings }
}

/** By project: how far apart its rows are on average, in seconds. */
const projects = { dense: 10, hourly: 600, sparse: 10_000, rare: 400_000 }
const rowsOfEach = 1000

/** Rows up to the present, some at one moment, some ahead of it, some without a time. */
export async function appendRandomRows({ append }: Pick<OpenEngine, 'append'>, seed: number): Promise<void> {
  const random = new Random(seed)
  const now = Date.now()
  const rows = Object.entries(projects).flatMap(([project, seconds]) => {
    let time = now + 60_000
    return Array.from({ length: rowsOfEach }, (_, at): Row => {
      if (random.below(3) > 0) time -= random.below(2000 * seconds)
      const timestamp = random.below(50) === 0 ? null : new Date(time).toISOString()
      const status = Array.from({ length: random.below(4) }, () => random.pick([200, 404, 500]))
      return { id: `${project}-${at}`, timestamp, project, status }
    })
  })
  for (let file = 0; file < 3; file++)
    await append(
      'logs',
      rows.filter((_, at) => at % 3 === file),
    )
}

/**
 * Runs `count` random calls.
 * @returns how many there were, how many readings they took, and how many of them did not read the whole
 * @throws Error for the first whose rows differ from those of one reading, with its number in the sequence of the seed
 */
export async function compareWindows(engine: QueryEngine, { seed, count }: { seed: number; count: number }) {
  const random = new Random(seed)
  const limits = { maxRows: 1000, timeoutMs: 60_000 }
  let last: Value = null
  const counting: QueryEngine = {
    describe: statement => engine.describe(statement),
    rollups: engine.rollups,
    close: async () => {},
    run: (reading, limits) => {
      counts.readings++
      last = reading.bindings.find(({ name }) => name === 'from')!.value
      return engine.run(reading, limits)
    },
  }
  const counts = { calls: 0, rows: 0, readings: 0, narrow: 0 }
  for (; counts.calls < count; counts.calls++) {
    const steps = random.pick([['PT1M', 'PT10M', 'PT1H', 'P1D'], ['PT30M', 'P2D'], ['PT2H']])
    const endpoint = newestEndpoint(random.pick(tails), steps)
    const now = Date.now()
    const bound = () => {
      if (random.below(3) === 0) return null
      const seconds = random.pick([1, 60, 600, 3600, 86_400, 10_000_000])
      return fromMicros(BigInt(now - random.below(2 * seconds * 1000)) * 1000n)
    }
    const project = random.pick([...Object.keys(projects), 'none'])
    const statement = statementOf(endpoint, project, bound(), bound())
    const stepwise = await runNewestFirst(counting, endpoint, statement, limits)
    const whole = await engine.run(statement, limits)
    counts.rows += whole.rows.length
    if (last !== statement.bindings[0]!.value) counts.narrow++
    const [found, expected] = [stepwise, whole].map(({ rows, truncated }) =>
      JSON.stringify({ rows, truncated }),
    )
    if (found !== expected)
      throw new Error(
        `call ${counts.calls} of seed ${seed}: ${JSON.stringify(statement)} ${found} ${expected}`,
      )
  }
  return counts
}
