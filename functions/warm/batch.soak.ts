/** The batch query on many more rows. */
import './batch.test.ts'
