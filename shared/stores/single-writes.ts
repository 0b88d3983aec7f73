import type { Store, Writing } from './store.ts'

/** A store's writes of one document, as batches of one. */
export function singleWrites(batch: Store['batch']): Pick<Store, 'create' | 'replace' | 'update' | 'remove'> {
  return {
    async create(at, fields) {
      return only(await batch([{ type: 'create', at, fields }]))
    },
    async replace(at, fields, ifVersion) {
      return only(await batch([{ type: 'replace', at, fields, ...condition(ifVersion) }]))
    },
    async update(at, change, ifVersion) {
      return only(await batch([{ type: 'update', at, ...change, ...condition(ifVersion) }]))
    },
    async remove(at, ifVersion) {
      await batch([{ type: 'remove', at, ...condition(ifVersion) }])
    },
  }
}

function condition(ifVersion: string | undefined): { ifVersion?: string } {
  return ifVersion === undefined ? {} : { ifVersion }
}

function only(writings: Writing[]): Writing {
  const [writing] = writings
  if (!writing) throw new TypeError('a write without its writing')
  return writing
}
