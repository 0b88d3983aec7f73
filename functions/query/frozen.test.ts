/** A short form of `frozen.soak.ts`, without its outages. */
import { describeFrozen } from '../testing/describe-frozen.ts'

describeFrozen({ instances: 3, callers: 10, rounds: 4, killEvery: 4, runs: 12, losses: 2, outageMs: 0 })
