/** For tests: every Store adapter there is to test. */
import type { Store } from '../store.ts'
import { openSqlite } from './sqlite.ts'

export interface Adapter {
  name: string
  open(): Promise<Store>
}

export const adapters: Adapter[] = [{ name: 'SQLite', open: async () => openSqlite({ file: ':memory:' }) }]

/** A collection that no other test uses; its documents stay behind. */
export function freshCollection(): string {
  return `test_${crypto.randomUUID().replaceAll('-', '')}`
}
