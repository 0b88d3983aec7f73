/** All questions of two subjects behind the sandbox. */
import './corpus.test.ts'
