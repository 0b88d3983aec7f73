/** The keyboard shortcuts of the page, behind `?`. */
import { useEffect, useRef } from 'preact/hooks'
import { Button } from './controls.tsx'

const keys: [string, string][] = [
  ['/', 'search'],
  ['j, k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field, close the entry'],
  ['Ctrl-Enter', 'run the query'],
  ['Ctrl-Space', 'complete SQL'],
  ['?', 'these shortcuts'],
]

/** A button, and the dialog that it opens. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  const open = () => dialog.current!.showModal()
  useEffect(() => {
    const listen = ({ key, target }: KeyboardEvent) => {
      const isWriting = target instanceof HTMLElement && target.matches('input, select, textarea, .code')
      if (key === '?' && !isWriting && !dialog.current!.open) open()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
  return (
    <>
      <Button class="quiet help" press={open}>
        Shortcuts
      </Button>
      <dialog class="card" aria-label="Keyboard shortcuts" ref={dialog} closedby="any">
        <h2>Keyboard shortcuts</h2>
        <dl class="keys">
          {keys.map(([key, words]) => (
            <>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{words}</dd>
            </>
          ))}
        </dl>
        <Button press={() => dialog.current!.close()}>Close</Button>
      </dialog>
    </>
  )
}
