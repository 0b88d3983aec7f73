/** Every field of every table as a column and a filter. */
import './sql.test.ts'
