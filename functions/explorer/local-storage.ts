/** What this device keeps between visits: choices of looks, columns, queries. A browser may forbid it. */

const path = new URL('.', globalThis.location?.href ?? 'http://localhost').pathname

/** Behind a path, as on cloudfunctions.net, other functions have pages of this origin, which can read all that it stores. */
export const isShared = path !== '/'

/** What is stored is named by the path, as an origin may have several services. */
export function itemName(name: string): string {
  return isShared ? `lqe-${name} ${path}` : `lqe-${name}`
}

export function readItem(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(itemName(name)) ?? 'null')
  } catch {
    return null
  }
}

/** @param value `null` forgets it */
export function writeItem(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(itemName(name))
    else localStorage.setItem(itemName(name), JSON.stringify(value))
  } catch {
    // The page works without.
  }
}
