import { describeFrozen } from '../testing/describe-frozen.ts'

describeFrozen({ instances: 4, callers: 50, rounds: 100, killEvery: 3 })
