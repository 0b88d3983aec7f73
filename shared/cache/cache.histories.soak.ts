/** `npm run soak -- cache/cache.histories` */
import { soakHistories } from '../testing/histories.ts'
import { playHistories } from './testing/histories.ts'

soakHistories('random histories of callers, processes and faults against a plain model', playHistories)
