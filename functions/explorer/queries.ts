/** Queries of one's own that this device keeps: the last ones that ran, and those saved under a name. */
import { el, show } from './dom.ts'
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
    const select = el('select', { 'aria-label': label })
    select.addEventListener('change', () => {
      if (select.value !== '') chosen(Number(select.value))
      select.value = ''
    })
    return {
      select,
      fill: (texts: string[]) =>
        show(
          select,
          el('option', { value: '' }, texts.length === 0 ? `${label}: none` : `${label} …`),
          ...texts.map((line, i) => el('option', { value: i }, line.replaceAll(/\s+/g, ' ').slice(0, 90))),
        ),
    }
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
    said.textContent = `Saved as ${query.name}.`
    draw()
  }
  const remove = () => {
    keep(
      at.saved,
      saved().filter(other => other.name !== name.value.trim()),
    )
    said.textContent = 'Removed.'
    draw()
  }
  /** As `queries/` has it: a file of SQL, called by the endpoint's name. */
  const exportFile = () => {
    const link = el('a', {
      href: URL.createObjectURL(new Blob([`${text().trim()}\n`], { type: 'application/sql' })),
      download: `${name.value.trim() || 'query'}.sql`,
    })
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }
  const file = el('input', { type: 'file', accept: '.sql', hidden: true, 'aria-label': 'A file of SQL' })
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? []
    if (!chosen) return
    void chosen.text().then(sql => {
      name.value = chosen.name.replace(/\.sql$/, '')
      set(sql.trim())
    })
  })
  const button = (label: string, press: () => void) => el('button', { type: 'button', onclick: press }, label)
  draw()
  return {
    element: el(
      'div',
      { class: 'shelf' },
      recent.select,
      own.select,
      name,
      button('Save', save),
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
