/** What a person takes out of the page: into the clipboard, also where the browser has none for scripts, and as a file. */

/** @returns whether it is in the clipboard */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

/** The old way, which is the only one on plain HTTP: a selected text and the browser's own command. */
function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const area = document.createElement('textarea')
  area.className = 'unseen'
  area.ariaHidden = 'true'
  area.value = text
  document.body.append(area)
  area.select()
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies on plain HTTP
  const copied = document.execCommand('copy')
  area.remove()
  focused?.focus()
  return copied
}

/** Gives a person the text as a file. */
export function download(name: string, text: string, type: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
