/** Processes that make parts, with many more reads. */
import './rollups.test.ts'
