/** The database with its indexes, expiry and backups, in a project on the stand-in. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { Json } from '../google/control/plane.ts'
import { changes, openProject, type Project } from '../google/control/testing/project.ts'
import { restore } from './firestore.ts'
import { connect, setUp } from './testing/client.ts'

const { indexes, fieldOverrides } = JSON.parse(
  readFileSync(new URL('firestore.indexes.json', import.meta.url), 'utf8'),
) as {
  indexes: { collectionGroup: string; fields: object[] }[]
  fieldOverrides: { collectionGroup: string; fieldPath: string; ttl?: boolean; indexes: object[] }[]
}
const database = 'projects/my-project/databases/(default)'
const group = `${database}/collectionGroups`

let project: Project
beforeEach(async () => {
  project = await openProject()
  await setUp(connect(project), ['APIs'])
})
afterEach(() => project.close())

const resources = () => project.plane.state.resources

async function apply(flags: Record<string, string> = {}): Promise<string[]> {
  const client = connect(project, flags)
  await setUp(client, ['database', 'expiry and backups'])
  return client.said.filter(line => !line.startsWith('again in'))
}

function below(kind: string): Json[] {
  return Object.entries(resources())
    .filter(([name]) => name.startsWith(database) && name.includes(`/${kind}/`))
    .map(([, resource]) => resource)
}

describe('the database', () => {
  test('has the indexes and the expiry of firestore.indexes.json, can go back in time, and is not deleted by mistake', async () => {
    await apply()
    expect(resources()[database]).toMatchObject({
      type: 'FIRESTORE_NATIVE',
      locationId: 'eur3',
      pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED',
      deleteProtectionState: 'DELETE_PROTECTION_ENABLED',
    })
    const composite = below('indexes').map(({ name, fields }) => [String(name).split('/').at(-3), fields])
    expect(composite).toEqual(indexes.map(({ collectionGroup, fields }) => [collectionGroup, fields]))
    for (const { collectionGroup, fieldPath, indexes, ttl } of fieldOverrides) {
      const field = resources()[`${group}/${collectionGroup}/fields/${fieldPath}`]!
      const orders = (indexes as { order: string }[]).map(({ order }) => ({
        queryScope: 'COLLECTION',
        fields: [{ fieldPath, order }],
      }))
      expect(field['indexConfig']).toEqual({ indexes: orders })
      expect(field['ttlConfig']).toEqual(ttl ? { state: 'ACTIVE' } : undefined)
    }
    expect(below('fields')).toHaveLength(fieldOverrides.length)
  })

  test('is left alone where it has all of it, with what Google adds', async () => {
    await apply()
    const [index] = below('indexes')
    index!['fields'] = [...(index!['fields'] as object[]), { fieldPath: '__name__', order: 'DESCENDING' }]
    project.plane.calls.length = 0
    expect(await apply()).toEqual([])
    expect(project.plane.calls.filter(changes)).toEqual([])
  })

  test('gets back what was changed by hand, and what it had not when it was made by hand', async () => {
    await apply()
    const createdAt = `${group}/keys/fields/createdAt`
    const before = structuredClone(resources())
    delete resources()[`${group}/answers/fields/expireAt`]!['ttlConfig']
    resources()[createdAt]!['indexConfig'] = {
      indexes: [{ queryScope: 'COLLECTION', fields: [{ fieldPath: 'createdAt', order: 'ASCENDING' }] }],
    }
    delete resources()[`${group}/spending/fields/*`]
    delete resources()[database]!['pointInTimeRecoveryEnablement']
    expect(await apply()).toEqual([
      'database (default), in eur3, with point-in-time recovery and delete protection: changed',
      'field answers.expireAt: expiry',
      'field keys.createdAt: 1 indexes',
      'field spending.*: no indexes',
    ])
    expect(resources()).toEqual(before)
  })

  test('waits for one change of a field before the next, which Firestore refuses beside it', async () => {
    const client = connect(project)
    await setUp(client, ['database', 'expiry and backups'])
    const waits = client.said.filter(line => line === 'again in 3 s: underlying data changed')
    expect(waits).toHaveLength(fieldOverrides.length - 1)
  })

  test('that is made as another was is as safe as the first', async () => {
    await apply()
    const { google, site } = connect(project)
    await restore(google, site, 'restored', new Date(Date.now() - 120_000).toISOString())
    expect(resources()['projects/my-project/databases/restored']).toMatchObject({
      pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED',
      deleteProtectionState: 'DELETE_PROTECTION_ENABLED',
    })
  })

  test('is backed up daily, for as long as is said, and not at all where 0 is said', async () => {
    await apply({ 'backup-days': '0' })
    expect(below('backupSchedules')).toEqual([])
    expect(await apply()).toEqual(['backups: daily, kept for 14 days: made'])
    expect(await apply({ 'backup-days': '30' })).toEqual(['backups: daily, kept for 30 days: changed'])
    expect(below('backupSchedules')).toMatchObject([{ retention: '2592000s', dailyRecurrence: {} }])
    expect(await apply({ 'backup-days': '0' })).toEqual(['backups: removed'])
    expect(below('backupSchedules')).toEqual([])
    await expect(apply({ 'backup-days': '99' })).rejects.toThrow('--backup-days=99 is not valid')
  })
})
