import type { Random } from './random.ts'

/**
 * Random queries that run, over the tables of `logs.all`, in every form that the front end reads: PIVOT, UNPIVOT, set
 * operations by name, pipes, GROUPING SETS, `*`. They look for entries of any project, and have no order to rely on.
 */
export function confinedQuery(random: Random): string {
  return new Writer(random).answer()
}

const tables = ['edge_logs', 'auth_logs', 'function_logs', 'postgres_logs', 'storage_logs', 'realtime_logs']
const setOperators = [
  'UNION ALL BY NAME',
  'UNION DISTINCT CORRESPONDING',
  'FULL OUTER UNION ALL BY NAME',
  'LEFT UNION ALL BY NAME ON (id, message, minute)',
  'EXCEPT DISTINCT BY NAME',
  'INNER INTERSECT DISTINCT BY NAME',
]
const conditions = [
  "id LIKE '%other%'",
  "message LIKE '%GET%'",
  'minute > 30',
  "id LIKE ANY ('other%', 'acme%')",
  "NOT STARTS_WITH(id, 'acme')",
  'MOD(minute, 2) = 0',
]

class Writer {
  private readonly random: Random
  private names = 0

  constructor(random: Random) {
    this.random = random
  }

  private name(): string {
    return `x${++this.names}`
  }

  /** A query with the columns id, message and minute. */
  private rows(depth: number): string {
    if (depth === 0) return this.entries()
    const inner = () => this.rows(depth - 1 - this.random.below(depth))
    const name = this.name()
    const condition = this.random.pick(conditions)
    return this.random.pick([
      () => `SELECT * FROM (${inner()})`,
      () => `SELECT ${name}.* FROM (${inner()}) AS ${name} WHERE ${condition}`,
      () => `SELECT * REPLACE (UPPER(message) AS message) FROM (${inner()})`,
      () => `WITH ${name} AS (${inner()}) SELECT * FROM ${name} WHERE ${condition}`,
      () => `(${inner()}) ${this.random.pick(setOperators)} (SELECT minute, id, message FROM (${inner()}))`,
      () => `FROM (${inner()}) |> WHERE ${condition} |> EXTEND minute + 1 AS next |> DROP next`,
      () =>
        `FROM (${inner()}) |> ${this.random.pick(setOperators)} (SELECT message, minute, id FROM (${inner()}))`,
      () => `SELECT id, message, minute FROM (${inner()}) WHERE id IN (SELECT id FROM (${inner()}))`,
      () =>
        `SELECT ${name}.* FROM (${inner()}) AS ${name} WHERE EXISTS (SELECT 1 FROM (${inner()}) AS o WHERE o.minute = ${name}.minute)`,
      () =>
        `SELECT id, message, minute FROM (${inner()}) AS ${name} LEFT JOIN (SELECT id FROM (${inner()}) GROUP BY id) AS o USING (id)`,
      () => `SELECT * FROM (${inner()}) WHERE minute >= (SELECT AVG(minute) FROM (${inner()}))`,
      () =>
        `SELECT message AS id, id AS message, minute FROM (${inner()}) QUALIFY RANK() OVER (ORDER BY minute) < 9`,
    ])()
  }

  private entries(): string {
    const table = this.random.pick(tables)
    const t = this.name()
    return this.random.pick([
      () => `SELECT id, event_message AS message, EXTRACT(MINUTE FROM timestamp) AS minute FROM ${table}`,
      () =>
        `FROM ${table} AS ${t} |> SELECT ${t}.id, ${t}.event_message AS message, EXTRACT(MINUTE FROM ${t}.timestamp) AS minute`,
      () =>
        `SELECT ${t}.id, ${t}.event_message AS message, 7 AS minute FROM (SELECT * FROM ${table}) AS ${t}`,
      () =>
        `SELECT ${t}.id, TO_JSON_STRING(m) AS message, ARRAY_LENGTH(${t}.metadata) AS minute FROM ${table} AS ${t}, ${t}.metadata AS m`,
    ])()
  }

  answer(): string {
    const rows = this.rows(this.random.below(4))
    const keyed = `SELECT SUBSTR(id, 1, 5) AS who, MOD(minute, 4) AS quarter, id FROM (${rows})`
    return this.random.pick([
      () => rows,
      () =>
        `SELECT * FROM (${keyed}) PIVOT (COUNT(*) AS n, MIN(id) AS first FOR quarter IN (0, 1, 2, 3 AS last))`,
      () =>
        `SELECT * FROM (${keyed}) PIVOT (COUNT(DISTINCT id) FOR who IN ('acme-', 'other' AS found, NULL))`,
      () =>
        `FROM (${keyed}) |> PIVOT (MAX(id) FOR who IN ('acme-' AS own, 'other' AS found)) AS p |> WHERE p.found IS NULL`,
      () =>
        `SELECT k, COUNT(*) AS n, MIN(v) AS v FROM (${rows}) UNPIVOT INCLUDE NULLS (v FOR k IN (id, message AS 'text')) GROUP BY k`,
      () => `FROM (${rows}) |> UNPIVOT (v FOR k IN (id, message)) |> WHERE v LIKE '%other-%' |> SELECT k, v`,
      () =>
        `SELECT who, quarter, COUNT(*) AS n FROM (${keyed}) GROUP BY GROUPING SETS (who, (who, quarter), ())`,
      () =>
        `SELECT who, quarter, COUNT(*) AS n FROM (${keyed}) GROUP BY ${this.random.pick(['ROLLUP', 'CUBE'])} (who, quarter)`,
      () => `FROM (${keyed}) |> AGGREGATE COUNT(*) AS n, MAX(id) AS id GROUP BY who`,
      () =>
        `WITH RECURSIVE r AS (SELECT *, 1 AS n FROM (${rows}) UNION ALL SELECT * REPLACE (n + 1 AS n) FROM r WHERE n < 3) ` +
        'SELECT n, COUNT(*) AS c, MIN(id) AS first, MAX(message) AS m FROM r GROUP BY n',
      () =>
        `SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS d, MAX(message) AS m, COUNTIF(id LIKE 'other%') AS others FROM (${rows})`,
    ])()
  }
}
