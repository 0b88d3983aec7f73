/**
 * Records what Google's reference (ZetaSQL) makes of the sandbox's corpora: its verdict on each statement, in
 * `verdicts.json`, and the rows of the dashboards, beside their queries. `shared/engines/testing/reference/zetasql.ts` says
 * how it is installed; name its folder, then format `verdicts.json`:
 *
 *     node shared/sandbox/testing/reference/record.ts <folder>
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readTableSchemas } from '../../../engines/duckdb/tables.ts'
import type { Row } from '../../../engines/engine.ts'
import type { Table } from '../../../engines/testing/reference/tables.ts'
import { ZetaSql } from '../../../engines/testing/reference/zetasql.ts'
import {
  bindings,
  dashboardsOf,
  entries,
  statementOf,
  subjects,
  writeRows,
} from '../dashboards/dashboards.ts'
import { composed, judgedAttacks, type Judged, type Verdict, inOlderSyntax } from './corpus.ts'

const zetasql = new ZetaSql(process.argv[2] ?? '')

function tables(): Record<string, Table> {
  const schemas = readTableSchemas(join(import.meta.dirname, '../../../../infra/tables'))
  return Object.fromEntries(
    Object.entries(entries()).map(([name, rows]) => [name, { columns: schemas.get(name)!, rows }]),
  )
}

async function recordVerdicts(): Promise<void> {
  const verdicts: Record<string, Verdict> = {}
  for (const query of [...judgedAttacks, ...composed]) verdicts[query.title] = await judge(query)
  const lines = Object.entries(verdicts).map(
    ([title, verdict]) => `${JSON.stringify(title)}: ${JSON.stringify(verdict)}`,
  )
  writeFileSync(join(import.meta.dirname, 'verdicts.json'), `{\n${lines.join(',\n')}\n}\n`)
}

async function judge({ sql, hash }: Judged): Promise<Verdict> {
  try {
    const names = await zetasql.tableNames(sql)
    return { hash, tables: names.map(name => name.toLowerCase()).toSorted() }
  } catch (error) {
    return { hash, error: String((error as { details?: string }).details ?? error) }
  }
}

async function recordRows(subject: string): Promise<void> {
  const rows = new Map<string, Row[]>()
  for (const { shows, sql } of dashboardsOf(subject)) {
    const verdict = await zetasql.evaluate(statementOf(inOlderSyntax(sql)), bindings)
    if ('rows' in verdict) rows.set(shows, verdict.rows)
    else process.stdout.write(`no rows: ${shows}: ${JSON.stringify(verdict)}\n`)
  }
  writeRows(subject, rows)
}

await zetasql.start(tables())
await recordVerdicts()
for (const subject of subjects) await recordRows(subject)
zetasql.stop()
