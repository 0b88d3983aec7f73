/** The plan that makes the store equal to `queries/`, and an estimate of the bytes that each endpoint reads. */
import { createTwoFilesPatch } from 'diff'
import type { Binding, QueryEngine } from '../../../shared/engines/engine.ts'
import { type Endpoint, endpointOf, fieldsOf, typeOf } from '../../../shared/endpoints/definition.ts'
import { endpointsCollection, maxEndpoints } from '../../../shared/endpoints/lookup.ts'
import type { Document, Store, Write } from '../../../shared/stores/store.ts'

/** The change that one endpoint needs. */
interface Step {
  change: 'created' | 'changed' | 'unchanged' | 'removed'
  name: string
  /** For `changed`: the lines that differ, as a unified diff. */
  diff: string | null
  /** As it is stored; `null` for `created`. */
  before: Endpoint | null
  /** `null` for `unchanged`. */
  write: Write | null
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
 * Writes the plan in one batch, all or nothing.
 * @throws StoreError `conflict` where another process changed the store since the plan was made
 */
export async function carryOut(steps: Step[], store: Store): Promise<void> {
  const writes = steps.flatMap(step => step.write ?? [])
  if (writes.length > 0) await store.batch(writes)
}

function stepFor(endpoint: Endpoint, document: Document | undefined): Step {
  const { name } = endpoint
  const at = { collection: endpointsCollection, id: endpoint.id }
  const fields = fieldsOf(endpoint)
  if (!document)
    return { change: 'created', name, diff: null, before: null, write: { type: 'create', at, fields } }
  const before = endpointOf(document)
  if (document.fields['definition'] === fields['definition'])
    return { change: 'unchanged', name, diff: null, before, write: null }
  const write: Write = { type: 'replace', at, fields, ifVersion: document.version }
  return { change: 'changed', name, diff: diffOf(before, endpoint), before, write }
}

function removal(document: Document): Step {
  const { id, version, fields } = document
  const write: Write = { type: 'remove', at: { collection: endpointsCollection, id }, ifVersion: version }
  const name = fields['name'] as string
  return { change: 'removed', name, diff: null, before: endpointOf(document), write }
}

function diffOf(before: Endpoint, after: Endpoint): string {
  const patch = createTwoFilesPatch('', '', textOf(before), textOf(after), '', '', { context: 1 })
  return patch
    .split('\n')
    .filter(line => /^(?![+-]{3} |={5})/.test(line) && !line.startsWith('\\ No newline'))
    .join('\n')
    .trim()
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
  const bindings = examples(endpoint)
  const [name, definition] =
    Object.entries(endpoint.parameters).find(([, { enum: choices }]) => choices) ?? []
  const runs = definition?.enum?.map(value => ({
    subject: `${endpoint.name} ${name}=${value}`,
    bindings: bindings.map(binding => (binding.name === name ? { ...binding, value } : binding)),
  })) ?? [{ subject: endpoint.name, bindings }]
  const lines = runs.map(async ({ subject, bindings }) => {
    const { bytes } = await engine.describe({ sql: endpoint.sql, bindings })
    return bytes === null ? [] : [`${subject} reads about ${amount(bytes)}`]
  })
  return (await Promise.all(lines)).flat()
}

/** The definition's own examples, or NULL. */
function examples(endpoint: Endpoint): Binding[] {
  return Object.entries(endpoint.parameters).map(([name, definition]) => ({
    name,
    type: typeOf(definition),
    value: definition.examples?.[0] ?? definition.enum?.[0] ?? definition.default ?? null,
  }))
}

function amount(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`
}
