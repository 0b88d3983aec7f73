/** A short form of `frozen.soak.ts`, without its outages. */
import { describeFrozen } from '../testing/describe-frozen.ts'

describeFrozen({ instances: 2, callers: 10, rounds: 2, killEvery: 2, runs: 12, losses: 1, outageMs: 0 })
