/** The open entry beside the rows: all of it as a tree, the next one, and the entries around it. */
import { Button, Copy, drag, SearchField } from '../controls.tsx'
import { type Signal, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from '../icon.tsx'
import { readItem, writeItem } from '../local-storage.ts'
import { Failure } from '../problem.tsx'
import { type Entries, plain } from './entries.ts'
import { hitsOf } from './hits.ts'
import { keyOf } from './rows.ts'
import { everyTable, type Scalar } from './state.ts'
import type { Store } from './store.ts'
import type { Row } from '../../../shared/engines/engine.ts'
import { type IsJson, type Node, childrenOf, isNested, nodesOf } from '../value.ts'
import { Tree } from '../value.tsx'
import { searchFor } from './conditions.ts'
import { redactedText } from './bars.ts'
import { type Shape, fieldAt, identitiesIn, isNumber, nameOf } from './shape.ts'

interface Props {
  store: Store
  entries: Entries
  /** Shows the values of a field, with their counts. */
  values(path: string): void
}

export function Entry({ store, entries, values }: Props) {
  const { opened, problem, isReading } = entries
  const find = useSignal('')
  useEffect(() => void (!entries.isOpen.value && (find.value = '')), [entries.isOpen.value])
  const width = useSignal(readItem('entry width') as number | null)
  const entry = opened.value?.entry
  return (
    <>
      <Divider width={width} isOpen={entries.isOpen.value} />
      <aside
        class="beside-rows"
        aria-label="Entry"
        hidden={!entries.isOpen.value}
        style={{ '--entry': width.value && `${width.value}px` }}>
        <div class="entry-acts">
          <Button aria-label="Close the entry" press={() => store.change({ row: '' })} title="Close (Esc)">
            <Icon name="close" />
          </Button>
          <Step store={store} name="Newer" icon="up" />
          <Step store={store} name="Older" icon="down" />
          <Button press={entries.around}>Entries around</Button>
          <Copy name="Copy link" text={() => location.href} />
          <Copy
            name="Copy JSON"
            text={() => JSON.stringify(entry, null, 2)}
            disabled={isReading.value || !entry}
          />
          <SearchField label="Find in this entry" text={find} />
        </div>
        {/* The last entry, until this one is there. */}
        <div inert={isReading.value}>
          {problem.value && <Failure error={problem.value} />}
          {problem.value || !opened.value ? (
            !isReading.value && <Button press={entries.read}>Read the entry</Button>
          ) : entry ? (
            <Details store={store} {...opened.value} entry={entry} values={values} find={find.value} />
          ) : (
            <p class="hint">This entry is not there any more.</p>
          )}
        </div>
      </aside>
    </>
  )
}

/** Between rows and entry: moved by pointer and arrow keys; a double press takes it back. The device keeps it. */
function Divider({ width, isOpen }: { width: Signal<number | null>; isOpen: boolean }) {
  const element = useRef<HTMLDivElement>(null)
  const [least, most] = [320, innerWidth - 320]
  const shown = () => (element.current!.nextElementSibling as HTMLElement).offsetWidth
  const set = (to: number | null) => {
    width.value = to && Math.round(Math.min(most, Math.max(least, to)))
    writeItem('entry width', width.value)
  }
  const press = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const before = shown()
    const move = (by: number) => by !== 0 && set(before - by)
    drag(event, move, move)
  }
  const key = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const to = { ArrowLeft: shown() + 32, ArrowRight: shown() - 32, Home: most, End: least }[event.key]
    if (to === undefined) return
    event.preventDefault()
    set(to)
  }
  return (
    <div
      ref={element}
      class="divider"
      role="separator"
      tabIndex={0}
      aria-label="Width of the entry"
      aria-orientation="vertical"
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={width.value ?? Math.round(innerWidth * 0.38)}
      title="Drag, or use the arrow keys; a double click takes it back"
      hidden={!isOpen}
      onPointerDown={press}
      onDblClick={() => set(null)}
      onKeyDown={key}
    />
  )
}

/** There is no next one at the ends of the rows, nor of an entry that is not among them. */
function Step({ store, name, icon }: { store: Store; name: 'Newer' | 'Older'; icon: IconName }) {
  const by = (name === 'Older') === store.state.value.ascending ? -1 : 1
  const next = store.active.value && store.beside(by)
  return (
    <Button
      aria-label={name}
      title={`${name} (${by > 0 ? 'j' : 'k'})`}
      disabled={!next || store.isOld.value}
      press={() => step(store, by)}>
      <Icon name={icon} />
    </Button>
  )
}

/** Moves by one row; the entry follows where it is open. */
export function step(store: Store, by: 1 | -1): void {
  const row = store.beside(by)
  if (!row) return
  store.active.value = row
  if (store.state.value.row !== '') store.change({ row: keyOf(row, store.shape.value) })
}

export function openActive(store: Store): void {
  const { active, isOld, shape } = store
  if (active.value && !isOld.value) store.change({ row: keyOf(active.value, shape.value) })
}

/** An entry, with all its columns, of which the list shows some. */
interface Of extends Pick<Props, 'store' | 'values'> {
  entry: Row
  shape: Shape
  redacted: boolean
}

/** @param find shows the fields alone that have it in their path or in their value */
function Details({ find, ...of }: Of & { find: string }) {
  const { store, entry, shape } = of
  const { search, scope, zone } = store.state.value
  const hits = hitsOf(search)
  const isJson = (path: string) => fieldAt(shape, path)?.type === 'JSON'
  return (
    <div class="tree" tabIndex={0} role="region" aria-label="Fields of the entry">
      <Identities {...of} isJson={isJson} />
      <Tree
        row={entry}
        depth={Infinity}
        zone={zone}
        isJson={isJson}
        find={find}
        hits={path => (scope === 'entry' || path === shape.message.path ? hits : null)}
        acts={(path, value) => <LeafActs {...of} path={path} value={value} />}
      />
    </div>
  )
}

/** Which request it is, or who: a press shows what else is known of these. */
function Identities({ isJson, ...of }: Of & { isJson: IsJson }) {
  const leaves = (node: Node): Node[] => {
    const children = childrenOf(node, isJson)
    return children.length > 0 ? children.flatMap(leaves) : isNested(node.value) ? [] : [node]
  }
  const values = nodesOf(of.entry, isJson)
    .flatMap(leaves)
    .map(({ path, value }) => ({ path, value: value as Scalar }))
    .filter(({ path, value }) => isSought(path, value, of))
  const first = identitiesIn(values)
  if (first.length === 0) return null
  return (
    <ul class="identities">
      {first.map(({ path, value, isOfRequest }) => (
        <li key={path}>
          <span class="name" title={path}>
            {nameOf({ path })}
          </span>
          <span class="value">{String(value)}</span>
          <Button title={path} press={() => everywhere(of.store, value)}>
            {isOfRequest ? 'Show all of this request' : 'All entries with this value'} {whereOf(of.store)}
          </Button>
        </li>
      ))}
    </ul>
  )
}

/** Shows all entries that have the value, in any field. */
function everywhere(store: Store, value: Scalar): void {
  const search = searchFor(String(value))
  if (store.hasAllTables) store.toTable(everyTable, { ...plain, search })
  else store.change({ ...plain, search, scope: 'entry' })
}

function whereOf({ hasAllTables }: Store): string {
  return hasAllTables ? 'in all tables' : 'in any field'
}

/** A time is found by its digits, which a search by text does not read, a truth in every entry. */
function isSought(path: string, value: Scalar, of: Of): boolean {
  const isText = /^(STRING|JSON|INT64|NUMERIC)$/.test(fieldAt(of.shape, path)?.type ?? '')
  return isText && value !== null && value !== '' && !isHidden(value, of)
}

function isHidden(value: Scalar, { redacted }: Of): boolean {
  return redacted && redactedText.test(String(value))
}

function LeafActs({ path, value, ...of }: Of & { path: string; value: Scalar }) {
  const { store, shape } = of
  const field = fieldAt(shape, path)
  const canFilter = field !== null && !isHidden(value, of)
  const isOrdered = canFilter && value !== null && (isNumber(field) || field.type === 'TIMESTAMP')
  // JSON itself is compared by its text.
  const compared = field?.type === 'JSON' ? JSON.stringify(value) : value
  const filter = (operator: '=' | '!=' | '>=' | '<=') => () =>
    store.filter({ path, operator, value: compared })
  const act = (name: string, words: string, press: () => void) => (
    <Button label={`${words} ${path}`} press={press}>
      {name}
    </Button>
  )
  return (
    <span class="leaf-acts">
      {canFilter && act('=', 'Filter for', filter('='))}
      {canFilter && act('≠', 'Filter out', filter('!='))}
      {isOrdered && act('≥', 'Filter for this or more of', filter('>='))}
      {isOrdered && act('≤', 'Filter for this or less of', filter('<='))}
      {field && act('column', 'Column of', () => store.column(path))}
      {field && act('values', 'Values of', () => of.values(path))}
      {isSought(path, value, of) &&
        act('all entries', `All entries with this value ${whereOf(store)}:`, () => everywhere(store, value))}
      <Copy name="copy" title={`Copy ${path}`} aria-label={`Copy ${path}`} text={() => String(value)} />
    </span>
  )
}
