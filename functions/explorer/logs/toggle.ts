/** A button that turns a part of the logs view on and off. */
import { el } from '../dom.ts'
import { keep, kept } from '../kept.ts'

/** @param item under what name this device keeps whether it is on */
export function toggle(name: string, item: string, byDefault: boolean, apply: (on: boolean) => void) {
  let on = (kept(`show ${item}`) as boolean | null) ?? byDefault
  const button = el('button', { type: 'button', class: 'quiet', onclick: () => set(!on) }, name)
  const draw = () => {
    button.ariaPressed = String(on)
    apply(on)
  }
  const set = (to: boolean) => {
    on = to
    keep(`show ${item}`, on)
    draw()
  }
  draw()
  return { button, set }
}
