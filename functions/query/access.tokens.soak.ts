/** A hundred thousand calls of two tenants through one issuer. */
import './access.tokens.test.ts'
