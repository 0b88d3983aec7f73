/** `lqe versions`, `lqe diff`, `lqe restore`: what was applied before, and going back to it. */
import { Command } from 'commander'
import { emptyBindings, type Endpoint, endpointIn } from '../../../shared/endpoints/definition.ts'
import {
  documentAt,
  type EndpointVersion,
  listVersions,
  nameOfVersion,
} from '../../../shared/endpoints/versions.ts'
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import type { Services } from '../../../shared/services.ts'
import { accountHere } from '../account.ts'
import { carryOut, diffOf, stepFor } from '../apply/plan.ts'
import { planRollups, removeUnused } from '../apply/rollups.ts'
import { findAmong, upstreamFaults } from '../apply/upstream.ts'
import { dotted } from '../apply/yaml.ts'
import { CommandError, type WithServices } from '../command.ts'
import { print } from '../print.ts'
import { endpointsCollection } from '../../../shared/endpoints/lookup.ts'
import type { Document, Store } from '../../../shared/stores/store.ts'

/** Its action throws CommandError for an endpoint that was never applied, and to forget the version in force. */
export function versionsCommand(withServices: WithServices): Command {
  return new Command('versions')
    .description(
      'list what was applied of an endpoint, the last first; * marks the version in force, and callers have none that is ended',
    )
    .argument('<name>', 'the name of an endpoint, also of one that was removed')
    .option('--forget <version>', 'remove this version, so that callers cannot name it any more')
    .action((name: string, { forget: gone }: { forget?: string }) =>
      withServices(services => (gone === undefined ? list(services, name) : forget(services, name, gone))),
    )
}

/** Its action throws CommandError for a version that is unknown, or a beginning that several have. */
export function diffCommand(withServices: WithServices): Command {
  return new Command('diff')
    .description('print the lines in which two versions of an endpoint differ')
    .argument('<name>', 'the name of an endpoint')
    .argument('[a]', versionWords, 'previous')
    .argument('[b]', 'another version; the one in force by default')
    .action((name: string, a: string, b?: string) => withServices(services => diff(services, name, a, b)))
}

/** @param author who restores; `null` = the account and machine */
export function restoreCommand(withServices: WithServices, author: () => string | null): Command {
  return new Command('restore')
    .description('put a version in force again, everywhere within 30 seconds')
    .argument('<name>', 'the name of an endpoint, also of one that was removed')
    .argument('<version>', versionWords)
    .action((name: string, version: string) =>
      withServices(services => restore(services, name, version, author() ?? accountHere())),
    )
}

async function list({ store }: Services, name: string): Promise<void> {
  const versions = await versionsOf(store, name)
  const inUse = await versionInForce(store, versions[0]!.endpoint)
  for (const { endpoint, createdAt, createdBy, appliedAt, appliedBy, ended } of versions) {
    const version = nameOfVersion(endpoint)
    const mark = version === inUse ? '*' : ' '
    const again =
      appliedAt.getTime() === createdAt.getTime() ? '' : `, first ${atAndBy(createdAt, createdBy)}`
    const end = ended ? ', ended' : ''
    print(`${mark} ${version}  ${atAndBy(appliedAt, appliedBy)}${again}${end}`)
  }
  if (inUse === null) print(`${name} was removed; lqe restore ${name} VERSION puts it in force again.`)
}

function atAndBy(time: Date, by: string | null): string {
  return `${time.toISOString().slice(0, 19)}Z by ${by ?? 'unknown'}`
}

/** @throws CommandError for the version in force */
async function forget({ store }: Services, name: string, text: string): Promise<void> {
  const endpoint = pick(await versionsOf(store, name), text)
  const version = nameOfVersion(endpoint)
  if ((await versionInForce(store, endpoint)) === version)
    throw new CommandError(`${version} is in force. Apply or restore another version first.`)
  await store.remove(documentAt(endpoint))
  print(`Forgot ${version}: it answers ${name} no more, everywhere within 30 seconds.`)
}

async function diff({ store }: Services, name: string, a: string, b?: string): Promise<void> {
  const versions = await versionsOf(store, name)
  const before = pick(versions, a)
  const after = b === undefined ? await current({ store }, before) : pick(versions, b)
  print(...(diffOf(before, after) || 'They do not differ.').split('\n'))
}

async function current({ store }: Pick<Services, 'store'>, of: Endpoint): Promise<Endpoint> {
  const document = await inForce(store, of)
  if (!document) throw new CommandError(`${of.name} was removed: name two versions.`)
  return endpointIn(document.fields)
}

/**
 * Looks at the endpoint, and at those that read the rows of others.
 * @throws EngineError, CommandError
 */
async function describeWith(endpoint: Endpoint, others: Endpoint[], engine: QueryEngine): Promise<void> {
  const all = [endpoint, ...others]
  const find = findAmong(all, engine)
  for (const one of [endpoint, ...others.filter(({ upstream }) => upstream)]) {
    const [fault] = upstreamFaults(one, all)
    if (fault) {
      const place = `${one.name}: ${dotted(fault.pointer)}`
      throw new CommandError(`${endpoint.version} cannot be restored: ${place} ${fault.detail}`)
    }
    const found = await find(one)
    await engine.describe({ sql: found.sql, bindings: emptyBindings(found) })
  }
}

/** What `apply` does with one endpoint, without its files. @throws CommandError, EngineError, StoreError */
async function restore(
  { store, engine, endpoints }: Services,
  name: string,
  text: string,
  by: string | null,
): Promise<void> {
  const endpoint = pick(await versionsOf(store, name), text)
  const step = stepFor(endpoint, (await inForce(store, endpoint)) ?? undefined)
  if (step.change === 'unchanged') return print(`${endpoint.version} is in force.`)
  const refused = (error: unknown) => {
    if (!(error instanceof EngineError)) throw error
    throw new CommandError(`${endpoint.version} cannot be restored as the tables are now: ${error.message}`)
  }
  const others = (await endpoints.all()).filter(({ id }) => id !== endpoint.id)
  await describeWith(endpoint, others, engine).catch(refused)
  const before = step.before ? [step.before.endpoint] : []
  const rollups = await planRollups(engine, [...others, endpoint], [...others, ...before])
  for (const rollup of rollups.missing) await engine.rollups.create(rollup).catch(refused)
  await carryOut([step], store, by)
  await removeUnused(rollups, engine)
  print(`Restored ${endpoint.version} of ${name}; in force everywhere within 30 seconds.`)
  print('The files in queries/ are as they were: the next apply puts theirs in force.')
}

/**
 * The versions of an endpoint, the last applied first.
 * @throws CommandError where there are none
 */
export async function versionsOf(store: Store, name: string): Promise<EndpointVersion[]> {
  const versions = await listVersions(store, name)
  if (versions.length === 0)
    throw new CommandError(
      `No version of ${name} is kept: apply keeps them. lqe endpoint list has the names.`,
    )
  return versions
}

/** How commands say what `pick` takes. */
export const versionWords = 'a version, its beginning, or previous: the one before the last applied'

/**
 * The version that a text names: all of it, its beginning, or `previous`.
 * @throws CommandError where that is none of them, or several
 */
export function pick(versions: EndpointVersion[], text: string): Endpoint {
  const isPrevious = text === 'previous'
  if (text.length < 4) throw new CommandError('Name a version by at least 4 characters of it.')
  const beginning = versions.filter(({ endpoint }) => nameOfVersion(endpoint).startsWith(text))
  const exact = beginning.filter(({ endpoint }) => nameOfVersion(endpoint) === text)
  const found = isPrevious ? versions.slice(1, 2) : exact.length > 0 ? exact : beginning
  if (found.length === 1) return found[0]!.endpoint
  const { name } = versions[0]!.endpoint
  if (isPrevious) throw new CommandError(`${name} has no version before the one in force.`)
  const what = found.length === 0 ? 'is no version' : 'begins more than one version'
  throw new CommandError(`${text} ${what} of ${name}. lqe versions ${name} lists them.`)
}

async function versionInForce(store: Store, endpoint: Endpoint): Promise<string | null> {
  const current = await inForce(store, endpoint)
  return current && nameOfVersion(endpointIn(current.fields))
}

/** The document in force; `null` where the endpoint was removed. */
async function inForce(store: Store, { id }: Endpoint): Promise<Document | null> {
  return (await store.get({ collection: endpointsCollection, id })).document
}
