/**
 * The SQL editor. It lives in a shadow root: there CodeMirror adopts its style sheets, which the page's policy allows,
 * where elsewhere it would write a style element, which it does not.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Text } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Problem } from '../../shared/errors.ts'
import type { TableDescription } from '../query/tables.ts'
import { completionOf } from './completion.ts'
import { googleSql } from './dialect.ts'
import { el } from './dom.ts'

export interface Editor {
  element: HTMLElement
  text(): string
  set(text: string): void
  focus(): void
  /** Tables and columns to complete. */
  learn(tables: TableDescription[]): void
  underline(problems: Problem[]): void
}

export function openEditor(text: string, run: () => void): Editor {
  const element = el('div', { class: 'code' })
  const root = element.attachShadow({ mode: 'open' })
  const completing = new Compartment()
  const completionFor = (tables: TableDescription[]) =>
    autocompletion({ override: [completionOf(tables)], icons: false })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: () => (run(), true) },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL' }),
        sql({ dialect: googleSql, upperCaseKeywords: true }),
        syntaxHighlighting(colours),
        completing.of(completionFor([])),
        EditorView.updateListener.of(update => {
          if (update.docChanged) queueMicrotask(() => underline([]))
        }),
        typedOver,
        look,
      ],
    }),
  })
  function underline(problems: Problem[]): void {
    const diagnostics = problems.map(problem => diagnosticOf(problem, view.state.doc))
    view.dispatch(setDiagnostics(view.state, diagnostics))
    const first = diagnostics[0]
    if (first) view.dispatch({ selection: { anchor: first.from }, scrollIntoView: true })
  }
  return {
    element,
    text: () => view.state.doc.toString(),
    set: other => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } }),
    focus: () => view.focus(),
    learn: tables => view.dispatch({ effects: completing.reconfigure(completionFor(tables)) }),
    underline,
  }
}

/** From the place that the service names to the end of the word there. */
function diagnosticOf({ line = 1, column = 1, detail }: Problem, doc: Text): Diagnostic {
  const { from, to, text } = doc.line(Math.min(Math.max(1, line), doc.lines))
  const start = Math.min(from + column - 1, to)
  const word = /^(\w+(\.\w+)*|\S)/.exec(text.slice(start - from))?.[0] ?? ''
  const end = start + word.length
  return {
    from: end > start ? start : Math.max(from, start - 1),
    to: Math.max(end, start),
    severity: 'error',
    message: detail,
  }
}

/**
 * Where text replaces a selection, the browser carries its look over in a style attribute, which the page's policy
 * refuses with an error in the console. So the text goes in by way of the editor alone.
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
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.standard(tags.name), tags.typeName], color: 'var(--code-function)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
])

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', minHeight: '9rem', maxHeight: '26rem' },
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
