/** 200,000 mutated tokens. */
import './tokens.mutated.test.ts'
