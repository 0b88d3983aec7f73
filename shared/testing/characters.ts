/** For property tests: characters of all of Unicode. */
import * as fc from 'fast-check'

/** Surrogates are no characters. */
const [firstSurrogate, surrogates, characters] = [0xd800, 0x800, 0x10_f800]

/**
 * Any character, as fast-check's unit `binary`, which takes a second for a table of all 1.1 million. The inverse lets it
 * also try words such as `__proto__`.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: characters - 1 }).map(
  index => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates),
  text => {
    const code = typeof text === 'string' && text.isWellFormed() ? text.codePointAt(0) : undefined
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('not one character')
    return code < firstSurrogate ? code : code - surrogates
  },
)
