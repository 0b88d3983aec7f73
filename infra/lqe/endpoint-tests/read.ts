/** Reads the tests of endpoints: `<name>.test.yaml` beside `<name>.yaml`, whose fields `tests.schema.json` describes. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Document } from 'yaml'
import type { Endpoint, Scalar } from '../../../shared/endpoints/definition.ts'
import { readerOf } from '../../../shared/endpoints/definition-file.ts'
import { isoTimestamp } from '../../../shared/endpoints/timestamps.ts'
import type { Row } from '../../../shared/engines/engine.ts'
import { type EndpointSource, testsEnding } from '../apply/read.ts'
import { atPlaces, type FileProblem, type ProblemAt } from '../apply/yaml.ts'
import { problemOf, QueriesError, readYaml } from '../apply/yaml.ts'
import schema from './tests.schema.json' with { type: 'json' }

/** What a call answers: rows, or the problem that a caller is told. */
export interface Expected {
  /** A number: only so many rows. */
  rows?: Row[] | number
  error?: { code: string; detail: string }
}

export interface TestCase extends Expected {
  name?: string
  parameters: Record<string, Scalar>
  /** A caller's own SQL. */
  sql?: string
  /** Absent = as the endpoint says. */
  redact?: boolean
  /** The only columns that are compared; absent = all. */
  columns?: string[]
}

interface TestsFile {
  now: string
  tables: Record<string, object[]>
  cases: TestCase[]
}

/** The tests of one endpoint. */
export interface EndpointTests extends TestsFile {
  endpoint: Endpoint
  /** The endpoint's files. */
  source: EndpointSource
  /** All of the folder, whose rows this one may read. */
  sources: EndpointSource[]
  /** Schema files of the log tables. */
  tablesFolder: string
  file: string
  document: Document
  problem: ProblemAt
}

/**
 * @param sources the endpoints of the folder
 * @param tablesFolder schema files of the log tables
 * @returns the tests of those endpoints that have some
 * @throws QueriesError with every problem of every file
 */
export function readTests(folder: string, sources: EndpointSource[], tablesFolder: string): EndpointTests[] {
  const problems = strangers(folder, sources)
  const tests: EndpointTests[] = []
  for (const source of sources) {
    const file = join(folder, source.endpoint.name + testsEnding)
    if (!existsSync(file)) continue
    const own = QueriesError.gather(problems, () => readOne(file, source))
    if (own) tests.push({ ...own, sources, tablesFolder })
  }
  QueriesError.assertNone(problems)
  return tests
}

/** Tests of nothing would never run. */
function strangers(folder: string, sources: EndpointSource[]): FileProblem[] {
  const known = new Set(sources.map(({ endpoint }) => endpoint.name + testsEnding))
  return readdirSync(folder)
    .filter(file => file.endsWith(testsEnding) && !known.has(file))
    .map(file => problemOf(join(folder, file), 'has no endpoint beside it'))
}

const readFile = readerOf(schema) as (content: unknown) => TestsFile

function readOne(file: string, source: EndpointSource): Omit<EndpointTests, 'sources' | 'tablesFolder'> {
  const { document, content: given, problem } = readYaml(file)
  const content = atPlaces(problem, () => readFile(given))
  if (isoTimestamp(content.now) === null)
    throw new QueriesError([problem('/now', 'must be an ISO 8601 time such as 2026-01-31T12:00:00Z')])
  return { ...content, endpoint: source.endpoint, source, file, document, problem }
}
