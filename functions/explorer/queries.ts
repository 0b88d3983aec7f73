/** Queries of one's own that this device keeps: the last ones that ran, and those saved under a name. */
import { button, download, el, menu as plainMenu } from './dom.ts'
import { keep, kept } from './kept.ts'

interface Saved {
  name: string
  sql: string
}

const mostRecent = 50

/** The menus and buttons beside the editor. @param set puts a query into the editor, @param text reads it */
export function queryShelf(endpoint: string, set: (sql: string) => void, text: () => string) {
  const at = { history: `history ${endpoint}`, saved: `saved ${endpoint}` }
  const history = () => (kept(at.history) as string[] | null) ?? []
  const saved = () => (kept(at.saved) as Saved[] | null) ?? []
  const menu = (label: string, chosen: (index: number) => void) => {
    const { element, set } = plainMenu(label, value => {
      if (value !== '') chosen(Number(value))
      element.value = ''
    })
    const fill = (texts: string[]) => {
      const lines = texts.map((line, i) => [String(i), line.replaceAll(/\s+/g, ' ').slice(0, 90)] as const)
      set([['', texts.length === 0 ? `${label}: none` : `${label} …`], ...lines], '')
    }
    return { element, fill }
  }
  const recent = menu('History', i => set(history()[i]!))
  const own = menu('Saved queries', i => {
    const { name: chosen, sql } = saved()[i]!
    name.value = chosen
    set(sql)
  })
  const name = el('input', {
    type: 'text',
    'aria-label': 'Name of the query',
    placeholder: 'name',
    class: 'query-name',
  })
  const said = el('span', { class: 'hint', role: 'status' })
  const draw = () => {
    recent.fill(history())
    own.fill(saved().map(query => query.name))
  }
  const save = () => {
    const query = { name: name.value.trim(), sql: text() }
    if (query.name === '') return name.focus()
    keep(at.saved, [query, ...saved().filter(other => other.name !== query.name)])
    said.textContent = 'Saved.'
    draw()
  }
  const remove = () => {
    const others = saved().filter(other => other.name !== name.value.trim())
    keep(at.saved, others)
    said.textContent = 'Removed.'
    draw()
  }
  /** As `queries/` has it: a file of SQL, called by the endpoint's name. */
  const exportFile = () =>
    download(`${name.value.trim() || 'query'}.sql`, `${text().trim()}\n`, 'application/sql')
  const file = el('input', { type: 'file', accept: '.sql', hidden: true, 'aria-label': 'A file of SQL' })
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? []
    if (!chosen) return
    void chosen.text().then(sql => {
      name.value = chosen.name.replace(/\.sql$/, '')
      set(sql.trim())
    })
  })
  draw()
  return {
    element: el(
      'div',
      { class: 'shelf' },
      recent.element,
      own.element,
      name,
      button('Save', save, { title: 'Save in this browser alone; an endpoint is a file in queries/' }),
      button('Remove', remove),
      button('Export', exportFile),
      button('Import', () => file.click()),
      file,
      said,
    ),
    /** Notes a query that ran. */
    ran(sql: string) {
      keep(at.history, [sql, ...history().filter(other => other !== sql)].slice(0, mostRecent))
      draw()
    },
  }
}
