import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { endpointsCollection } from '../../../shared/endpoints/lookup.ts'
import { type EndpointVersion, listVersions, nameOfVersion } from '../../../shared/endpoints/versions.ts'
import type { Document, Store } from '../../../shared/stores/store.ts'

/** What stops a command on versions. The message is for the operator. */
export class VersionError extends Error {
  override readonly name = 'VersionError'
}

/**
 * The versions of an endpoint, the last applied first.
 * @throws VersionError where there are none
 */
export async function versionsOf(store: Store, name: string): Promise<EndpointVersion[]> {
  const versions = await listVersions(store, name)
  if (versions.length === 0)
    throw new VersionError(
      `No version of ${name} is kept: apply keeps them. lqe endpoint list has the names.`,
    )
  return versions
}

/** How commands say what `pick` takes. */
export const versionWords = 'a version, its beginning, or previous: the one before the last applied'

/**
 * The version that a text names: all of it, its beginning, or `previous`.
 * @throws VersionError where that is none of them, or several
 */
export function pick(versions: EndpointVersion[], text: string): Endpoint {
  const isPrevious = text === 'previous'
  if (text.length < 4) throw new VersionError('Name a version by at least 4 characters of it.')
  const beginning = versions.filter(({ endpoint }) => nameOfVersion(endpoint).startsWith(text))
  const exact = beginning.filter(({ endpoint }) => nameOfVersion(endpoint) === text)
  const found = isPrevious ? versions.slice(1, 2) : exact.length > 0 ? exact : beginning
  if (found.length === 1) return found[0]!.endpoint
  const { name } = versions[0]!.endpoint
  if (isPrevious) throw new VersionError(`${name} has no version before the one in force.`)
  const what = found.length === 0 ? 'is no version' : 'begins more than one version'
  throw new VersionError(`${text} ${what} of ${name}. lqe versions ${name} lists them.`)
}

/** The document in force; `null` where the endpoint was removed. */
export async function inForce(store: Store, { id }: Endpoint): Promise<Document | null> {
  return (await store.get({ collection: endpointsCollection, id })).document
}
