/** Several processes on one store for a long time, with the times of production. */
import { describeProcesses } from './testing/describe-processes.ts'

const sizes = [10_000, 200_000, 1_000_000, 3_000_000, 5_000_000]

describeProcesses({
  SQLite: { rounds: 100, reads: 100_000, kills: 500, sizes, readsMs: 3_600_000 },
  Firestore: { rounds: 20, reads: 50, kills: 1, sizes, readsMs: 150_000 },
})
