/** Batches of 10,000 random queries. */
import './batch.test.ts'
