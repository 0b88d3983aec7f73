/** More answers that several calls refresh at once. */
import './warm.test.ts'
