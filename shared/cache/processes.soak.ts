/** Several processes on one store for a long time, with the times of production. */
import { describeProcesses } from './testing/describe-processes.ts'

describeProcesses({
  SQLite: { rounds: 100, reads: 100_000, kills: 500, readsMs: 3_600_000 },
  Firestore: { rounds: 20, reads: 50, kills: 1, readsMs: 150_000 },
})
