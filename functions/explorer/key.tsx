/** The form for an API key, which is asked for before anything else. */
import { useSignal } from '@preact/signals'
import type { TargetedSubmitEvent } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { TextInput } from './controls.tsx'
import { isShared } from './local-storage.ts'
import { keepOwnKey } from './stored-key.ts'

const inTabs =
  'other tabs get it from one that is open; when the last is closed it is forgotten, unless this device is to remember it.'
const inTab =
  'is forgotten with this tab: other pages may share this host. Better is the service’s own address, such as that of run.app.'

interface Props {
  enter(key: string, remembered: boolean): Promise<void>
  /** Why the last key was refused; empty where there was none. */
  problem: string
  /** That key, to be tried again or corrected. */
  refused: string
}

export function KeyForm({ enter, problem, refused }: Props) {
  const id = useId()
  const key = useSignal(refused)
  const isRemembered = useSignal(false)
  const isEntering = useSignal(false)
  const input = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    input.current!.focus()
    input.current!.select() // another key takes the refused one's place
  }, [])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = key.value.trim()
    if (text === '') return input.current!.focus()
    keepOwnKey()
    isEntering.value = true
    void enter(text, isRemembered.value)
  }
  return (
    <form class="card key-card" onSubmit={submit}>
      <h2>Look into your logs</h2>
      <p>Run the saved queries of this service, see them as charts and tables, and write your own.</p>
      <label for={id}>API key</label>
      <div class="beside">
        <TextInput
          id={id}
          ref={input}
          type="password"
          placeholder="lqe_…"
          aria-describedby={`${problem && `${id}-trouble `}${id}-hint`}
          aria-invalid={problem !== '' || undefined}
          value={key}
          write={text => {
            keepOwnKey()
            key.value = text
          }}
        />
        <button class="primary" disabled={isEntering}>
          Open
        </button>
      </div>
      {!isShared && (
        <label class="check">
          <input
            type="checkbox"
            checked={isRemembered}
            onChange={({ currentTarget }) => (isRemembered.value = currentTarget.checked)}
          />
          Remember on this device
        </label>
      )}
      {problem && (
        <p class="problem" id={`${id}-trouble`} role="alert">
          {problem}
        </p>
      )}
      <WhereFrom id={`${id}-hint`} />
    </form>
  )
}

function WhereFrom({ id }: { id: string }) {
  return (
    <p class="hint" id={id}>
      Started on this machine? <code>npm start</code> printed the key. Otherwise ask the operator of the
      service. It goes nowhere but to this service, and {isShared ? inTab : inTabs}
    </p>
  )
}
