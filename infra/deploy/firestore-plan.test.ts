/** What set-up tells gcloud to do with Firestore's indexes, without gcloud. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { planFirestore, type Present } from './firestore-plan.ts'

const wanted = JSON.parse(
  readFileSync(new URL('firestore.indexes.json', import.meta.url), 'utf8'),
) as Parameters<typeof planFirestore>[0]
const nothing: Present = { indexes: [], fields: [], expiry: [] }
const group = 'projects/p/databases/(default)/collectionGroups'

describe('the plan for Firestore', () => {
  test('has everything for an empty database: the index, each field, and expiry after the field’s indexes', () => {
    const plan = planFirestore(wanted, nothing)
    expect(plan).toHaveLength(
      wanted.indexes.length +
        wanted.fieldOverrides.length +
        wanted.fieldOverrides.filter(({ ttl }) => ttl).length,
    )
    expect(plan).toEqual(
      expect.arrayContaining([
        'index --collection-group=answers --field-config=field-path=endpoint,order=ascending --field-config=field-path=usedAt,order=descending',
        'field --collection-group=answers * --disable-indexes',
        'field --collection-group=keys createdAt --index=order=descending',
        'expiry --collection-group=answerChunks expireAt',
      ]),
    )
  })

  test('has nothing for a database that has all of it', () => {
    const fields = wanted.fieldOverrides.map(({ collectionGroup, fieldPath, indexes }) => ({
      name: `${group}/${collectionGroup}/fields/${fieldPath}`,
      indexConfig: { indexes: indexes.map(index => ({ fields: [index] })) },
    }))
    const expiry = wanted.fieldOverrides
      .filter(({ ttl }) => ttl)
      .map(({ collectionGroup, fieldPath }) => ({ name: `${group}/${collectionGroup}/fields/${fieldPath}` }))
    // The API ends each index with the document's name.
    const indexes = wanted.indexes.map(({ collectionGroup, fields }, at) => ({
      name: `${group}/${collectionGroup}/indexes/${at}`,
      fields: [...fields, { fieldPath: '__name__', order: 'DESCENDING' }],
    }))
    expect(planFirestore(wanted, { indexes, fields, expiry })).toEqual([])
    expect(planFirestore(wanted, { indexes, fields: fields.slice(1), expiry: [] })).toEqual([
      'field --collection-group=answers * --disable-indexes',
      'expiry --collection-group=answers expireAt',
      'expiry --collection-group=answerChunks expireAt',
      'expiry --collection-group=spending expireAt',
      'expiry --collection-group=warming expireAt',
    ])
  })

  test('changes a field that is indexed otherwise', () => {
    const fields = [
      {
        name: `${group}/keys/fields/createdAt`,
        indexConfig: { indexes: [{ fields: [{ order: 'ASCENDING' }] }] },
      },
    ]
    expect(planFirestore(wanted, { ...nothing, fields })).toContain(
      'field --collection-group=keys createdAt --index=order=descending',
    )
  })
})
