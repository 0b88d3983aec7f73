/** An answer: what is known about it, and its rows as a chart or a table. */
import { csv } from '../query/csv.ts'
import { el, newId, show } from './dom.ts'
import { facts } from './facts.ts'
import { series } from './series.ts'
import { type Answer, asCurl, type Question } from './service.ts'
import { table } from './table.ts'

export async function results(question: Question, answer: Answer): Promise<HTMLElement> {
  const { rows } = answer
  const chartable = series(rows)
  const label = `Rows of ${question.endpoint.name}`
  const views: [name: string, make: () => HTMLElement | Promise<HTMLElement>][] = [
    ['Table', () => table(rows, label)],
  ]
  if (chartable) views.unshift(['Chart', async () => (await import('./chart.ts')).chart(chartable)])
  return el(
    'section',
    { class: 'results', 'aria-label': 'Results' },
    facts(question, answer),
    rows.length === 0 ? noRows() : await tabs(views, actions(question, answer)),
  )
}

/** Tabs as the ARIA practices have them: arrows move between them, Tab goes into the panel. */
async function tabs(
  views: [name: string, make: () => HTMLElement | Promise<HTMLElement>][],
  beside: HTMLElement,
): Promise<HTMLElement> {
  const id = newId()
  const panel = el('div', { role: 'tabpanel', id: `${id}-panel`, 'aria-labelledby': `${id}-0` })
  const made = new Map<number, HTMLElement>()
  const buttons = views.map(([name], i) =>
    el(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `${id}-${i}`,
        'aria-controls': `${id}-panel`,
        onclick: () => void select(i),
      },
      name,
    ),
  )
  async function select(i: number): Promise<void> {
    for (const [j, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(i === j))
      button.tabIndex = i === j ? 0 : -1
    }
    panel.setAttribute('aria-labelledby', `${id}-${i}`)
    const view = made.get(i) ?? (await views[i]![1]())
    made.set(i, view)
    show(panel, view)
  }
  const list = el('div', { role: 'tablist', 'aria-label': 'View' }, ...buttons)
  list.addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const next =
      (buttons.findIndex(({ tabIndex }) => tabIndex === 0) + step + buttons.length) % buttons.length
    void select(next)
    buttons[next]!.focus()
  })
  await select(0)
  return el('div', {}, el('div', { class: 'bar' }, list, beside), panel)
}

function actions(question: Question, { rows }: Answer): HTMLElement {
  const said = el('span', { class: 'said', role: 'status' })
  const copy = (name: string, text: () => string) =>
    el(
      'button',
      {
        type: 'button',
        onclick: () => {
          navigator.clipboard.writeText(text()).then(
            () => (said.textContent = 'Copied.'),
            () => (said.textContent = 'The browser did not allow copying.'),
          )
        },
      },
      name,
    )
  return el(
    'div',
    { class: 'actions' },
    copy('Copy link', () => location.href),
    copy('Copy as curl', () => asCurl(question)),
    el('button', { type: 'button', onclick: () => save(question.endpoint.name, rows) }, 'Download CSV'),
    said,
  )
}

/** From the rows at hand: the file is what is on the screen, and costs no second run. */
function save(name: string, rows: Answer['rows']): void {
  const file = new Blob([csv(rows, Object.keys(rows[0] ?? {}))], { type: 'text/csv' })
  const link = el('a', { href: URL.createObjectURL(file), download: `${name}.csv` })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

function noRows(): HTMLElement {
  return el(
    'div',
    { class: 'card empty' },
    el('h3', {}, 'No rows'),
    el(
      'p',
      {},
      'The query ran and found nothing. Try a longer time, or look at how the parameters are written.',
    ),
  )
}
