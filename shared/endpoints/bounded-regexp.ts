/** Patterns of definitions, which callers' values are matched with: none may hold the process. */
import { createContext, runInContext } from 'node:vm'

/** The time limit: some hundred times what an ordinary pattern takes for a value of 10,000 characters. */
const mostMs = 50

/**
 * What ajv compiles `pattern` with (its option `code.regExp`). Where a pattern may take exponential or cubic time, as `^(a+)+$`
 * does, it runs within a time limit, which costs 0.2 ms; a value that takes longer does not match.
 */
export const boundedRegExp = Object.assign(
  (source: string, flags: string) => {
    const pattern = new RegExp(source, flags)
    return isSimple(source) ? pattern : { test: (text: string) => matchesInTime(pattern, text) }
  },
  { code: 'new RegExp' },
)

/** At most one repetition whose length may vary, from a fixed place on, and none of a group. */
function isSimple(source: string): boolean {
  const signs = source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]|\(\?/g, '')
  const repetitions = signs.match(/[*+?]|\{\d*,\d*\}/g)?.length ?? 0
  return !/\)[*+{]/.test(signs) && (repetitions === 0 || (repetitions === 1 && source.startsWith('^')))
}

/** Made with the first pattern that needs it, as most definitions have none. */
let context: ReturnType<typeof createContext> | undefined

function matchesInTime(pattern: RegExp, text: string): boolean {
  context ??= createContext()
  try {
    Object.assign(context, { pattern, text })
    return runInContext('pattern.test(text)', context, { timeout: mostMs }) as boolean
  } catch {
    return false
  }
}
