/** A hundred processes that are killed in the middle of their work. */
import './call.test.ts'
