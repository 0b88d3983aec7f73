/** The keys of the logs view. */

/** @param act by the key's name @returns what takes the keys back */
export function listenTo(acts: Record<string, () => void>): () => void {
  const onkeydown = (event: KeyboardEvent) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
    const writing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
    if (writing && key === 'Escape') return target.blur()
    // Enter presses what has the focus; only on a row, or on nothing, does it open the row.
    const isBusy = key === 'Enter' && !(target as HTMLElement).matches('body, [role=row]')
    if (writing || isBusy || !Object.hasOwn(acts, key)) return
    event.preventDefault()
    acts[key]!()
  }
  document.addEventListener('keydown', onkeydown)
  return () => document.removeEventListener('keydown', onkeydown)
}
