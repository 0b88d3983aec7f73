import { type Refusal, refusalOf } from '../cache/claim.ts'
import { answersCollection, type Head, headOf, lightFields } from '../cache/head.ts'
import type { CacheKeyFields } from '../cache/key.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { redactionVersion } from '../redact/redact.ts'
import type { Store } from '../stores/store.ts'
import { type ParameterSet, setFrom } from './batch.ts'

/** A parameter set that is in use, and the answers to it that are to be made anew: clear, redacted, or both. */
export interface DueSet {
  set: ParameterSet
  keyFields: CacheKeyFields[]
}

export interface Due {
  sets: DueSet[]
  /** Answers in use that are left as they are. */
  refused: Refusal[]
}

/** An answer that a reader asked for once is not in use: else every one-off question would be run again and again. */
const leastUses = 2
/** So many heads are read for each set that may be warmed, as others stand among them. */
const readForEach = 10
/** Schedulers are not on time to the second, and an answer is a little younger than the interval when they call. */
const margin = 0.2

/** How old an answer must be to be made anew. */
export function dueAfterMs(seconds: number): number {
  return seconds * 1000 * (1 - margin)
}

/**
 * Finds what is to be made anew for an endpoint, the most recently used first. Payloads are not read.
 * @param now store time
 * @throws StoreError
 */
export async function findDue(store: Store, endpoint: Endpoint, now: number): Promise<Due> {
  const warming = endpoint.warm!
  const { documents } = await store.query({
    collection: answersCollection,
    where: [
      { field: 'endpoint', operator: '==', value: endpoint.id },
      { field: 'usedAt', operator: '>', value: now - endpoint.cacheSeconds * 1000 },
    ],
    orderBy: { field: 'usedAt', direction: 'desc' },
    limit: Math.min(1000, warming.maxSets * readForEach),
    fields: lightFields,
  })
  const inUse = documents
    .map(headOf)
    .filter(head => head !== null)
    .filter(head => isInUse(head, endpoint))
  const refused: Refusal[] = []
  const sets = new Map<string, DueSet>()
  for (const { head, set } of withSets(endpoint, inUse).slice(0, warming.maxSets)) {
    const refusal = refusalOf(head, { now, olderThanMs: dueAfterMs(warming.seconds) })
    const { parameters } = head.keyFields
    if (refusal) refused.push(refusal)
    else if (sets.has(parameters)) sets.get(parameters)!.keyFields.push(head.keyFields)
    else sets.set(parameters, { set, keyFields: [head.keyFields] })
  }
  return { sets: [...sets.values()], refused }
}

/** Of this version of the endpoint and of the redaction, of the endpoint's own query, and asked for again. */
function isInUse({ keyFields, uses }: Head, endpoint: Endpoint): boolean {
  const variants = endpoint.redact ? [redactionVersion] : ['clear', redactionVersion]
  return (
    uses >= leastUses &&
    keyFields.sql === null &&
    keyFields.version === endpoint.version &&
    variants.includes(keyFields.variant)
  )
}

function withSets(endpoint: Endpoint, heads: Head[]): { head: Head; set: ParameterSet }[] {
  return heads.flatMap(head => {
    const set = setFrom(endpoint, head.keyFields.parameters)
    return set ? [{ head, set }] : []
  })
}
