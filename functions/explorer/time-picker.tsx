/** The browser's own picker of a time, which only writes into the text beside it. */
import { useRef } from 'preact/hooks'
import { Button } from './controls.tsx'

interface Props {
  label: string
  /** The time that it opens with, as `2026-11-14 12:00:03`; empty for none. */
  from(): string
  /** Called with a time as `2026-11-14T12:00:03`, or empty. */
  pick(time: string): void
}

export function TimePicker({ label, from, pick }: Props) {
  const picker = useRef<HTMLInputElement>(null)
  const open = () => {
    picker.current!.value = from().slice(0, 19).replace(' ', 'T')
    picker.current!.showPicker()
  }
  return (
    <span class="pick-place">
      <input
        type="datetime-local"
        ref={picker}
        step={1}
        class="picker"
        tabIndex={-1}
        aria-hidden="true"
        aria-label={`Pick ${label}`}
        onChange={({ currentTarget }) => pick(currentTarget.value)}
      />
      <Button aria-label={`Pick a time: ${label}`} title={`Pick a time: ${label}`} press={open}>
        Pick
      </Button>
    </span>
  )
}
