/** The same on many more rows. */
import './batch.test.ts'
