/** The choices of a menu or a list, and finding in it by what one types. */

/** With the key that does the same, where there is one, and other words by which it is found. */
export type Choices = readonly (readonly [value: string, text: string, key?: string, also?: string])[]

/** Those that have all words in their text; behind them those that have some only in their synonyms. */
export function foundIn(choices: Choices, sought: string): Choices {
  const words = sought.toLowerCase().split(/\s+/)
  const has = (text: string) => words.every(word => text.toLowerCase().includes(word))
  const named = choices.filter(([, text]) => has(text))
  const meant = choices.filter(([, text, , also = '']) => !has(text) && has(`${text} ${also}`))
  return [...named, ...meant]
}
