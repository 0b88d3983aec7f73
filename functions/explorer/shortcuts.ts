/** What one can do on the page, by name, and the keys that do it: the list behind Ctrl-K, and the shortcuts behind `?`. */

/** By name, in the order in which they are listed. */
export type Commands = Record<string, () => void>

/** By the command's name, as `KeyboardEvent.key` has them; with `Mod-`, Ctrl or, on a Mac, Cmd is held down. */
export const keys: Record<string, string> = {
  Search: '/',
  'Next row': 'j',
  'Previous row': 'k',
  'Open the row': 'Enter',
  'Close the entry': 'Escape',
  Run: 'Mod-Enter',
  'Complete SQL': 'Ctrl-Space',
  'All commands': 'Mod-k',
  'Keyboard shortcuts': '?',
}

const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '')

/** `Ctrl-K`; empty where the command has no key. */
export function keyText(name: string): string {
  const [key = '', held] = (keys[name] ?? '').split('-').toReversed()
  const text = key === 'Escape' ? 'Esc' : held ? key.charAt(0).toUpperCase() + key.slice(1) : key
  return held ? `${held === 'Mod' ? (isMac ? 'Cmd' : 'Ctrl') : held}-${text}` : text
}

/** Opens the list of all; the page sets it. */
export const palette = { open: () => {} }

/** Those of a few that exclude one another which are not chosen: `Theme: dark`. @param chosen by its text */
export function choosing(
  title: string,
  chosen: string | undefined,
  choices: readonly (readonly [text: string, act: () => void])[],
): Commands {
  const others = choices.filter(([text]) => text !== chosen)
  return Object.fromEntries(others.map(([text, act]) => [`${title}: ${text}`, act]))
}

/** The commands, where they stand for something that can be done now. */
export function where(isOpen: boolean, commands: Commands): Commands {
  return isOpen ? commands : {}
}

/**
 * Binds the keys of commands, for as long as no window is open over the page. A key alone is a letter where one writes, and Enter
 * presses what has the focus. @returns what takes the keys back
 */
export function listenTo(commands: Commands): () => void {
  const onkeydown = (event: KeyboardEvent) => {
    const isHeld = event.ctrlKey || event.metaKey
    const name = Object.keys(commands).find(each => keys[each] === `${isHeld ? 'Mod-' : ''}${event.key}`)
    const target = event.target as HTMLElement
    const isWriting = target.matches('input, select, textarea, .code')
    if (document.querySelector('dialog[open]') || event.altKey || event.defaultPrevented) return
    const isPress = event.key === 'Enter' && !isHeld && !target.matches('body, [role=row]')
    if (name === undefined || isPress) return
    if (isWriting && !isHeld) return event.key === 'Escape' ? target.blur() : undefined
    event.preventDefault()
    commands[name]!()
  }
  document.addEventListener('keydown', onkeydown)
  return () => document.removeEventListener('keydown', onkeydown)
}
