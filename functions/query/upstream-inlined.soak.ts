/** Hundreds of random queries over the rows of other endpoints. */
import './upstream-inlined.test.ts'
