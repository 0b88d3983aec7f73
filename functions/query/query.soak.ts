/** A thousand random texts in place of a parameter. */
import './query.test.ts'
