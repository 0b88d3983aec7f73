/** A short form of `lease.soak.ts`, with shorter leases and more frequent polls. */
import { describeProcesses } from './testing/describe-processes.ts'

/** Within a document, and of one and two chunks. */
const sizes = [10_000, 1_000_000, 1_500_000]
const amounts = {
  SQLite: { rounds: 1, reads: 10, kills: 1, sizes, readsMs: 120_000 },
  Firestore: { rounds: 1, reads: 10, kills: 1, sizes, readsMs: 120_000 },
}

describeProcesses(amounts, { leaseMs: 4000, renewMs: 600, pollMs: 50 })
