/** `lqe test`: runs the tests of endpoints, or writes what they answer. */
import { writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { isCollection } from 'yaml'
import { type ErrorCode, errorCodes } from '../../../shared/errors.ts'
import { check } from '../apply/check.ts'
import type { Unless } from '../apply/passed.ts'
import { type AlertSource, type EndpointSource, readQueries } from '../apply/read.ts'
import { type FileProblem, problemOf, QueriesError, yamlText } from '../apply/yaml.ts'
import { typedPath } from '../path.ts'
import { type EndpointTests, readTests } from './read.ts'
import { type Outcome, runTests, withRows } from './run.ts'
import { print } from '../print.ts'
import { evaluate } from '../../../shared/alerts/condition.ts'
import { fillText } from '../../../shared/alerts/state.ts'

/** @param tablesFolder where the schema files of the log tables are */
export function testCommand(tablesFolder: () => string): Command {
  return new Command('test')
    .description(
      'run the tests of endpoints (<name>.test.yaml), on this machine and over rows of their own, and of their alerts',
    )
    .argument('[name]', 'the name of one endpoint')
    .option('--update', 'write what the cases answer into their files')
    .option(
      '--queries <folder>',
      'folder of <name>.sql, <name>.yaml and <name>.test.yaml',
      typedPath,
      'queries',
    )
    .action((name: string | undefined, { queries, update = false }: { queries: string; update?: boolean }) =>
      test(queries, tablesFolder(), update, name),
    )
}

/** @param name by default every endpoint @throws QueriesError where a case answers otherwise */
async function test(queries: string, tablesFolder: string, update: boolean, name?: string): Promise<void> {
  const sources = readQueries(queries)
  const wanted = sources.filter(({ endpoint }) => name === undefined || endpoint.name === name)
  const names = sources.map(({ endpoint }) => endpoint.name).join(', ')
  if (wanted.length === 0)
    throw new QueriesError([problemOf(queries, `has no endpoint ${name}; here are ${names}`)])
  const read = () => readTests(queries, sources, tablesFolder)
  const all = read()
  const problems: FileProblem[] = []
  for (const { endpoint, alerts } of wanted) {
    for (const alert of alerts) {
      const failed = failedAlertCases(alert)
      const { length } = alert.tests
      if (length === 0) print(`? the alert ${alert.alert.name} has no tests; they would be in ${alert.file}`)
      else if (failed.length === 0) print(`= the alert ${alert.alert.name} passed; cases: ${length}`)
      problems.push(...failed)
    }
    let tests = all.find(each => each.endpoint === endpoint)
    if (!tests) {
      print(`? ${endpoint.name} has no tests; they would be in ${queries}/${endpoint.name}.test.yaml`)
      continue
    }
    if (update) {
      const failures = await writeOutcomes(tests)
      problems.push(...failures)
      if (failures.length > 0) continue
      tests = read().find(each => each.endpoint === endpoint)!
    }
    const outcomes = await runTests(tests)
    const failed = problemsOf(outcomes)
    if (failed.length === 0) print(`= ${endpoint.name} passed; cases: ${outcomes.length}`)
    problems.push(...failed)
  }
  QueriesError.assertNone(problems)
}

/**
 * @param unless tells which endpoints passed before
 * @returns a problem for each case that answers otherwise
 * @throws QueriesError for tests that cannot be read
 */
export async function failedTests(
  queries: string,
  sources: EndpointSource[],
  tablesFolder: string,
  unless: Unless,
): Promise<FileProblem[]> {
  const problems = sources.flatMap(({ alerts }) => alerts.flatMap(failedAlertCases))
  for (const tests of readTests(queries, sources, tablesFolder)) {
    const run = async () => problemsOf(await runTests(tests))
    // One that reads others is tested with all of them.
    const files = tests.endpoint.upstream ? undefined : [tests.file, ...filesOf(tests.source)]
    problems.push(...(await unless(`tests of ${tests.endpoint.name}`, run, files)))
  }
  return problems
}

function filesOf({ sqlFile, yamlFile, queryFiles }: EndpointSource): string[] {
  return [sqlFile, yamlFile, ...queryFiles.values()]
}

function problemsOf(outcomes: Outcome[]): FileProblem[] {
  return outcomes.flatMap(({ problem }) => problem ?? [])
}

/**
 * Comments and everything else in the file stay.
 * @returns why nothing is written: a 5xx is a fault of the definition or of the service, which no test should expect
 */
async function writeOutcomes(tests: EndpointTests): Promise<FileProblem[]> {
  const { file, document, endpoint } = tests
  const outcomes = await runTests(tests)
  const failures = problemsOf(
    outcomes.filter(({ got }) => got.error && errorCodes[got.error.code as ErrorCode].status >= 500),
  )
  if (failures.length > 0) return [...(await faultsOf(tests)), ...failures]
  for (const [at, { got, problem }] of outcomes.entries()) {
    if (problem === null) continue
    for (const field of ['rows', 'error']) document.deleteIn(['cases', at, field])
    for (const [field, value] of Object.entries(got)) {
      const node = document.createNode(value)
      if (isCollection(node) && field === 'rows')
        for (const row of node.items) if (isCollection(row)) row.flow = true
      document.setIn(['cases', at, field], node)
    }
  }
  const count = problemsOf(outcomes).length
  if (count === 0) return []
  writeFileSync(file, yamlText(document, { lineWidth: 0, flowCollectionPadding: true }))
  print(`~ ${endpoint.name} updated; cases: ${count}. See what changed before you commit it.`)
  return []
}

/** What `apply` would say of the endpoint's files. */
async function faultsOf(tests: EndpointTests): Promise<FileProblem[]> {
  const own = filesOf(tests.source)
  const faults = await withRows(tests, ({ engine }) => check(tests.sources, engine))
  return faults.filter(({ file }) => own.includes(file))
}

/** @returns a problem for each case in which the alert does otherwise */
export function failedAlertCases({ alert, tests, problem }: AlertSource): FileProblem[] {
  return tests.flatMap(({ name, rows, before, fires, text }, at) => {
    const evaluation = evaluate(alert.condition, rows, before)
    const fault = (field: string, words: string) =>
      problem(`/tests/${at}/${field}`, name === undefined ? words : `"${name}" ${words}`)
    if (fires !== (evaluation.finding === 'firing'))
      return [
        fault(
          'fires',
          `is otherwise: the alert is ${evaluation.finding}, with the value ${evaluation.value}`,
        ),
      ]
    const said = fillText(alert, alert.sets[0]!, evaluation).text
    return text === undefined || text === said ? [] : [fault('text', `is otherwise: ${JSON.stringify(said)}`)]
  })
}
