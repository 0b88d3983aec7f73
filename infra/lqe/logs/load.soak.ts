/** Thousands of random files as NDJSON and as lines of a web server. */
import './load.test.ts'
