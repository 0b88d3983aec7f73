/** Forty thousand random queries under a redacted key. */
import './redaction-language.test.ts'
