/** Light, dark, or as the system has it; kept on this device. */
import { el } from './dom.ts'
import { keep, kept } from './kept.ts'

const themes = ['system', 'light', 'dark'] as const

apply((kept('theme') as string | null) ?? 'system')

/** Sets the scheme that `light-dark()` in the styles goes by. */
function apply(theme: string): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
  document.dispatchEvent(new Event('theme'))
}

export function themeButton(): HTMLElement {
  let at = Math.max(
    0,
    themes.findIndex(theme => theme === (kept('theme') as string | null)),
  )
  const press = () => {
    at = (at + 1) % themes.length
    keep('theme', themes[at] === 'system' ? null : themes[at])
    apply(themes[at]!)
    draw()
  }
  const button = el('button', { type: 'button', class: 'quiet', onclick: press })
  const draw = () => (button.textContent = `Theme: ${themes[at]!}`)
  draw()
  return button
}
