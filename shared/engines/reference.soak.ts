/** All questions of the corpus. */
import './reference.test.ts'
