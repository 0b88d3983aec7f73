/** Ten thousand calls of two tenants. */
import './access.test.ts'
