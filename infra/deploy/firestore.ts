/** The Firestore database: point-in-time recovery, daily backups, and the indexes and expiry of `firestore.indexes.json`. */
import { readFileSync } from 'node:fs'
import type { Google, Json } from './google-api.ts'
import type { Site } from './settings.ts'

interface Index {
  order: string
}

interface Wanted {
  indexes: { collectionGroup: string; fields: { fieldPath: string; order: string }[] }[]
  fieldOverrides: { collectionGroup: string; fieldPath: string; ttl?: boolean; indexes: Index[] }[]
}

interface Field extends Json {
  name: string
  indexConfig?: { indexes?: { fields: Index[] }[] }
}

const wanted = JSON.parse(readFileSync(new URL('firestore.indexes.json', import.meta.url), 'utf8')) as Wanted

export function databaseOf({ project, database }: Pick<Site, 'project' | 'database'>): string {
  return `firestore/v1/projects/${project}/databases/${database}`
}

/** What has to be there before anything is served: the database, and the index by which warm searches. */
export async function setUpDatabase(google: Google, site: Site): Promise<void> {
  const at = databaseOf(site)
  const present = await google.get(at)
  const recovery = { pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED' }
  if (!present)
    await google.change(
      `database ${site.database}: made, in ${site['firestore-location']}, with point-in-time recovery`,
      'POST',
      `${at.replace(/\/[^/]+$/, '')}?databaseId=${encodeURIComponent(site.database)}`,
      {
        type: 'FIRESTORE_NATIVE',
        locationId: site['firestore-location'],
        deleteProtectionState: 'DELETE_PROTECTION_ENABLED',
        ...recovery,
      },
    )
  else if (present['pointInTimeRecoveryEnablement'] !== recovery.pointInTimeRecoveryEnablement)
    await google.change(
      `database ${site.database}: point-in-time recovery`,
      'PATCH',
      `${at}?updateMask=pointInTimeRecoveryEnablement`,
      recovery,
    )
  for (const { collectionGroup, fields } of wanted.indexes) {
    const group = `${at}/collectionGroups/${collectionGroup}/indexes`
    const indexes = (await google.list(group, 'indexes')) as { fields: (Index & { fieldPath: string })[] }[]
    if (!indexes.some(index => orderOf(index.fields) === orderOf(fields)))
      await google.change(`index of ${collectionGroup}: made`, 'POST', group, {
        queryScope: 'COLLECTION',
        fields,
      })
  }
}

/** Without what Google adds itself, `__name__`. */
function orderOf(fields: { fieldPath: string; order: string }[]): string {
  const own = fields.filter(({ fieldPath }) => fieldPath !== '__name__')
  return own.map(({ fieldPath, order }) => `${fieldPath} ${order}`).join()
}

/**
 * No index but those that are searched by, expiry, and backups. Nothing waits for their ends, which take minutes ("TTL policies"):
 * firebase-tools starts them one after the other in the same way. Where Firestore says 409, one was under way
 * (terraform-provider-google #16329), and it is tried again.
 */
export async function setUpFields(google: Google, site: Site): Promise<void> {
  const at = databaseOf(site)
  const all = `${at}/collectionGroups/-/fields?filter=`
  const changed = (await google.list(`${all}indexConfig.usesAncestorConfig:false`, 'fields')) as Field[]
  const expiring = await google.list(`${all}ttlConfig:*`, 'fields')
  for (const { collectionGroup, fieldPath, indexes, ttl } of wanted.fieldOverrides) {
    const field = `/collectionGroups/${collectionGroup}/fields/${fieldPath}`
    const there = changed.find(({ name }) => name.endsWith(field))
    const isIndexed = there && ordersOf(there.indexConfig) === indexes.map(({ order }) => order).join()
    const expires = expiring.some(({ name }) => (name as string).endsWith(field))
    if (isIndexed && (expires || !ttl)) continue
    const config = indexes.map(({ order }) => ({ queryScope: 'COLLECTION', fields: [{ fieldPath, order }] }))
    await google.start(
      `field ${collectionGroup}.${fieldPath}: ${ttl ? 'expiry' : `${indexes.length || 'no'} indexes`}`,
      'PATCH',
      `${at}${field}?updateMask=indexConfig${ttl ? ',ttlConfig' : ''}`,
      { indexConfig: { indexes: config }, ...(ttl ? { ttlConfig: {} } : {}) },
    )
  }
  await setUpBackups(google, site)
}

function ordersOf(config: Field['indexConfig'] = {}): string {
  return (config.indexes ?? []).flatMap(({ fields }) => fields.map(({ order }) => order)).join()
}

/** Backups are kept for 14 weeks at most ("Back up and restore data"). */
async function setUpBackups(google: Google, site: Site): Promise<void> {
  const at = `${databaseOf(site)}/backupSchedules`
  const days = Number(site['backup-days'])
  const schedules = await google.list(at, 'backupSchedules')
  const daily = schedules.find(schedule => schedule['dailyRecurrence'] !== undefined)
  const one = `firestore/v1/${String(daily?.['name'])}`
  const wanted = { retention: `${days * 86_400}s`, dailyRecurrence: {} }
  if (daily?.['retention'] === wanted.retention || (days === 0 && !daily)) return
  const title = `backups: daily, kept for ${days} days`
  if (days === 0) await google.change('backups: no more', 'DELETE', one)
  else if (!daily) await google.change(title, 'POST', at, wanted)
  else await google.change(title, 'PATCH', `${one}?updateMask=retention`, { retention: wanted.retention })
}

/**
 * Makes another database, as this one was. The service goes on with the old one until a deployment names the new one.
 * @param time ISO 8601, of the last seven days; left out: the newest backup
 * @throws Error where there is no backup
 */
export async function restore(google: Google, site: Site, into: string, time?: string): Promise<void> {
  const { project, database: name } = site
  const database = `projects/${project}/databases/${name}`
  const make = (as: string, verb: string, body: Json) =>
    google.change(
      `database ${into}: made ${as}`,
      'POST',
      `firestore/v1/projects/${project}/databases:${verb}`,
      { databaseId: into, ...body },
    )
  if (time !== undefined) {
    // "Point-in-time recovery": whole minutes.
    const snapshotTime = `${new Date(time).toISOString().slice(0, 17)}00Z`
    await make(`as ${name} was at ${snapshotTime}`, 'clone', { pitrSnapshot: { database, snapshotTime } })
    return
  }
  const backups = await google.list(`firestore/v1/projects/${project}/locations/-/backups`, 'backups')
  const own = backups.filter(backup => backup['database'] === database)
  const newest = own.sort((a, b) => (String(a['snapshotTime']) < String(b['snapshotTime']) ? 1 : -1))[0]
  if (!newest)
    throw new Error(
      `There is no backup of ${name} yet: --time=2026-11-22T20:15:00Z takes a moment of the last seven days.`,
    )
  const backup = newest['name']
  await make(`from the backup of ${String(newest['snapshotTime'])}`, 'restore', { backup })
}
