/** Ten thousand calls of two tenants. */
import './tenants.test.ts'
