/** As many answers in use on Firestore as on SQLite. */
import './due.test.ts'
