/** Incidents of other seeds. */
import './tools.test.ts'
