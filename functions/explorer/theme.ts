/** Light, dark, or as the system has it; kept on this device. */
import { button } from './dom.ts'
import { keep, kept } from './kept.ts'

const themes = ['system', 'light', 'dark']

let theme = themes.find(name => name === kept('theme')) ?? 'system'
apply()

/** Sets the scheme that `light-dark()` in the styles goes by. */
function apply(): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
  document.dispatchEvent(new Event('theme'))
}

/** Names the theme; a press goes on to the next one. */
export function themeButton(): HTMLElement {
  const press = () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length]!
    keep('theme', theme === 'system' ? null : theme)
    apply()
    made.textContent = `Theme: ${theme}`
  }
  const made = button(`Theme: ${theme}`, press, { class: 'quiet' })
  return made
}
