/**
 * `node infra/deploy/firestore-plan.ts FOLDER`: prints what a Firestore database lacks of `firestore.indexes.json`, one
 * change a line: `index`, `field` or `expiry`, then arguments for gcloud. In the folder are gcloud's lists of what the
 * database has (`indexes`, `fields`, `expiry`, each JSON); a file that is not there is an empty list.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Index {
  order: string
}

interface Wanted {
  indexes: { collectionGroup: string; fields: { fieldPath: string; order: string }[] }[]
  fieldOverrides: { collectionGroup: string; fieldPath: string; ttl?: boolean; indexes: Index[] }[]
}

/** As the Firestore Admin API has them: index fields end with `__name__`, which it adds itself. */
export interface Present {
  indexes: { name: string; fields: { fieldPath: string; order?: string }[] }[]
  fields: { name: string; indexConfig?: { indexes?: { fields: Index[] }[] } }[]
  expiry: { name: string }[]
}

/** @returns lines as described above; composite indexes that the file does not name are left alone */
export function planFirestore({ indexes, fieldOverrides }: Wanted, present: Present): string[] {
  const composite = new Set(
    present.indexes.map(({ name, fields }) => `${groupOf(name)} ${fieldsAndOrders(fields)}`),
  )
  const single = new Map(
    present.fields.map(({ name, indexConfig }) => [fieldOf(name), ordersOf(indexConfig)]),
  )
  const expiring = new Set(present.expiry.map(({ name }) => fieldOf(name)))
  return [
    ...indexes
      .filter(
        ({ collectionGroup, fields }) => !composite.has(`${collectionGroup} ${fieldsAndOrders(fields)}`),
      )
      .map(({ collectionGroup, fields }) => line('index', collectionGroup, ...fields.map(fieldConfig))),
    ...fieldOverrides.flatMap(({ collectionGroup, fieldPath, indexes, ttl }) => {
      const field = `${collectionGroup} ${fieldPath}`
      const orders = indexes.map(({ order }) => order)
      const wanted = orders.map(order => `--index=order=${order.toLowerCase()}`)
      const flags = wanted.length > 0 ? wanted : ['--disable-indexes']
      return [
        ...(single.get(field) === orders.join() ? [] : [line('field', collectionGroup, fieldPath, ...flags)]),
        ...(ttl && !expiring.has(field) ? [line('expiry', collectionGroup, fieldPath)] : []),
      ]
    }),
  ]
}

function line(kind: string, group: string, ...words: string[]): string {
  return [kind, `--collection-group=${group}`, ...words].join(' ')
}

function fieldConfig({ fieldPath, order }: { fieldPath: string; order: string }): string {
  return `--field-config=field-path=${fieldPath},order=${order.toLowerCase()}`
}

function fieldsAndOrders(fields: { fieldPath: string; order?: string }[]): string {
  const own = fields.filter(({ fieldPath }) => fieldPath !== '__name__')
  return own.map(({ fieldPath, order }) => `${fieldPath} ${order}`).join()
}

function ordersOf(config: { indexes?: { fields: Index[] }[] } = {}): string {
  return (config.indexes ?? []).flatMap(({ fields }) => fields.map(({ order }) => order)).join()
}

function groupOf(name: string): string {
  return /\/collectionGroups\/([^/]+)\//.exec(name)?.[1] ?? ''
}

/** `projects/p/databases/d/collectionGroups/answers/fields/expireAt` is `answers expireAt`. */
function fieldOf(name: string): string {
  return `${groupOf(name)} ${name.split('/').at(-1)}`
}

if (import.meta.main) {
  const folder = process.argv[2] ?? ''
  const read = (name: string) => {
    const file = join(folder, name)
    return (existsSync(file) && JSON.parse(readFileSync(file, 'utf8') || '[]')) || []
  }
  const wanted = readFileSync(new URL('firestore.indexes.json', import.meta.url), 'utf8')
  const present: Present = { indexes: read('indexes'), fields: read('fields'), expiry: read('expiry') }
  for (const change of planFirestore(JSON.parse(wanted) as Wanted, present)) console.log(change)
}
