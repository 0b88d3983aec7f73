/** Names and colours of a chart's lines, each a button that hides its line, with the values under the cursor. */
import { el } from './dom.ts'
import type { Series } from './series.ts'

export function legend(lines: Series['lines'], toggled: (line: number, on: boolean) => void) {
  const moment = el('span', { class: 'moment' })
  const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 3 })
  const entries = lines.map(({ name }, i) => {
    const value = el('b', {})
    const press = () => {
      const on = button.getAttribute('aria-pressed') !== 'true'
      button.setAttribute('aria-pressed', String(on))
      toggled(i, on)
    }
    const swatch = el('i', { class: `swatch line-${i + 1}`, 'aria-hidden': 'true' })
    const button = el(
      'button',
      { type: 'button', 'aria-pressed': 'true', onclick: press },
      swatch,
      name,
      value,
    )
    return { button, value, name }
  })
  return {
    element: el('div', { class: 'legend' }, ...entries.map(({ button }) => button), moment),
    isOn: (line: number) => entries[line]!.button.getAttribute('aria-pressed') === 'true',
    /** @param at the moment under the cursor; `null` = there is none */
    say(at: string | null, values: (number | null)[]) {
      moment.textContent = at ?? 'Point at the chart for values'
      for (const [i, { value }] of entries.entries()) {
        const number = values[i] ?? null
        value.textContent = number === null ? (at === null ? '' : '–') : numbers.format(number)
      }
    },
    text: () =>
      `${moment.textContent}: ${entries.map(({ name, value }) => `${name} ${value.textContent}`).join(', ')}`,
  }
}
