/** What this device keeps between visits: choices of looks, columns, queries. A browser may forbid it. */

export function kept(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(`lqe-${name}`) ?? 'null')
  } catch {
    return null
  }
}

/** @param value `null` forgets it */
export function keep(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(`lqe-${name}`)
    else localStorage.setItem(`lqe-${name}`, JSON.stringify(value))
  } catch {
    // The page works without.
  }
}
