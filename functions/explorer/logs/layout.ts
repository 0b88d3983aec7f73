/** Where the parts of the logs view stand, and the small ones between them. */
import { copyButton } from '../copy.ts'
import { el } from '../dom.ts'
import type { Current } from './current.ts'
import type { Parts } from './parts.ts'
import { toggle } from './toggle.ts'

export function layout(view: Current, parts: Parts, notices: string[], editSql: (sql: string) => void) {
  const { controls, bars, chips, fields, rows, entry } = parts
  const { legend, facts, looked, stale, place, sqlText } = rows.elements
  return el(
    'article',
    { class: 'logs' },
    el('h2', { class: 'unseen' }, view.endpoint.name),
    controls.element,
    ...notices.map(text => el('p', { class: 'notice', role: 'alert' }, text)),
    chips,
    bars.element,
    el('div', { class: 'logs-line' }, stale, facts, looked, legend, acts(view, parts)),
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

function sqlPart(text: HTMLElement, edit: (sql: string) => void): HTMLElement {
  const copy = copyButton('Copy SQL', () => text.textContent)
  const go = el('button', { type: 'button', onclick: () => edit(text.textContent) }, 'Continue in SQL')
  return el('details', { class: 'logs-sql' }, el('summary', {}, 'SQL'), text, el('div', {}, copy, go))
}
