import { StoreError } from './store.ts'

/** The longest waits for the store, in milliseconds. shared/cache/README.md, "Times". */
export const timeouts = { head: 1000, lease: 1000, publish: 2000, chunks: 1000, chunksPerMegabyte: 500 }

/**
 * Waits for a store call at most `ms` milliseconds: a client in trouble may hang for 20 s whatever its own settings.
 * @throws StoreError `unavailable` after that time; a write may still happen then
 */
export async function withTimeout<T>(ms: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StoreError('unavailable', `no answer from the store in ${ms} ms`)),
      ms,
    )
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}
