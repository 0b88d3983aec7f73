/** A button, and the window that it opens over the page. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from './controls.tsx'

interface Props {
  name: string
  title: string
  class?: string
  /** Loaded, and made anew, each time that it opens. @param close what closes it */
  content(close: () => void): Promise<ComponentChild>
}

export function DialogButton({ name, content, ...rest }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const body = useSignal<ComponentChild>(null)
  const close = () => dialog.current!.close()
  const open = async () => {
    body.value = <p class="hint">Loading …</p>
    dialog.current!.showModal()
    const unloaded = <p class="problem">This part of the page could not be loaded: reload the page.</p>
    const made = await content(close).catch(() => unloaded)
    if (dialog.current?.open) body.value = made
  }
  return (
    <>
      <Button aria-haspopup="dialog" press={() => void open()} {...rest}>
        {name}
      </Button>
      <dialog
        class="card work"
        aria-label={name}
        ref={dialog}
        closedby="any"
        onClose={() => (body.value = null)}>
        <div class="work-title">
          <h2>{name}</h2>
          <Button press={close}>Close</Button>
        </div>
        {body.value}
      </dialog>
    </>
  )
}
