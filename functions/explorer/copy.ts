/** Copying to the clipboard, also where the page is not served over HTTPS and the browser has no clipboard for scripts. */
import { button, el } from './dom.ts'

/** @returns whether it is in the clipboard */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

/** The old way: a selected text and the browser's own command. */
function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const area = el('textarea', { class: 'unseen', 'aria-hidden': 'true', tabindex: -1 })
  area.value = text
  document.body.append(area)
  area.select()
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on plain HTTP
  const copied = document.execCommand('copy')
  area.remove()
  focused?.focus()
  return copied
}

/** A button that copies, and says so in its own place. */
export function copyButton(name: string, text: () => string, label: string | null = null): HTMLButtonElement {
  const press = async () => {
    made.style.minWidth = `${made.offsetWidth}px` // its neighbours stay where one points
    made.textContent = (await copy(text())) ? 'Copied' : 'Not copied'
    setTimeout(() => (made.textContent = name), 1500)
  }
  const made = button(name, () => void press(), { 'aria-label': label, title: label })
  return made
}
