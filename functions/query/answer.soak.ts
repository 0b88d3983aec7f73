/** A thousand random texts in place of a parameter. */
import './answer.test.ts'
