/** One entry, all of it, as a tree beside the rows. */
import type { Row } from '../../../shared/engines/engine.ts'
import { copyButton } from '../copy.ts'
import { button, el } from '../dom.ts'
import { tree } from '../value.ts'
import { redactedText } from './fields.ts'
import { fieldAt, type Shape } from './shape.ts'
import { searchFor } from './sql.ts'
import type { Filter, Scalar } from './state.ts'

export interface Acts {
  filter(filter: Filter): void
  column(path: string): void
  /** Its values with their counts. */
  values(path: string): void
  /** Looks for the text in all tables; `null` where there is one. */
  everywhere: ((text: string) => void) | null
  /** Whether the entry is. */
  redacted: boolean
}

/** @param entry with all its columns, of which the list shows some */
export function details(entry: Row, shape: Shape, acts: Acts): HTMLElement {
  return el(
    'div',
    { class: 'tree', tabindex: 0, role: 'region', 'aria-label': 'Fields of the entry' },
    ...tree(entry, {
      depth: Infinity,
      isJson: path => fieldAt(shape, path)?.type === 'JSON',
      acts: (path, value) => actsOf(path, value, shape, acts),
    }),
  )
}

function actsOf(path: string, value: Scalar, shape: Shape, acts: Acts): HTMLElement {
  const field = fieldAt(shape, path)
  const known = field !== null
  const isFound = !acts.redacted || !redactedText.test(String(value))
  // JSON itself is compared by its text.
  const compared = field?.type === 'JSON' ? JSON.stringify(value) : value
  // A time is found by its digits, which a search by text does not read, a truth in every entry.
  const isSought =
    isFound &&
    acts.everywhere &&
    /^(STRING|JSON|INT64|NUMERIC)$/.test(field?.type ?? '') &&
    value !== null &&
    value !== ''
  const act = (name: string, words: string, press: () => void) => {
    const label = `${words} ${path}`
    return known && button(name, press, { title: label, 'aria-label': label })
  }
  return el(
    'span',
    { class: 'leaf-acts' },
    isFound && act('=', 'Filter for', () => acts.filter({ path, operator: '=', value: compared })),
    isFound && act('≠', 'Filter out', () => acts.filter({ path, operator: '!=', value: compared })),
    act('column', 'Column of', () => acts.column(path)),
    act('values', 'Values of', () => acts.values(path)),
    isSought && act('find', 'Find in all tables:', () => acts.everywhere!(searchFor(String(value)))),
    copyButton('copy', () => String(value), `Copy ${path}`),
  )
}
