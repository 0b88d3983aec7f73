/** Follows a pointer that is held down on a grip, and says how far it is to the right of where it was pressed. */
export function drag(
  event: PointerEvent & { readonly currentTarget: HTMLElement },
  moved: (by: number) => void,
  done: (by: number) => void,
): void {
  event.preventDefault()
  const { clientX: from, currentTarget: grip, pointerId } = event
  grip.setPointerCapture(pointerId)
  const move = ({ clientX }: PointerEvent) => moved(clientX - from)
  const end = ({ clientX, type }: PointerEvent) => {
    grip.removeEventListener('pointermove', move)
    done(type === 'pointercancel' ? 0 : clientX - from)
  }
  grip.addEventListener('pointermove', move)
  grip.addEventListener('pointerup', end, { once: true })
  grip.addEventListener('pointercancel', end, { once: true })
}
