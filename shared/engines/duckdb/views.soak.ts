/** Thousands of damaged log files. */
import './views.test.ts'
