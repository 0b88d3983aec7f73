/** `npm run soak -- alerts/histories` */
import { soakHistories } from '../testing/histories.ts'
import { playHistories } from './testing/histories.ts'

soakHistories('random histories of alerts against a plain model', playHistories)
