/** Many more random texts and damaged queries. */
import './hostile.test.ts'
