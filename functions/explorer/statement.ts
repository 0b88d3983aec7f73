/** The caller's own SQL, where the endpoint takes it: a switch, the worked examples, and the editor. */
import examples from '../../queries/README.md'
import type { Problem } from '../../shared/errors.ts'
import type { TableDescription } from '../query/tables.ts'
import { button, el, show } from './dom.ts'
import type { Editor } from './editor.ts'
import { segments } from './field.ts'
import { format } from './format.ts'
import { shapeOf } from './logs/shape.ts'
import { rowsSql } from './logs/sql.ts'
import { initial } from './logs/state.ts'
import { queryShelf } from './queries.ts'
import { type Endpoint, listTables } from './service.ts'

interface Setup {
  key: string
  endpoint: Endpoint
  sql: string | null
  run: () => void
  /** Called when the text or what runs has changed. */
  edited: () => void
}

/** Begins with the saved query where `sql` is `null`; the editor is loaded once a person writes SQL. */
export function statement({ key, endpoint, sql, run, edited }: Setup) {
  let editor: Editor | null = null
  let own = sql !== null
  const place = el('div', { class: 'editor' })
  const menu = el(
    'div',
    {},
    el('select', { disabled: true, 'aria-label': 'Worked examples' }, el('option', {}, 'Examples …')),
  )
  const note = el('p', { class: 'hint' }, 'GoogleSQL, one SELECT. Ctrl-Space completes, Ctrl-Enter runs.')
  const shelf = queryShelf(
    endpoint.name,
    text => editor?.set(text),
    () => editor?.text() ?? '',
  )
  shelf.element.prepend(button('Format', () => editor?.set(format(editor.text()))))
  const room = el(
    'div',
    { hidden: !own },
    el('div', { class: 'sql-tools' }, menu, shelf.element),
    place,
    note,
  )

  async function open(text: string): Promise<void> {
    if (editor) return
    show(place, el('p', { class: 'hint' }, 'Loading the editor …'))
    const { openEditor } = await import('./editor.ts')
    editor = openEditor(text, run, edited)
    show(place, editor.element)
    const tables = await listTables(key, endpoint).catch(() => [])
    editor.setTables(tables)
    show(menu, exampleMenu(tables, editor.set))
    if (tables.length > 0) note.append(` Tables: ${tables.map(({ name }) => name).join(', ')}.`)
    if (editor.text() === '' && tables[0]) editor.set(`SELECT COUNT(*) AS entries\nFROM ${tables[0].name}`)
  }

  const choose = (mine: boolean) => {
    own = mine
    room.hidden = !mine
    edited()
    if (mine) void open('').then(() => editor?.focus())
  }
  const modes = segments({ 'aria-label': 'What runs' }, [
    ['saved', 'Saved query'],
    ['own', 'SQL of your own'],
  ])
  for (const [i, input] of modes.inputs.entries()) {
    input.checked = own === (i === 1)
    input.addEventListener('change', () => choose(i === 1))
  }
  if (own) void open(sql ?? '')
  return {
    /** The switch between the saved query and the caller's own. */
    modes: modes.element,
    element: el('div', { class: 'statement' }, room),
    /** `null` = the saved query. */
    text: () => (own ? (editor?.text() ?? sql ?? '') : null),
    /** Notes the query that ran, for the history. */
    ran: shelf.ran,
    /** Underlines the problems that have a place in the text. @returns all of them, to be listed */
    showProblems(problems: Problem[]): Problem[] {
      editor?.underline(problems.filter(({ line }) => line !== undefined))
      return problems
    },
  }
}

/** Examples by table: the worked ones, and for a table of logs its newest entries. */
function exampleMenu(tables: TableDescription[], choose: (sql: string) => void): HTMLElement | null {
  const groups = tables.map(table => {
    const reads = new RegExp(`FROM\\s+${table.name}\\b`)
    const shape = shapeOf(table)
    const newest = shape && rowsSql({ ...initial }, shape, { from: null, to: null }, 100)
    const own = examples.filter(({ sql }) => reads.test(sql))
    return {
      name: table.name,
      own: newest ? [...own, { title: `The newest of ${table.name}`, sql: newest }] : own,
    }
  })
  const filled = groups.filter(({ own }) => own.length > 0)
  if (filled.length === 0) return null
  const options = filled.map(({ name, own }) =>
    el('optgroup', { label: name }, ...own.map(({ title, sql }) => el('option', { value: sql }, title))),
  )
  const onchange = () => select.value !== '' && choose(select.value)
  const label = { 'aria-label': 'Worked examples', onchange }
  const select = el('select', label, el('option', { value: '' }, 'Examples …'), ...options)
  return select
}
