/** Incidents of other seeds. */
import './incident.test.ts'
