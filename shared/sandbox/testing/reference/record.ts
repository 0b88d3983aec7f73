/**
 * Records the verdicts of Google's reference parser (ZetaSQL) on the corpus in `verdicts.json`. The parser is 354 MB
 * and no dependency: install `@fivetrandevelopers/zetasql` 1.13.0 in a folder outside, and name that folder;
 * then format the file.
 *
 *     node shared/sandbox/testing/reference/record.ts <folder>
 */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { composed, judgedAttacks, type Judged, type Verdict } from './corpus.ts'

/** The part of the package that is used here. */
interface ZetaSql {
  runServer(port: number): Promise<never>
  terminateServer(): void
  LanguageOptions: new () => { enableMaximumLanguageFeatures(): Promise<{ options: object }> }
  ZetaSQLClient: { init(port: number): void; getInstance(): Client }
}

interface Client {
  testConnection(): Promise<boolean>
  extractTableNamesFromStatement(request: { sqlStatement: string; options: object }): Promise<{
    tableName: { tableNameSegment: string[] }[]
  }>
}

const port = 50_791

async function record(folder: string): Promise<void> {
  const zetasql = createRequire(join(resolve(folder), 'x.js'))('@fivetrandevelopers/zetasql') as ZetaSql
  void zetasql.runServer(port)
  zetasql.ZetaSQLClient.init(port)
  const client = zetasql.ZetaSQLClient.getInstance()
  await client.testConnection()
  const { options } = await new zetasql.LanguageOptions().enableMaximumLanguageFeatures()
  const verdicts: Record<string, Verdict> = {}
  for (const query of [...judgedAttacks, ...composed]) {
    // In BigQuery QUALIFY is a reserved word.
    verdicts[query.title] = await judge(client, { ...options, reservedKeywords: ['QUALIFY'] }, query)
  }
  zetasql.terminateServer()
  const lines = Object.entries(verdicts).map(
    ([title, verdict]) => `${JSON.stringify(title)}: ${JSON.stringify(verdict)}`,
  )
  writeFileSync(join(import.meta.dirname, 'verdicts.json'), `{\n${lines.join(',\n')}\n}\n`)
}

async function judge(client: Client, options: object, { sql, hash }: Judged): Promise<Verdict> {
  try {
    const { tableName } = await client.extractTableNamesFromStatement({ sqlStatement: sql, options })
    return {
      hash,
      tables: tableName.map(({ tableNameSegment }) => tableNameSegment.join('.').toLowerCase()).toSorted(),
    }
  } catch (error) {
    return { hash, error: String((error as { details?: string }).details ?? error) }
  }
}

await record(process.argv[2] ?? '')
process.exit()
