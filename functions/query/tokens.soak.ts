/** A hundred thousand calls of two tenants through one issuer. */
import './tokens.test.ts'
