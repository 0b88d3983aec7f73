/** The open entry beside the rows: its tree, the next one, and the entries around it. */
import { Button, Copy } from '../controls.tsx'
import { type Signal, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { drag } from '../drag.ts'
import { Icon, type IconName } from '../icon.tsx'
import { readItem, writeItem } from '../local-storage.ts'
import { Failure } from '../problem.tsx'
import { Details } from './details.tsx'
import { type Entries, plain } from './entries.ts'
import { hitsOf } from './hits.ts'
import { keyOf } from './rows.ts'
import { everyTable, type Filter } from './state.ts'
import type { Store } from './store.ts'

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
  const isEverywhere = store.hasAllTables
  const { search, scope, zone } = store.state.value
  const hits = hitsOf(search)
  const shape = opened.value?.shape ?? store.shape.value
  const acts = {
    filter: (filter: Filter) => store.filter(filter),
    column: (path: string) => store.column(path),
    values,
    everywhere: (search: string) =>
      isEverywhere
        ? void store.toTable(everyTable, { ...plain, search })
        : store.change({ ...plain, search, scope: 'entry' }),
    where: isEverywhere ? 'in all tables' : 'in any field',
    redacted: opened.value?.redacted ?? false,
    zone,
    hits: (path: string) => (scope === 'entry' || path === shape.message.path ? hits : null),
  }
  const width = useSignal(readItem('entry width') as number | null)
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
            text={() => JSON.stringify(opened.value!.entry, null, 2)}
            disabled={isReading.value || !opened.value?.entry}
          />
          <input
            type="search"
            placeholder="Find in this entry"
            aria-label="Find in this entry"
            value={find}
            onInput={({ currentTarget }) => (find.value = currentTarget.value)}
          />
        </div>
        {/* The last entry, until this one is there. */}
        <div inert={isReading.value}>
          {problem.value ? (
            <Failure error={problem.value} />
          ) : opened.value?.entry ? (
            <Details entry={opened.value.entry} shape={opened.value.shape} acts={acts} find={find.value} />
          ) : (
            opened.value && <p class="hint">This entry is not there any more.</p>
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
