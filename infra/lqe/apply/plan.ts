/** Comparing `queries/` with the store, and making the store equal to it in one atomic step. */
import { createTwoFilesPatch } from 'diff'
import { type Endpoint, endpointOf, fieldsOf } from '../../../shared/endpoints/definition.ts'
import { endpointsCollection, maxEndpoints } from '../../../shared/endpoints/lookup.ts'
import type { Document, Store, Write } from '../../../shared/stores/store.ts'

export interface Plan {
  steps: Step[]
}

export interface Step {
  change: 'created' | 'changed' | 'unchanged' | 'removed'
  name: string
  /** For `changed`: the lines that differ, as a unified diff. */
  diff: string | null
  /** `null` for `unchanged`. */
  write: Write | null
}

/** Reads the store and says what would be done, by name. Nothing is written. */
export async function planFor(wanted: Endpoint[], store: Store): Promise<Plan> {
  const { documents } = await store.query({ collection: endpointsCollection, limit: maxEndpoints })
  const stored = new Map(documents.map(document => [document.id, document]))
  const steps = wanted.map(endpoint => stepFor(endpoint, stored.get(endpoint.id)))
  const kept = new Set(wanted.map(endpoint => endpoint.id))
  for (const document of documents.filter(({ id }) => !kept.has(id))) steps.push(removal(document))
  return { steps: steps.toSorted((a, b) => a.name.localeCompare(b.name)) }
}

/**
 * Does what the plan says, all or nothing.
 * @throws StoreError `conflict` where someone else changed the store since the plan was made
 */
export async function carryOut(plan: Plan, store: Store): Promise<void> {
  const writes = plan.steps.flatMap(step => step.write ?? [])
  if (writes.length > 0) await store.batch(writes)
}

function stepFor(endpoint: Endpoint, document: Document | undefined): Step {
  const { name } = endpoint
  const at = { collection: endpointsCollection, id: endpoint.id }
  const fields = fieldsOf(endpoint)
  if (!document) return { change: 'created', name, diff: null, write: { type: 'create', at, fields } }
  if (document.fields['definition'] === fields['definition'])
    return { change: 'unchanged', name, diff: null, write: null }
  return {
    change: 'changed',
    name,
    diff: diffOf(endpointOf(document), endpoint),
    write: { type: 'replace', at, fields, ifVersion: document.version },
  }
}

function removal({ id, version, fields }: Document): Step {
  const write: Write = { type: 'remove', at: { collection: endpointsCollection, id }, ifVersion: version }
  return { change: 'removed', name: fields['name'] as string, diff: null, write }
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
