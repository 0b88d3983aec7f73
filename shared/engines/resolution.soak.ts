/** All questions of the corpus. */
import './resolution.test.ts'
