import { describeError, type Log } from '../log.ts'
import { StoreError, type Store } from './store.ts'

/**
 * The same store, which logs why a call failed: many callers go on without the store, and say nothing. A conflict is no
 * failure: another process was faster.
 */
export function logged(store: Store, log: Log): Store {
  const note = (error: unknown): never => {
    if (error instanceof StoreError && error.reason !== 'conflict')
      log('WARNING', 'the store failed', describeError(error))
    throw error
  }
  return {
    get: (...call) => store.get(...call).catch(note),
    create: (...call) => store.create(...call).catch(note),
    replace: (...call) => store.replace(...call).catch(note),
    update: (...call) => store.update(...call).catch(note),
    remove: (...call) => store.remove(...call).catch(note),
    query: (...call) => store.query(...call).catch(note),
    batch: (...call) => store.batch(...call).catch(note),
    close: () => store.close(),
  }
}
