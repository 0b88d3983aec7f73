/** The window over the page: there is one at a time. */
import { signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './controls.tsx'

interface Content {
  name: string
  /** `null` while it is loaded. */
  body: ComponentChild
}

const open = signal<Content | null>(null)

/** @param load what is in it, made anew each time that it opens; called with what closes it */
export async function openDialog(
  name: string,
  load: (close: () => void) => Promise<ComponentChild>,
): Promise<void> {
  const loading = { name, body: null }
  open.value = loading
  const unloaded = <p class="problem">This part of the page could not be loaded: reload the page.</p>
  const body = await load(closeDialog).catch(() => unloaded)
  if (open.value === loading) open.value = { name, body }
}

function closeDialog(): void {
  open.value = null
}

/** Its place on the page. What had the focus has it again once it is closed. */
export function Dialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const { name = '', body = null } = open.value ?? {}
  useLayoutEffect(() => {
    dialog.current!.close()
    if (name !== '') dialog.current!.showModal()
  }, [name])
  // Where another window has taken its place, it is open again.
  const closed = () => dialog.current!.open || closeDialog()
  return (
    <dialog class="card work" aria-label={name} ref={dialog} closedby="any" onClose={closed}>
      <div class="work-title">
        <h2>{name}</h2>
        <Button press={closeDialog}>Close</Button>
      </div>
      {body ?? <p class="hint">Loading …</p>}
    </dialog>
  )
}
