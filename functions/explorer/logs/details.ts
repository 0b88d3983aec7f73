/** One entry, all of it, as a tree beside the rows. */
import type { Row } from '../../../shared/engines/engine.ts'
import { copyButton } from '../copy.ts'
import { button, el } from '../dom.ts'
import { tree } from '../value.ts'
import { searchFor } from './conditions.ts'
import { redactedText } from './fields.ts'
import type { Zone } from './range.ts'
import { fieldAt, identityRank, nameOf, type Shape } from './shape.ts'
import type { Filter, Scalar } from './state.ts'

export interface Acts {
  filter(filter: Filter): void
  column(path: string): void
  /** Its values with their counts. */
  values(path: string): void
  /** Shows all entries that have the text in any field. */
  everywhere(text: string): void
  /** Where these are looked for: `in all tables`. */
  where: string
  /** Whether the entry is. */
  redacted: boolean
  /** Of its times. */
  zone: Zone
}

/** @param entry with all its columns, of which the list shows some */
export function details(entry: Row, shape: Shape, acts: Acts): HTMLElement {
  const found: { path: string; value: Scalar }[] = []
  const fields = tree(entry, {
    depth: Infinity,
    zone: acts.zone,
    isJson: path => fieldAt(shape, path)?.type === 'JSON',
    acts: (path, value) => {
      if (identityRank({ path }) >= 0 && isSought(path, value, shape, acts)) found.push({ path, value })
      return actsOf(path, value, shape, acts)
    },
  })
  return el(
    'div',
    { class: 'tree', tabindex: 0, role: 'region', 'aria-label': 'Fields of the entry' },
    identities(found, acts),
    ...fields,
    el('p', { class: 'hint nothing', role: 'status' }),
  )
}

/** Hides the fields that have the text neither in their path nor in their value. */
export function narrow(place: Element, text: string): void {
  const sought = text.trim().toLowerCase()
  const all = [...place.querySelectorAll<HTMLElement>('.leaf')]
  for (const leaf of all) {
    const [name, value] = leaf.children as unknown as [HTMLElement, HTMLElement]
    leaf.hidden = !`${name.title} ${name.textContent} ${value.textContent}`.toLowerCase().includes(sought)
  }
  for (const fold of place.querySelectorAll('details')) {
    fold.hidden = !fold.querySelector('.leaf:not([hidden])')
    if (sought !== '') fold.open = true
  }
  const nothing = place.querySelector('.nothing')
  if (nothing) nothing.textContent = all.every(({ hidden }) => hidden) ? 'No field has it.' : ''
}

/** Who, or which request, it is: a press shows what else is known of these. */
function identities(found: { path: string; value: Scalar }[], { everywhere, where }: Acts) {
  const byValue = [...new Map(found.toReversed().map(each => [each.value, each])).values()].toReversed()
  const first = byValue.toSorted((a, b) => identityRank(a) - identityRank(b)).slice(0, mostIdentities)
  const items = first.map(({ path, value }) => {
    const press = () => everywhere(searchFor(String(value)))
    return el(
      'li',
      {},
      el('span', { class: 'name', title: path }, nameOf({ path })),
      el('span', { class: 'value' }, String(value)),
      button(`All entries with this value ${where}`, press, { title: path }),
    )
  })
  return items.length > 0 && el('ul', { class: 'identities' }, ...items)
}

const mostIdentities = 3

/** A time is found by its digits, which a search by text does not read, a truth in every entry. */
function isSought(path: string, value: Scalar, shape: Shape, acts: Acts): boolean {
  const isText = /^(STRING|JSON|INT64|NUMERIC)$/.test(fieldAt(shape, path)?.type ?? '')
  return isText && value !== null && value !== '' && !isHidden(value, acts)
}

function isHidden(value: Scalar, { redacted }: Acts): boolean {
  return redacted && redactedText.test(String(value))
}

function actsOf(path: string, value: Scalar, shape: Shape, acts: Acts): HTMLElement {
  const field = fieldAt(shape, path)
  const known = field !== null
  const isFound = !isHidden(value, acts)
  // JSON itself is compared by its text.
  const compared = field?.type === 'JSON' ? JSON.stringify(value) : value
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
    isSought(path, value, shape, acts) &&
      act('all entries', `All entries with this value ${acts.where}:`, () =>
        acts.everywhere(searchFor(String(value))),
      ),
    copyButton('copy', () => String(value), `Copy ${path}`),
  )
}
