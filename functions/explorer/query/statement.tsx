/** The caller's own SQL, where the endpoint takes it: a switch, the worked examples, and the editor. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import examples from '../../../queries/README.md'
import type { TableDescription } from '../../query/endpoints.ts'
import { Button, Choice } from '../controls.tsx'
import { format } from '../../../shared/sql/format.ts'
import { shapeOf } from '../logs/shape.ts'
import { rowsSql } from '../logs/sql.ts'
import { initial } from '../logs/state.ts'
import { listTables } from '../service.ts'
import type { Editor } from './editor.ts'
import type { QueryStore } from './store.ts'
import type { TargetedEvent } from 'preact'
import { download } from '../copy.ts'

const modes = [
  ['saved', 'Saved query'],
  ['own', 'SQL of your own'],
] as const

/** The switch between the saved query and the caller's own. */
export function Modes({ store }: { store: QueryStore }) {
  const chosen = store.isOwn.value ? 'own' : 'saved'
  return <Choice aria-label="What runs" choices={modes} chosen={chosen} act={to => store.setMode(to)} />
}

/** The editor is loaded once a person writes SQL, and then stays, with its text. */
export function Statement({ store }: { store: QueryStore }) {
  const { isOwn, text } = store
  const wasOwn = useRef(false)
  wasOwn.current ||= isOwn.value
  const tables = useSignal<TableDescription[]>([])
  return (
    <div class="statement">
      {wasOwn.current && (
        <div hidden={!isOwn.value}>
          <div class="sql-tools">
            <Examples tables={tables.value} choose={sql => (text.value = sql)} />
            <Button press={() => (text.value = format(text.value))}>Format</Button>
            <SqlFiles text={text} />
          </div>
          <Code store={store} tables={tables} />
          <p class="hint">
            GoogleSQL, one SELECT. Ctrl-Space completes, Ctrl-Enter runs.
            {tables.value.length > 0 && ` Tables: ${tables.value.map(({ name }) => name).join(', ')}.`}
          </p>
        </div>
      )}
    </div>
  )
}

interface CodeProps {
  store: QueryStore
  tables: Signal<TableDescription[]>
}

/** CodeMirror in a component: what is typed goes into the store, and what the store has goes into the editor. */
function Code({ store, tables }: CodeProps) {
  const { text, isOwn, isRunning, sqlProblems } = store
  const place = useRef<HTMLDivElement>(null)
  const editor = useSignal<Editor | null>(null)
  const isLinked = useRef(isOwn.value)
  useEffect(() => {
    void openIn(place.current!, { store, tables }).then(opened => (editor.value = opened))
    return () => editor.value?.close()
  }, [])
  // Before the next key: one that is typed into the text before would be lost.
  useLayoutEffect(() => editor.value?.set(text.value), [editor.value, text.value])
  useEffect(() => editor.value?.setTables(tables.value), [editor.value, tables.value])
  useEffect(
    () => editor.value?.underline(sqlProblems.value),
    [editor.value, sqlProblems.value, isRunning.value],
  )
  useEffect(() => {
    // Not of a link, which is read first.
    if (!isOwn.value) isLinked.current = false
    else if (!isLinked.current) editor.value?.focus()
  }, [editor.value, isOwn.value])
  return (
    <div class="editor">
      {!editor.value && <p class="hint">Loading the editor …</p>}
      <div class="code" ref={place} hidden={!editor.value} />
    </div>
  )
}

async function openIn(place: HTMLElement, { store, tables }: CodeProps): Promise<Editor> {
  const { text, key, endpoint } = store
  const { openEditor } = await import('./editor.ts')
  void listTables(key, endpoint)
    .catch(() => [])
    .then(found => {
      tables.value = found
      if (text.value === '' && found[0]) text.value = `SELECT COUNT(*) AS entries\nFROM ${found[0].name}`
    })
  return openEditor(place, text.value, {
    run: () => void store.run(),
    edited: written => (text.value = written),
  })
}

/** By table: the worked ones, and for a table of logs its newest entries. The menu stands at its name again once one was chosen. */
function Examples({ tables, choose }: { tables: TableDescription[]; choose(sql: string): void }) {
  const groups = tables.map(table => ({ name: table.name, own: examplesOf(table) }))
  const filled = groups.filter(({ own }) => own.length > 0)
  const pick = ({ currentTarget: menu }: TargetedEvent<HTMLSelectElement>) => {
    if (menu.value !== '') choose(menu.value)
    menu.value = ''
  }
  return (
    <select aria-label="Worked examples" disabled={filled.length === 0} onChange={pick}>
      <option value="">Examples …</option>
      {filled.map(({ name, own }) => (
        <optgroup key={name} label={name}>
          {own.map(({ title, sql }) => (
            <option key={title} value={sql}>
              {title}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  )
}

function examplesOf(table: TableDescription) {
  const reads = new RegExp(`FROM\\s+${table.name}\\b`)
  const shape = shapeOf(table)
  const newest = shape && rowsSql({ ...initial }, shape, { from: null, to: null }, 100)
  const own = examples.filter(({ sql }) => reads.test(sql))
  return newest ? [...own, { title: `The newest of ${table.name}`, sql: newest }] : own
}

function SqlFiles({ text }: { text: Signal<string> }) {
  const file = useRef<HTMLInputElement>(null)
  const save = () => download('query.sql', `${text.value.trim()}\n`, 'application/sql')
  const open = async ([chosen]: File[]) => {
    if (chosen) text.value = (await chosen.text()).trim()
  }
  return (
    <>
      <Button press={save}>Export</Button>
      <Button press={() => file.current!.click()}>Import</Button>
      <input
        type="file"
        ref={file}
        accept=".sql"
        hidden
        aria-label="A file of SQL"
        onChange={({ currentTarget }) => void open([...(currentTarget.files ?? [])])}
      />
    </>
  )
}
