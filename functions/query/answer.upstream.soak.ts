/** Hundreds of random queries over the rows of other endpoints. */
import './answer.upstream.test.ts'
