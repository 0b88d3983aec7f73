import { describeFrozen } from '../testing/describe-frozen.ts'

/** With the times of production. */
describeFrozen({
  instances: 4,
  callers: 50,
  rounds: 100,
  killEvery: 3,
  runs: 50,
  losses: 50,
  outageMs: 60_000,
})
