/** Thousands of files of endpoints. */
import './logflare.test.ts'
