/**
 * The SQL editor: colours, completion, and underlined problems. It lives in a shadow root: there CodeMirror adopts its
 * style sheets, which the page's content security policy allows; elsewhere it would write a style element.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { sql, SQLDialect } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Problem } from '../../../shared/errors.ts'
import { plainFunctions } from '../../../shared/sql/functions.ts'
import type { ColumnDescription, TableDescription } from '../../query/endpoints.ts'

export interface Editor {
  /** Nothing where it has the text already. */
  set(text: string): void
  focus(): void
  /** Tables and columns to complete. */
  setTables(tables: TableDescription[]): void
  underline(problems: Problem[]): void
  close(): void
}

interface Acts {
  /** What Ctrl-Enter does, or Cmd-Enter on a Mac. */
  run(): void
  /** Called after each change of the text, by `set` too. */
  edited(text: string): void
}

/** @param place becomes its shadow's host */
export function openEditor(place: HTMLElement, text: string, { run, edited }: Acts): Editor {
  const root = place.attachShadow({ mode: 'open' })
  const completing = new Compartment()
  const runKey = { key: 'Mod-Enter', run: () => (run(), true) }
  const listener = EditorView.updateListener.of(update => {
    if (update.docChanged) edited(update.state.doc.toString())
  })
  const extensions = [keymap.of([runKey, ...keys]), completing.of(completionOf([])), listener, ...fixed]
  const view = new EditorView({ root, parent: root, state: EditorState.create({ doc: text, extensions }) })
  return {
    set(other) {
      const { doc } = view.state
      if (doc.toString() !== other) view.dispatch({ changes: { from: 0, to: doc.length, insert: other } })
    },
    focus: () => view.focus(),
    setTables: tables => view.dispatch({ effects: completing.reconfigure(completionOf(tables)) }),
    underline(problems) {
      closeCompletion(view) // a query runs, or has run
      const diagnostics = problems.map(problem => diagnosticOf(problem, view.state.doc))
      view.dispatch(setDiagnostics(view.state, diagnostics))
      const first = diagnostics[0]
      if (first) view.dispatch({ selection: { anchor: first.from }, scrollIntoView: true })
    },
    close: () => view.destroy(),
  }
}

/** From the place that the service names to the end of the word there. */
function diagnosticOf({ line = 1, column = 1, detail: message }: Problem, doc: Text): Diagnostic {
  const { from, to, text } = doc.line(Math.min(Math.max(1, line), doc.lines))
  const start = Math.min(from + column - 1, to)
  const word = /^(\w+(\.\w+)*|\S)/.exec(text.slice(start - from))?.[0] ?? ''
  const first = word ? start : Math.max(from, start - 1)
  return { from: first, to: start + word.length, severity: 'error', message }
}

/**
 * Where text replaces a selection, the browser copies its style into a style attribute, which the page's policy refuses
 * with an error in the console. So CodeMirror inserts the text instead.
 */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection
    if (event.inputType !== 'insertText' || event.data === null || main.empty || view.composing) return false
    const typed = event.data
    const insert = () => view.state.update(view.state.replaceSelection(typed), { userEvent: 'input.type' })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some(handle => handle(view, main.from, main.to, typed, insert))) view.dispatch(insert())
    event.preventDefault()
    return true
  },
})

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--line-3)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--line-2)' },
  { tag: [tags.standard(tags.name), tags.typeName], color: 'var(--line-4)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
])

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '1.6',
    minHeight: '6rem',
    maxHeight: 'max(6rem, 24vh)',
  },
  '.cm-content': { padding: '0.6rem 0', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '13px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { opacity: '0.75', marginLeft: '1rem' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', fontSize: '14px' },
})

/** GoogleSQL for colours and completion, with the functions that the sandbox allows. */
const functionNames = [...plainFunctions]

const keywords = `all and any array as asc between by case cast cross current day desc distinct else end
  except exists extract false first following for from full group having hour if in inner intersect interval into is
  join last left like limit microsecond millisecond minute month not null nulls offset on or order ordinal outer over
  partition preceding qualify quarter range right rollup rows safe_cast safe_offset second select struct then true
  unbounded union unnest using week when where window with year`.split(/\s+/)

const googleSql = SQLDialect.define({
  keywords: keywords.join(' '),
  types: 'bool bytes date datetime float64 int64 interval json numeric bignumeric string time timestamp',
  builtin: functionNames.join(' ').toLowerCase(),
  hashComments: true,
  doubleQuotedStrings: true,
  identifierQuotes: '`',
  backslashEscapes: true,
})

const keys = [...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]

const fixed: Extension[] = [
  lineNumbers(),
  history(),
  drawSelection(),
  bracketMatching(),
  closeBrackets(),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': 'SQL', tabindex: '0' }), // what scrolls takes the focus
  sql({ dialect: googleSql, upperCaseKeywords: true }),
  syntaxHighlighting(colours),
  typedOver,
  look,
]

/**
 * Completes tables and columns as `/tables` lists them, fields behind an alias, also that of an UNNEST, and the functions
 * of the sandbox. Aliases are found by regular expressions, as half-written SQL does not parse.
 */
function completionOf(tables: TableDescription[]): Extension {
  const complete = (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w.]*/)
    if (!word || (word.text === '' && !context.explicit)) return null
    const aliases = aliasesIn(context.state.doc.toString(), tables)
    const dot = word.text.lastIndexOf('.')
    const from = word.from + dot + 1
    if (dot >= 0) {
      const fields = fieldsAt(word.text.slice(0, dot).split('.'), aliases)
      return fields.length === 0 ? null : { from, options: fields.flatMap(completion), validFor: /^\w*$/ }
    }
    const named = tables.map(({ name: label }) => ({ label, type: 'class', detail: 'table', boost: 2 }))
    return { from, options: [...named, ...inReach(aliases), ...builtIns], validFor: /^\w*$/ }
  }
  return autocompletion({ override: [complete], icons: false })
}

type Aliases = Map<string, ColumnDescription[]>

/** `FROM edge_logs AS t`, `UNNEST(t.metadata) AS m`: each name with the columns behind it. */
function aliasesIn(sql: string, tables: TableDescription[]): Aliases {
  const aliases: Aliases = new Map()
  for (const [, name, alias] of sql.matchAll(
    /\b(?:FROM|JOIN)\s+`?(\w+)`?(?:\s+(?:AS\s+)?(?!(?:CROSS|JOIN|LEFT|WHERE|ON|GROUP|ORDER|INNER|UNION|LIMIT)\b)(\w+))?/gi,
  )) {
    const table = tables.find(known => known.name === name)
    if (!table) continue
    aliases.set(table.name, table.columns)
    if (alias) aliases.set(alias, table.columns)
  }
  for (const [, path, alias] of sql.matchAll(/\bUNNEST\(\s*([\w.]+)\s*\)\s*(?:AS\s+)?(\w+)/gi))
    aliases.set(alias!, fieldsAt(path!.split('.'), aliases))
  return aliases
}

/** The fields behind a path such as `t.metadata` or, without a table, `metadata`. */
function fieldsAt(path: string[], aliases: Aliases): ColumnDescription[] {
  const [first, ...rest] = path
  const start = aliases.get(first!)
  let fields = start ?? [...aliases.values()].flat()
  for (const name of start ? rest : path) fields = fields.find(field => field.name === name)?.fields ?? []
  return fields
}

function inReach(aliases: Aliases): Completion[] {
  const names = [...aliases.keys()].map(label => ({ label, type: 'variable', detail: 'alias', boost: 1 }))
  const columns = [...aliases.values()].flat().flatMap(completion)
  const options = [...columns, ...names].toReversed()
  return [...new Map(options.map(option => [option.label, option])).values()]
}

function completion({ name, type, repeated }: ColumnDescription): Completion[] {
  const detail = repeated ? `${type}, repeated` : type
  return name === null ? [] : [{ label: name, type: 'property', detail, boost: 3 }]
}

const builtIns: Completion[] = [
  ...keywords.map(word => ({ label: word.toUpperCase(), type: 'keyword' })),
  ...functionNames.map(label => ({ label, type: 'function', apply: `${label}(` })),
]
