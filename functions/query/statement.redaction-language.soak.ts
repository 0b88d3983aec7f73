/** A hundred thousand random queries under a redacted key. `SEED=1` repeats a run, `QUERIES=20000` tries fewer. */
import './statement.redaction-language.test.ts'
