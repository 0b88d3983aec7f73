/** `lqe compare`: what two versions of an endpoint answer to the parameter sets in use, cell by cell. */
import { dirname, normalize } from 'node:path'
import { Command } from 'commander'
import { answersCollection, headOf, lightFields } from '../../../shared/cache/head.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { bindingsFrom } from '../../../shared/endpoints/parameters.ts'
import { sampleSets } from '../../../shared/endpoints/samples.ts'
import { queryText } from '../../../shared/endpoints/query-string.ts'
import { EngineError, type Row } from '../../../shared/engines/engine.ts'
import { ApiError } from '../../../shared/errors.ts'
import type { Services } from '../../../shared/services.ts'
import type { Store } from '../../../shared/stores/store.ts'
import type { ParameterSet } from '../../../shared/warm/batch.ts'
import { firstDifference, printSet } from '../apply/compare-answers.ts'
import { valueDiff } from '../apply/diff.ts'
import { readQueries } from '../apply/read.ts'
import { CommandError, type WithServices, wholeNumber } from '../command.ts'
import { typedPath } from '../path.ts'
import { answerOf, findEndpoint } from '../query.ts'
import { print } from '../print.ts'
import { pick, versionsOf, versionWords } from './commands.ts'

interface CompareOptions {
  with: string
  sets: number
}

/** Its action throws ApiError, CommandError or QueriesError, and sets exit code 1 where answers differ. */
export function compareCommand(withServices: WithServices): Command {
  return new Command('compare')
    .description(
      'run another version and the one in force, for the parameter sets in use; rows that differ are shown, from it to the one in force',
    )
    .argument('<name>', 'the name of an endpoint')
    .option('--with <version>', `${versionWords}; or a file such as queries/NAME.yaml`, 'previous')
    .option('--sets <count>', 'at most so many parameter sets, those used last', wholeNumber(1, 999), 50)
    .action((name: string, options: CompareOptions) =>
      withServices(services => compare(services, name, options)),
    )
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
    print(...differences)
  }
  const which = used.length > 0 ? 'in use' : 'of examples, as none is in use'
  print(
    `${other.version} -> ${current.version}, parameter sets ${which}: ${equal} of ${sets.length} answered alike.`,
  )
  if (equal < sets.length) process.exitCode = 1
}

/** @throws CommandError, QueriesError */
async function otherVersion(store: Store, current: Endpoint, text: string): Promise<Endpoint> {
  if (text.endsWith('.sql'))
    throw new CommandError(`A file is named by its definition: did you mean ${text.replace(/sql$/, 'yaml')}?`)
  if (!text.endsWith('.yaml')) return pick(await versionsOf(store, current.name), text)
  const file = typedPath(text)
  const source = readQueries(dirname(file)).find(({ yamlFile }) => normalize(yamlFile) === normalize(file))
  if (!source)
    throw new CommandError(`${text} is no file of an endpoint, such as queries/${current.name}.yaml`)
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

async function differencesFor(
  services: Services,
  current: Endpoint,
  other: Endpoint,
  set: ParameterSet,
): Promise<string[]> {
  try {
    const own = (of: ParameterSet) => rowsOf(services, current, of)
    const found = await firstDifference([set], own, async () => [await rowsOf(services, other, set)])
    return found ? valueDiff(found.found, found.expected) : []
  } catch (error) {
    if (!(error instanceof EngineError || error instanceof ApiError)) throw error
    return [`    cannot be compared: ${(error.cause instanceof EngineError ? error.cause : error).message}`]
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
