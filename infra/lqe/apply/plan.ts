/** The plan that makes the store equal to `queries/`, and an estimate of the bytes that each endpoint reads. */
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { bytesText } from '../../../shared/visible-text.ts'
import { emptyBindings, type Endpoint, endpointIn, fieldsOf } from '../../../shared/endpoints/definition.ts'
import { endpointsCollection, maxEndpoints } from '../../../shared/endpoints/lookup.ts'
import { samplesOf } from '../../../shared/endpoints/samples.ts'
import { recordVersions } from '../../../shared/endpoints/versions.ts'
import type { Document, Store, Write } from '../../../shared/stores/store.ts'
import { lineDiff } from './diff.ts'

/** The change that one endpoint needs. */
export interface Step {
  change: 'created' | 'changed' | 'unchanged' | 'removed'
  name: string
  /** For `changed`: the lines that differ, as a unified diff. */
  diff: string | null
  /** As it is stored, and since when; `null` for `created`. */
  before: { endpoint: Endpoint; since: Date } | null
  /** As it will be; `null` for `removed`. */
  after: Endpoint | null
  /** `null` for `unchanged`. */
  write: Write | null
}

const signs = { created: '+', changed: '~', unchanged: '=', removed: '-' } as const

/** Such as `+ app.latest created`, and the lines that differ below. */
export function linesOf(step: Pick<Step, 'change' | 'name' | 'diff'>): string[] {
  return [titleOf(step), ...(step.diff ? [step.diff.replaceAll(/^/gm, '    ')] : [])]
}

/** Such as `+ app.latest created`. */
export function titleOf({ change, name }: Pick<Step, 'change' | 'name'>): string {
  return `${signs[change]} ${name} ${change}`
}

/** @returns the steps, by name; nothing is written */
export async function planFor(wanted: Endpoint[], store: Store): Promise<Step[]> {
  const { documents } = await store.query({ collection: endpointsCollection, limit: maxEndpoints })
  const stored = new Map(documents.map(document => [document.id, document]))
  const steps = wanted.map(endpoint => stepFor(endpoint, stored.get(endpoint.id)))
  const kept = new Set(wanted.map(endpoint => endpoint.id))
  for (const document of documents.filter(({ id }) => !kept.has(id))) steps.push(removal(document))
  return steps.toSorted((a, b) => a.name.localeCompare(b.name))
}

/**
 * Writes the plan in one batch, all or nothing, and keeps the versions that it puts in force.
 * @param by who applies it
 * @param more writes that go with it
 * @throws StoreError `conflict` where another process changed the store since the plan was made
 */
export async function carryOut(
  steps: Step[],
  store: Store,
  by: string | null,
  more: Write[] = [],
): Promise<void> {
  const writes = [...steps.flatMap(step => step.write ?? []), ...more]
  if (writes.length > 0) await store.batch(writes)
  const applied = steps.map(({ before, after, write }) => ({ before, after: write && after }))
  await recordVersions(store, applied, by)
}

/** The change that makes a stored document this endpoint; without a document it is created. */
export function stepFor(endpoint: Endpoint, document: Document | undefined): Step {
  const { name } = endpoint
  const at = { collection: endpointsCollection, id: endpoint.id }
  const fields = fieldsOf(endpoint)
  const both = { name, after: endpoint }
  if (!document)
    return { ...both, change: 'created', diff: null, before: null, write: { type: 'create', at, fields } }
  const before = storedIn(document)
  if (document.fields['definition'] === fields['definition'])
    return { ...both, change: 'unchanged', diff: null, before, write: null }
  const write: Write = { type: 'replace', at, fields, ifVersion: document.version }
  return { ...both, change: 'changed', diff: diffOf(before.endpoint, endpoint), before, write }
}

function storedIn({ fields, writtenAt }: Document): NonNullable<Step['before']> {
  return { endpoint: endpointIn(fields), since: new Date(writtenAt) }
}

function removal(document: Document): Step {
  const { id, version, fields } = document
  const write: Write = { type: 'remove', at: { collection: endpointsCollection, id }, ifVersion: version }
  const name = fields['name'] as string
  return { change: 'removed', name, diff: null, before: storedIn(document), after: null, write }
}

/** The lines in which two definitions differ. */
export function diffOf(before: Endpoint, after: Endpoint): string {
  return lineDiff(textOf(before), textOf(after))
}

/** One line for each setting, then the SQL, so that a diff reads well. */
function textOf({ sql, version: _, ...settings }: Endpoint): string {
  return `${JSON.stringify(settings, null, 2)}\n${sql}`
}

/**
 * Estimates from dry runs: one for each choice of the first parameter that has an `enum`, as the time window often
 * depends on it.
 * @returns where the engine makes estimates, lines such as `usage.api-counts interval=daily reads about 1.5 GB`
 * @throws EngineError
 */
export async function estimates(endpoint: Endpoint, engine: QueryEngine): Promise<string[]> {
  const { name, sql, parameters } = endpoint
  const choice = Object.keys(parameters).find(parameter => parameters[parameter]!.enum)
  const lines: string[] = []
  for (const value of choice === undefined ? [null] : parameters[choice]!.enum!) {
    const bindings = emptyBindings(endpoint).map(binding => {
      const [sample = null] = parameters[binding.name] ? samplesOf(parameters[binding.name]!) : []
      return { ...binding, value: binding.name === choice ? value : sample }
    })
    const { bytes } = await engine.describe({ sql, bindings })
    const subject = choice === undefined ? name : `${name} ${choice}=${value}`
    if (bytes !== null) lines.push(`${subject} reads about ${bytesText(bytes)}`)
  }
  return lines
}
