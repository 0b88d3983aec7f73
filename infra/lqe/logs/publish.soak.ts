/** Hundreds of small loads, and of kills while they are merged. */
import './publish.test.ts'
