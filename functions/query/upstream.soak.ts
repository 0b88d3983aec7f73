/** Hundreds of random queries over the rows of other endpoints. */
import './upstream.test.ts'
