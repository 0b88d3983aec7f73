/** Thousands of random and damaged requests. */
import './frames.test.ts'
