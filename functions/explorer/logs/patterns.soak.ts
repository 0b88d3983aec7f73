/** Every table and every shape. */
import './patterns.test.ts'
