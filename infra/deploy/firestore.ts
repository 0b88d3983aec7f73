/** The Firestore database: point-in-time recovery, daily backups, and the indexes and expiry of `firestore.indexes.json`. */
import { dirname } from 'node:path'
import type { Google, Json } from './google-api.ts'
import wanted from './firestore.indexes.json' with { type: 'json' }
import type { Site } from './settings.ts'

interface Index {
  order: string
}

interface Field extends Json {
  name: string
  indexConfig?: { indexes?: { fields: Index[] }[] }
}

export function databaseOf({ project, database }: Pick<Site, 'project' | 'database'>): string {
  return `firestore/v1/projects/${project}/databases/${database}`
}

/** With which a database is made, and which one that was restored lacks. */
const safe = {
  pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_ENABLED',
  deleteProtectionState: 'DELETE_PROTECTION_ENABLED',
}

/** What has to be there before anything is served: the database, and the index by which warm searches. */
export async function setUpDatabase(google: Google, site: Site): Promise<void> {
  const at = databaseOf(site)
  const locationId = site['firestore-location']
  await google.ensure(
    `database ${site.database}, in ${locationId}, with point-in-time recovery and delete protection`,
    await google.get(at),
    safe,
    `${dirname(at)}?databaseId=${encodeURIComponent(site.database)}`,
    {
      one: `${at}?updateMask=${Object.keys(safe).join()}`,
      changed: safe,
      making: { type: 'FIRESTORE_NATIVE', locationId },
    },
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
  const retention = { retention: `${days * 86_400}s` }
  const how = { one: `${one}?updateMask=retention`, changed: retention, making: { dailyRecurrence: {} } }
  if (days > 0) await google.ensure(`backups: daily, kept for ${days} days`, daily, retention, at, how)
  else if (daily) await google.remove('backups', one)
}

/**
 * Makes another database, as this one was. The service goes on with the old one until a deployment names the new one.
 * @param time ISO 8601, of the last seven days; left out: the newest backup
 * @throws Error where there is no backup
 */
export async function restore(google: Google, site: Site, into: string, time?: string): Promise<void> {
  const { project, database: name } = site
  const database = `projects/${project}/databases/${name}`
  const make = async (as: string, verb: string, body: Json) => {
    const at = `firestore/v1/projects/${project}/databases:${verb}`
    await google.change(`database ${into}: made ${as}`, 'POST', at, { databaseId: into, ...body })
    if (!google.options.dryRun) await setUpDatabase(google, { ...site, database: into })
  }
  if (time !== undefined) {
    // "Point-in-time recovery": whole minutes.
    const snapshotTime = `${new Date(time).toISOString().slice(0, 17)}00Z`
    return make(`as ${name} was at ${snapshotTime}`, 'clone', { pitrSnapshot: { database, snapshotTime } })
  }
  const backups = await google.list(`firestore/v1/projects/${project}/locations/-/backups`, 'backups')
  const own = backups.filter(backup => backup['database'] === database)
  const newest = own.sort((a, b) => (String(a['snapshotTime']) < String(b['snapshotTime']) ? 1 : -1))[0]
  if (!newest)
    throw new Error(
      `There is no backup of ${name} yet: --time=2026-11-22T20:15:00Z takes a moment of the last seven days.`,
    )
  await make(`from the backup of ${String(newest['snapshotTime'])}`, 'restore', { backup: newest['name'] })
}
