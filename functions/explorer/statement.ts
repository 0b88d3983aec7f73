/** The caller's own SQL, where the endpoint takes it: a switch, the worked examples, and the editor. */
import examples from '../../queries/README.md'
import type { Problem } from '../../shared/errors.ts'
import type { TableDescription } from '../query/tables.ts'
import { el, newId, show } from './dom.ts'
import type { Editor } from './editor.ts'
import { segments } from './field.ts'
import { type Endpoint, listTables } from './service.ts'

interface Setup {
  key: string
  endpoint: Endpoint
  sql: string | null
  run: () => void
  /** Called when the text or what runs has changed. */
  edited: () => void
}

export function statement({ key, endpoint, sql, run, edited }: Setup) {
  let editor: Editor | null = null
  let own = sql !== null
  const place = el('div', { class: 'editor' })
  const menu = el('div')
  const note = el('p', { class: 'hint' }, 'GoogleSQL, one SELECT. Ctrl-Space completes, Ctrl-Enter runs.')
  const room = el('div', { hidden: !own }, menu, place, note)

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
    element: el('div', { class: 'statement' }, modes.element, room),
    /** `null` = the saved query. */
    text: () => (own ? (editor?.text() ?? sql ?? '') : null),
    /** Underlines the problems that have a place in the text. @returns all of them, to be listed */
    showProblems(problems: Problem[]): Problem[] {
      editor?.underline(problems.filter(({ line }) => line !== undefined))
      return problems
    },
  }
}

/** The examples that read tables of this endpoint. */
function exampleMenu(tables: TableDescription[], choose: (sql: string) => void): HTMLElement | null {
  const reads = (sql: string) => tables.some(({ name }) => new RegExp(`FROM\\s+${name}\\b`).test(sql))
  const fitting = examples.filter(({ sql }) => reads(sql))
  if (fitting.length === 0) return null
  const id = newId()
  const options = fitting.map(({ title, sql }) => el('option', { value: sql }, title))
  const onchange = () => select.value !== '' && choose(select.value)
  const select = el('select', { id, onchange }, el('option', { value: '' }, 'Choose one …'), ...options)
  return el('div', { class: 'examples' }, el('label', { for: id }, 'Worked examples'), select)
}
