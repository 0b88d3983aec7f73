/** Writing documents into Firestore: one commit, all or nothing. A transaction would take ten times as long. */
import { randomUUID } from 'node:crypto'
import type { Firestore, Timestamp, WriteBatch } from '@google-cloud/firestore'
import type { Write, Writing } from '../store.ts'
import { markField } from '../limits.ts'
import type { Sdk } from './connection.ts'
import { isConflict, readError } from './errors.ts'
import { millisecondsOf, updateTimeOf, versionOf } from './values.ts'

/**
 * Writes that `checkWrites` has accepted. All have one time, which is the version of each.
 * @throws what the client throws, or StoreError `invalid` for a malformed version
 */
export async function write(firestore: Firestore, sdk: Sdk, writes: Write[]): Promise<Writing[]> {
  const mark = randomUUID()
  const batch = firestore.batch()
  for (const one of writes) add(batch, firestore, sdk, one, mark)
  const writtenAt = await commit(batch).catch(async (error: unknown) => {
    const ours = isConflict(error) && (await findMark(firestore, writes, mark))
    if (!ours) throw error
    return ours
  })
  return writes.map(() => ({ version: versionOf(writtenAt), writtenAt: millisecondsOf(writtenAt) }))
}

function add(batch: WriteBatch, firestore: Firestore, sdk: Sdk, one: Write, mark: string): void {
  const reference = firestore.collection(one.at.collection).doc(one.at.id)
  const ifVersion = 'ifVersion' in one ? one.ifVersion : undefined
  const condition = ifVersion === undefined ? undefined : { lastUpdateTime: updateTimeOf(ifVersion, sdk) }
  switch (one.type) {
    case 'create':
      batch.create(reference, { ...one.fields, [markField]: mark })
      return
    case 'replace':
      // The client's `set` takes no condition, so an update with the condition precedes it in the same commit.
      if (condition) batch.update(reference, { [markField]: mark }, condition)
      batch.set(reference, { ...one.fields, [markField]: mark })
      return
    case 'update': {
      const removals = (one.unset ?? []).map(name => [name, sdk.FieldValue.delete()])
      const change = { ...one.set, ...Object.fromEntries(removals), [markField]: mark }
      batch.update(reference, change, condition ?? { exists: true })
      return
    }
    case 'add': {
      const sums = Object.entries(one.amounts).map(([name, by]) => [name, sdk.FieldValue.increment(by)])
      const change = { ...one.set, ...Object.fromEntries(sums), [markField]: mark }
      // With `merge: true` a map would be merged with the map that is there.
      batch.set(reference, change, { mergeFields: Object.keys(change) })
      return
    }
    case 'remove':
      batch.delete(reference, condition)
  }
}

async function commit(batch: WriteBatch): Promise<Timestamp> {
  const result = (await batch.commit()).at(-1)
  if (!result) throw new TypeError('a commit without its result')
  return result.writeTime
}

/**
 * The client repeats a commit whose acknowledgement was lost, and the repetition fails because of the first one.
 * @returns when the documents were written with this mark; removals leave none
 */
async function findMark(firestore: Firestore, writes: Write[], mark: string): Promise<Timestamp | undefined> {
  const at = writes.find(({ type }) => type !== 'remove')?.at
  if (!at) return undefined
  const reference = firestore.collection(at.collection).doc(at.id)
  const [snapshot] = await firestore.getAll(reference, { fieldMask: [markField] }).catch((error: unknown) => {
    throw readError(error)
  })
  return snapshot?.get(markField) === mark ? snapshot.updateTime : undefined
}
