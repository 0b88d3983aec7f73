/** 200,000 mutated tokens. */
import './mutated-tokens.test.ts'
