/** An endpoint whose table has names of its own and a JSON column, beside one that ships, or all of them. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const columns = [
  { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
  { name: 'id', type: 'STRING', mode: 'NULLABLE' },
  { name: 'words', type: 'STRING', mode: 'NULLABLE' },
  { name: 'grade', type: 'STRING', mode: 'NULLABLE' },
  { name: 'text', type: 'STRING', mode: 'NULLABLE' },
]

const sql = `WITH app AS (
  SELECT t.timestamp AS happened, t.id, t.words, t.grade, PARSE_JSON(t.text) AS payload,
    CASE t.id WHEN 'app-0' THEN NULL WHEN 'app-1' THEN JSON '"n/a"' ELSE JSON '200' END AS code
  FROM \`app.logs\` AS t
  WHERE t.timestamp > COALESCE(@since, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@until, TIMESTAMP '9999-12-31 23:59:59+00')
)
SELECT id, words FROM app ORDER BY happened DESC LIMIT 5`

const yaml = `id: 1c7d1f60-57c1-4f0c-9d0e-6f6f2a1c9b11
description: The entries of an application.
parameters:
  properties:
    since: { type: string, format: iso-timestamp }
    until: { type: string, format: iso-timestamp }
sandbox: true
cache:
  seconds: 60
explore:
  app:
    time: happened
    message: words
    severity: grade
    fields: [payload.user.name, grade]
`

/**
 * @param shipped files of `queries/` beside it; by default those of logs.all alone, as all that are applied cost time
 * @returns the setup of a service that serves it
 */
export function withAppLogs(folder: string, shipped: string[] = ['logs.all.sql', 'logs.all.yaml']) {
  const [queries, tables] = [join(folder, 'queries'), join(folder, 'tables')]
  mkdirSync(queries, { recursive: true })
  for (const file of shipped) cpSync(join('queries', file), join(queries, file), { recursive: true })
  cpSync('infra/tables', tables, { recursive: true })
  writeFileSync(join(tables, 'app.logs.json'), JSON.stringify(columns))
  writeFileSync(join(queries, 'app.yaml'), yaml)
  writeFileSync(join(queries, 'app.sql'), sql)
  return { queries, env: { TABLES_DIR: tables } }
}

/** @param at ISO 8601 */
export function appRow(i: number, at: string): object {
  const user = { name: i % 3 === 0 ? 'Ann' : 'Bob', 'sign-in': i }
  const text = JSON.stringify({ user, tags: [`t${i % 2}`, 'all'], took: i * 10 })
  return {
    timestamp: at,
    id: `app-${i}`,
    words: `step ${i} done`,
    grade: i % 5 === 0 ? 'fatal' : 'notice',
    text,
  }
}
