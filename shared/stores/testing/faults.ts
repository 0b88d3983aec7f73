/** A store that fails on demand, for tests: lost acknowledgements, refusals, silence. */
import type { Store } from '../store.ts'

export type Operation = Exclude<keyof Store, 'close'>

export interface Faults {
  /** Before the call reaches the store. If it throws, the caller gets that error and the store does nothing. */
  before?(operation: Operation, args: unknown[]): void | Promise<void>
  /** After the store has done its work. If it throws, the caller gets that error and no acknowledgement. */
  after?(operation: Operation, args: unknown[]): void | Promise<void>
}

const operations: Operation[] = ['get', 'create', 'replace', 'update', 'remove', 'query', 'batch']

/** The same store with the hooks around each call. `faults` may be changed while it is in use. */
export function withFaults(store: Store, faults: Faults): Store {
  const wrapped = operations.map(operation => [
    operation,
    async (...args: unknown[]) => {
      await faults.before?.(operation, args)
      const call = store[operation] as (...args: unknown[]) => Promise<unknown>
      const result = await call.apply(store, args)
      await faults.after?.(operation, args)
      return result
    },
  ])
  return { ...(Object.fromEntries(wrapped) as Omit<Store, 'close'>), close: () => store.close() }
}
