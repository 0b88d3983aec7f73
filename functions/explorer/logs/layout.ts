/** Where the parts of the logs view stand, and the small ones between them. */
import { copyButton } from '../copy.ts'
import { el } from '../dom.ts'
import { keep, kept } from '../kept.ts'
import type { Current } from './current.ts'
import type { Filter } from './state.ts'
import type { Parts } from './view.ts'

export function layout(view: Current, parts: Parts, notices: string[], editSql: (sql: string) => void) {
  const { controls, bars, chips, fields, rows, entry } = parts
  const { legend, facts, stale, place, sqlText } = rows.elements
  return el(
    'article',
    { class: 'logs' },
    el('h2', { class: 'unseen' }, view.endpoint.name),
    controls.element,
    ...notices.map(text => el('p', { class: 'notice', role: 'alert' }, text)),
    chips,
    bars.element,
    el('div', { class: 'logs-line' }, stale, facts, legend, acts(view, parts)),
    el('div', { class: 'logs-main' }, fields.element, place, entry.element),
    sqlPart(sqlText, editSql),
  )
}

/** The buttons above the rows. */
function acts({ endpoint }: Current, { controls, showFields, bars, rows, list, run }: Parts): HTMLElement {
  const { legend } = rows.elements
  const showChart = toggle('Chart', 'chart', true, on => (bars.element.hidden = legend.hidden = !on))
  const wrap = toggle('Wrap', 'wrap', false, on => list.element.classList.toggle('wrap', on))
  const fresh = { type: 'button', onclick: () => run({ fresh: true }), title: 'Run now, past the cache' }
  return el(
    'div',
    { class: 'logs-acts' },
    copyButton('Copy link', () => location.href),
    controls.redaction,
    showFields.button,
    showChart.button,
    wrap.button,
    endpoint.cacheSeconds > 0 && endpoint.mayRunFresh && el('button', fresh, 'Run fresh'),
  )
}

/** A filter; a press takes it away. */
export function chip(filter: Filter, { state, change }: Current): HTMLElement {
  const { path, operator, value } = filter
  const text = `${path.split('.').slice(-2).join('.')} ${operator} ${value === null ? 'none' : String(value)}`
  const onclick = () => change({ filters: state.filters.filter(other => other !== filter) })
  const label = `Remove the filter ${text}`
  const press = { type: 'button', class: 'chip', title: path, 'aria-label': label, onclick }
  return el('button', press, el('span', {}, text), ' ×')
}

function sqlPart(text: HTMLElement, edit: (sql: string) => void): HTMLElement {
  const copy = copyButton('Copy SQL', () => text.textContent)
  const go = el('button', { type: 'button', onclick: () => edit(text.textContent) }, 'Continue in SQL')
  return el('details', { class: 'logs-sql' }, el('summary', {}, 'SQL'), text, el('div', {}, copy, go))
}

/** A button that turns a part on and off, kept on this device. */
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
