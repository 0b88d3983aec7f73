/** Thousands of sorted queries. */
import './top-n.test.ts'
