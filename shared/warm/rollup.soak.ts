/** As many answers in use on Firestore as on SQLite. */
import './rollup.test.ts'
