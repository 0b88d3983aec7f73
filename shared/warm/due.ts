/** Which answers of an endpoint are due to be refreshed. */
import { type Refusal, refusalOf } from '../cache/claim.ts'
import { answersCollection, type Head, headOf, lightFields } from '../cache/head.ts'
import type { CacheKeyFields } from '../cache/key.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { bindingsFrom } from '../endpoints/parameters.ts'
import { redactionVersion } from '../redact/redact.ts'
import type { Store } from '../stores/store.ts'
import type { ParameterSet } from './batch.ts'

/** A parameter set in use, and its answers that are due: clear, redacted, or both. */
export interface DueSet {
  set: ParameterSet
  answers: CacheKeyFields[]
}

interface Due {
  sets: DueSet[]
  /** Why answers in use are left as they are. */
  refused: Refusal[]
}

/** An answer that was read once is not in use: else every one-off query would be run again and again. */
const leastUses = 2
/** So many heads are read for each set that may be warmed, as others stand among them. */
const readForEach = 10
/** Schedulers are not on time to the second, and an answer is a little younger than the interval when they call. */
const margin = 0.2

/** The age at which an answer is due. */
export function dueAfterMs(seconds: number): number {
  return seconds * 1000 * (1 - margin)
}

/**
 * Finds the due answers of an endpoint, the most recently used first. Payloads are not read.
 * @param now store time
 * @throws StoreError
 */
export async function findDue(store: Store, endpoint: Endpoint, now: number): Promise<Due> {
  const { maxSets, seconds } = endpoint.warm!
  const { documents } = await store.query({
    collection: answersCollection,
    where: [
      { field: 'endpoint', operator: '==', value: endpoint.id },
      { field: 'usedAt', operator: '>', value: now - endpoint.cacheSeconds * 1000 },
    ],
    orderBy: { field: 'usedAt', direction: 'desc' },
    limit: Math.min(1000, maxSets * readForEach),
    fields: lightFields,
  })
  const inUse = documents.flatMap(document => {
    const head = headOf(document)
    const set = head && isInUse(head, endpoint) && bindingsFrom(endpoint, head.keyFields.parameters)
    return set ? [{ head, set }] : []
  })
  const refused: Refusal[] = []
  const sets = new Map<string, DueSet>()
  for (const { head, set } of inUse.slice(0, maxSets)) {
    const refusal = refusalOf(head, { now, olderThanMs: dueAfterMs(seconds) })
    const { parameters } = head.keyFields
    if (refusal) refused.push(refusal)
    else if (sets.has(parameters)) sets.get(parameters)!.answers.push(head.keyFields)
    else sets.set(parameters, { set, answers: [head.keyFields] })
  }
  return { sets: [...sets.values()], refused }
}

/** Of this version of the endpoint and of the redaction, of the endpoint's own query, and read more than once. */
function isInUse({ keyFields, uses }: Head, endpoint: Endpoint): boolean {
  const variants = endpoint.redact ? [redactionVersion] : ['clear', redactionVersion]
  return (
    uses >= leastUses &&
    keyFields.sql === null &&
    keyFields.version === endpoint.version &&
    variants.includes(keyFields.variant)
  )
}
