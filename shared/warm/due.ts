/** Which answers of an endpoint are due to be refreshed. */
import { type Refusal, refusalOf } from '../cache/refresh-claim.ts'
import { answersCollection, type Head, headOf, lightFields } from '../cache/head.ts'
import type { Endpoint } from '../endpoints/definition.ts'
import { bindingsFrom } from '../endpoints/parameters.ts'
import { queryFor, readsRollups } from '../endpoints/saved-query.ts'
import { redactionVersion } from '../redact/redact.ts'
import { everyDocument } from '../stores/calls.ts'
import type { Store } from '../stores/store.ts'
import type { ParameterSet } from './batch.ts'

/** A parameter set in use, and the heads of its answers that are due: clear, redacted, or both. */
export interface DueSet {
  set: ParameterSet
  answers: Head[]
}

interface Due {
  sets: DueSet[]
  /** Why answers in use are left as they are. */
  refused: Refusal[]
}

/** An answer that was read once is not in use: else every one-off query would be run again and again. */
const leastUses = 2
/** Schedulers are not on time to the second, and an answer is a little younger than the interval when they call. */
const margin = 0.2

/** The age at which an answer is due. */
export function dueAfterMs(seconds: number): number {
  return seconds * 1000 * (1 - margin)
}

/**
 * Finds the due answers of an endpoint, the most recently used first: all that a roll-up answers, and of the others as
 * many as the definition allows. Payloads are not read.
 * @param now store time
 * @param retry whether what failed is due without a rest
 * @throws StoreError
 */
export async function findDue(store: Store, endpoint: Endpoint, now: number, retry?: boolean): Promise<Due> {
  const { maxSets, seconds } = endpoint.warm!
  const refused: Refusal[] = []
  const sets = new Map<string, DueSet>()
  let others = 0
  for await (const head of recentHeads(store, endpoint, now)) {
    const { parameters } = head.keyFields
    const set = isInUse(head, endpoint) && bindingsFrom(endpoint, parameters)
    if (!set) continue
    const isOther = !readsRollups(queryFor(endpoint, set))
    if (isOther && others === maxSets) {
      if (endpoint.rollups.length > 0) continue
      break
    }
    if (isOther) others++
    const refusal = refusalOf(head, { now, olderThanMs: dueAfterMs(seconds), retry })
    if (refusal) refused.push(refusal)
    else if (sets.has(parameters)) sets.get(parameters)!.answers.push(head)
    else sets.set(parameters, { set, answers: [head] })
  }
  return { sets: [...sets.values()], refused }
}

/** Heads of the endpoint that were read within their freshness, the last first; one that is read meanwhile may come or not. */
async function* recentHeads(store: Store, { id, cacheSeconds }: Endpoint, now: number): AsyncGenerator<Head> {
  const recent = everyDocument(store, {
    collection: answersCollection,
    where: [
      { field: 'endpoint', operator: '==', value: id },
      { field: 'usedAt', operator: '>', value: now - cacheSeconds * 1000 },
    ],
    orderBy: { field: 'usedAt', direction: 'desc' },
    fields: lightFields,
  })
  for await (const document of recent) {
    const head = headOf(document)
    if (head) yield head
  }
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
