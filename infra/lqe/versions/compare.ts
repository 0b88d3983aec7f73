/** `lqe compare`: what two versions of an endpoint answer to the parameter sets in use, cell by cell. */
import { dirname, normalize } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { diffArrays } from 'diff'
import { answersCollection, headOf, lightFields } from '../../../shared/cache/head.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { bindingsFrom } from '../../../shared/endpoints/parameters.ts'
import { queryText } from '../../../shared/endpoints/query-string.ts'
import { EngineError, type Row, type Value } from '../../../shared/engines/engine.ts'
import { ApiError } from '../../../shared/errors.ts'
import type { Services } from '../../../shared/services.ts'
import type { Store } from '../../../shared/stores/store.ts'
import type { ParameterSet } from '../../../shared/warm/batch.ts'
import { firstDifference, printSet, sampleSets } from '../apply/compare.ts'
import { readQueries } from '../apply/read.ts'
import { typedPath } from '../path.ts'
import { answerOf, findEndpoint } from '../query.ts'
import { print } from '../print.ts'
import { pick, VersionError, versionsOf, versionWords } from './version.ts'

interface CompareOptions {
  with: string
  sets: number
}

/** Its action throws ApiError, VersionError or QueriesError, and sets exit code 1 where answers differ. */
export function compareCommand(
  withServices: (act: (services: Services) => Promise<void>) => Promise<void>,
): Command {
  return new Command('compare')
    .description(
      'run another version and the one in force, for the parameter sets in use; cells that differ are shown, as other -> in force',
    )
    .argument('<name>', 'the name of an endpoint')
    .option('--with <version>', `${versionWords}; or a file such as queries/NAME.yaml`, 'previous')
    .option('--sets <count>', 'at most so many parameter sets, those used last', wholeNumber, 50)
    .action((name: string, options: CompareOptions) =>
      withServices(services => compare(services, name, options)),
    )
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999.')
  return Number(text)
}

/** Exit code 1 says that a set is answered otherwise, or could not be compared. */
async function compare(services: Services, name: string, { with: text, sets: most }: CompareOptions) {
  const current = await findEndpoint(services, name)
  const other = await otherVersion(services.store, current, text)
  const used = await setsInUse(services.store, current, most)
  const sets = used.length > 0 ? used : sampleSets(current).slice(0, most)
  let equal = 0
  for (const set of sets) {
    const differences = await differencesFor(services, current, other, set)
    if (differences.length === 0) equal++
    print(`${differences.length === 0 ? '=' : '~'} ${printSet(set)}`)
    for (const line of differences) print(`    ${line}`)
  }
  const which = used.length > 0 ? 'in use' : 'of examples, as none is in use'
  print(
    `${other.version} -> ${current.version}, parameter sets ${which}: ${equal} of ${sets.length} answered alike.`,
  )
  if (equal < sets.length) process.exitCode = 1
}

/** @throws VersionError, QueriesError */
async function otherVersion(store: Store, current: Endpoint, text: string): Promise<Endpoint> {
  if (text.endsWith('.sql'))
    throw new VersionError(`A file is named by its definition: did you mean ${text.replace(/sql$/, 'yaml')}?`)
  if (!text.endsWith('.yaml')) return pick(await versionsOf(store, current.name), text)
  const file = typedPath(text)
  const source = readQueries(dirname(file)).find(({ yamlFile }) => normalize(yamlFile) === normalize(file))
  if (!source)
    throw new VersionError(`${text} is no file of an endpoint, such as queries/${current.name}.yaml`)
  return source.endpoint
}

/** Of calls for the endpoint's own query whose answers are in the store, in any version: the last used first. */
async function setsInUse(store: Store, endpoint: Endpoint, most: number): Promise<ParameterSet[]> {
  const { documents } = await store.query({
    collection: answersCollection,
    where: [{ field: 'endpoint', operator: '==', value: endpoint.id }],
    orderBy: { field: 'usedAt', direction: 'desc' },
    limit: 1_000,
    fields: lightFields,
  })
  const sets = new Map<string, ParameterSet>()
  for (const document of documents) {
    const { parameters, sql } = headOf(document)?.keyFields ?? { parameters: '', sql: null }
    const set = sql === null ? bindingsFrom(endpoint, parameters) : null
    if (set) sets.set(parameters, sets.get(parameters) ?? set)
  }
  return [...sets.values()].slice(0, most)
}

/** More lines of one set are only counted. */
const shown = 20

async function differencesFor(
  services: Services,
  current: Endpoint,
  other: Endpoint,
  set: ParameterSet,
): Promise<string[]> {
  try {
    const own = (of: ParameterSet) => rowsOf(services, current, of)
    const found = await firstDifference([set], own, async () => [await rowsOf(services, other, set)])
    const lines = found ? differences(found.found, found.expected) : []
    return lines.length > shown ? [...lines.slice(0, shown), `and ${lines.length - shown} more`] : lines
  } catch (error) {
    if (!(error instanceof EngineError || error instanceof ApiError)) throw error
    return [`cannot be compared: ${(error.cause instanceof EngineError ? error.cause : error).message}`]
  }
}

/** By the version's own query, with its redaction. */
async function rowsOf(services: Services, endpoint: Endpoint, set: ParameterSet): Promise<Row[]> {
  const query = queryText(Object.fromEntries(set.map(({ name, value }) => [name, value])))
  const options = { sql: null, redact: endpoint.redact, fresh: false }
  const alone = { ...endpoint, answers: [], page: null, cacheSeconds: 0 }
  const { answer } = await answerOf(services, alone, query, options)
  return answer.rows()
}

/** From the other version to the one in force: rows in the place of others are compared cell by cell, the rest are in one only. */
function differences(before: Row[], after: Row[]): string[] {
  const lines: string[] = []
  const gone: number[] = []
  let [row, otherRow] = [0, 0]
  const flush = () => {
    for (const at of gone.splice(0))
      lines.push(`row ${at + 1} only in the other: ${JSON.stringify(before[at])}`)
  }
  for (const { removed, added, count } of diffArrays(before.map(textOf), after.map(textOf))) {
    for (let i = 0; i < count; i++) {
      if (removed) gone.push(row++)
      else if (added) {
        const at = gone.shift()
        const own = after[otherRow++]!
        if (at === undefined) lines.push(`row ${otherRow} only in force: ${JSON.stringify(own)}`)
        else lines.push(...cells(at, before[at]!, own))
      } else {
        flush()
        row++
        otherRow++
      }
    }
  }
  flush()
  return lines
}

function cells(at: number, before: Row, after: Row): string[] {
  const columns = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const isAlike = (column: string) => textOf(before[column]) === textOf(after[column])
  const first = columns.filter(isAlike).slice(0, 2)
  const named = first.map(column => `${column}=${textOf(after[column])}`).join(' ')
  const row = `row ${at + 1}${named && ` (${named})`}`
  return columns
    .filter(column => !isAlike(column))
    .map(column => `${row} ${column}: ${textOf(before[column])} -> ${textOf(after[column])}`)
}

function textOf(value: Row | Value | undefined): string {
  return value === undefined ? 'no column' : JSON.stringify(value)
}
