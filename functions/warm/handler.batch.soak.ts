/** The same on many more rows. */
import './handler.batch.test.ts'
