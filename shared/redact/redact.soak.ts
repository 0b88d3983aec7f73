/** The properties of redaction, ten to forty times as often. */
import './redact.test.ts'
