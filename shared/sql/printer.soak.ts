/** Many more random trees. */
import './printer.test.ts'
