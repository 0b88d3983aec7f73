/**
 * The rows of the logs view, in blocks. The browser leaves out of its work the blocks that are out of sight
 * (`content-visibility`), so that ten thousand rows stay smooth, wrapped or not; a block is drawn again only where it changes.
 */
import { Button, drag, useNear } from '../controls.tsx'
import { useSignal } from '@preact/signals'
import type { RefObject, TargetedPointerEvent } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { readItem, writeItem } from '../local-storage.ts'
import { now } from '../service.ts'
import { gist, isNested } from '../value.ts'
import { Marked } from '../value.tsx'
import { hitsOf } from './hits.ts'
import { placeOf } from './initial-state.ts'
import { shown, timeIn } from './range.ts'
import {
  type Column,
  columnsOf,
  keyOf,
  type TimeFormat,
  timeFormatOf,
  timeLength,
  timeOf,
  timeText,
} from './rows.ts'
import { tableColumn } from './shape.ts'
import { sortedBy, type State } from './state.ts'
import type { Block, Store } from './store.ts'
import { severityIn } from './values.ts'
import { type Zone, zoneName } from './zone.ts'

export function RowList({ store, wrap, more }: { store: Store; wrap: boolean; more(): void }) {
  const { found, rows, reading, isOld } = store
  const element = useRef<HTMLDivElement>(null)
  const asked = found.value?.state ?? null
  const shape = store.shapeOf(asked?.table ?? store.state.value.table)
  const columns = useMemo(() => columnsOf(shape, asked), [shape, asked])
  const format = useFormat(store)
  const hits = useMemo(() => hitsOf(asked?.search ?? ''), [asked])
  const marks = useNeighbours(store, columns)
  const { zone } = store.state.value
  useLayoutEffect(() => void (element.current!.scrollTop = 0), [asked])
  useRevealed(store, element)
  const open = (row: Row) => {
    if (String(getSelection()) !== '' || isOld.value) return
    store.active.value = row
    store.change({ row: keyOf(row, store.shape.value) })
  }
  const active = store.active.value
  return (
    <div ref={element} class={`rows${wrap ? ' wrap' : ''}`} tabIndex={-1}>
      <Grid store={store} columns={columns} asked={asked} format={format}>
        <div class="blocks" role="presentation" inert={isOld.value}>
          {found.value?.blocks.map((block, i) => (
            <Rows
              key={idOf(block)}
              block={block}
              columns={columns}
              zone={zone}
              format={format}
              hits={hits}
              active={active && block.rows.includes(active) ? active : null}
              isFirst={i === 0 && !active}
              before={block.rows.includes(marks.before!) ? marks.before : null}
              after={block.rows.includes(marks.after!) ? marks.after : null}
              open={open}
            />
          ))}
        </div>
      </Grid>
      {rows.value.length === 0 && reading.value === 'run' && <Skeleton />}
      <End text={endOf(store)} root={element} count={rows.value.length} more={more} />
    </div>
  )
}

/** Where rows will be. */
function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: 40 }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  )
}

const ids = new WeakMap<Block, number>()
let blocks = 0

/** A block keeps its element while others come before it. */
function idOf(block: Block): number {
  const id = ids.get(block) ?? ++blocks
  ids.set(block, id)
  return id
}

/** Among all tables, those before and behind the active row in its own one say so. */
function useNeighbours({ rows, active, found }: Store, columns: Column[]) {
  return useMemo(() => {
    const none = { before: null as Row | null, after: null as Row | null }
    const state = found.value?.state
    if (!active.value || !state || state.sort !== '' || columns.every(({ kind }) => kind !== 'table'))
      return none
    const [at, own] = [rows.value.indexOf(active.value), active.value[tableColumn]]
    const isOwn = (row: Row) => row[tableColumn] === own
    const [above, below] = [rows.value.slice(0, at).findLast(isOwn), rows.value.slice(at + 1).find(isOwn)]
    const [before, after] = state.ascending ? [above, below] : [below, above]
    return { before: before ?? null, after: after ?? null }
  }, [rows.value, active.value, columns])
}

/** How the times are shown: the same object as long as it is alike, as all rows are drawn by it. */
function useFormat(store: Store): TimeFormat {
  const { rows, found, range, state } = store
  const shape = store.shapeOf(found.value?.state.table ?? state.value.table)
  const times = useMemo(() => rows.value.map(row => timeOf(row, shape)), [rows.value, shape])
  const { zone } = state.value
  const format = () => timeFormatOf(times, range.value, zone, now())
  const { hasDay, digits } = useMemo(format, [times, range.value, zone])
  return useMemo(() => ({ hasDay, digits }), [hasDay, digits])
}

/** The active row comes into sight, and has the focus, where a key or a link has chosen it and nobody writes elsewhere. */
function useRevealed({ active }: Store, element: { current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const made = active.value && element.current!.querySelector<HTMLElement>('[aria-selected=true]')
    made?.scrollIntoView({ block: 'nearest' })
    if (!document.activeElement?.matches('input, select, dialog *')) made?.focus({ preventScroll: true })
  }, [active.value])
}

interface RowsProps {
  block: Block
  columns: Column[]
  zone: Zone
  format: TimeFormat
  hits: RegExp | null
  active: Row | null
  /** Whether keys reach its first row. */
  isFirst: boolean
  /** Those of the active row's table beside it. */
  before: Row | null
  after: Row | null
  open(row: Row): void
}

/** Drawn again only where one of these is another. */
function Rows({ open, ...shown }: RowsProps) {
  return useMemo(() => <RowsOf {...shown} open={open} />, Object.values(shown))
}

function RowsOf({ block, columns, zone, format, hits, active, isFirst, before, after, open }: RowsProps) {
  return (
    <div class="block" role="rowgroup">
      {block.rows.map((row, i) => (
        <div
          class={`row${block.isNew ? ' new' : ''}`}
          role="row"
          tabIndex={row === active || (isFirst && i === 0) ? 0 : -1}
          aria-selected={row === active || undefined}
          onClick={() => open(row)}>
          {columns.map(column => (
            <Cell
              value={row[column.name] ?? null}
              column={column}
              zone={zone}
              format={format}
              hits={column.isSearched ? hits : null}
              said={row === before ? 'before' : row === after ? 'after' : ''}
              table={row[tableColumn] ?? ''}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

interface CellProps {
  value: Value
  column: Column
  zone: Zone
  format: TimeFormat
  hits: RegExp | null
  /** Where it stands to the active row; empty = nowhere. */
  said: string
  table: Value
}

function Cell({ value, column: { kind, title }, zone, format, hits, said, table }: CellProps) {
  const severity = kind === 'severity' ? ` severity-${severityIn(value)}` : ''
  const text = kind === 'time' ? timeText(Number(value), zone, format) : textOf(value, zone)
  return (
    // Its name stands before it where there are no headings.
    <span
      role="gridcell"
      class={`cell cell-${kind}${severity}`}
      title={kind === 'time' ? shown(Number(value), zone) : undefined}
      data-name={kind === 'value' ? `${title} ` : undefined}>
      {kind === 'message' && said && (
        <span class="neighbour" title={`The entry ${said} it in ${gist(table)}`}>
          {said}, same table
        </span>
      )}
      <Marked text={text} hits={hits} />
    </span>
  )
}

function textOf(value: Value, zone: Zone): string {
  if (value === null) return ''
  return isNested(value) ? gist(value) : (timeIn(value, zone)?.text ?? gist(value))
}

interface GridProps {
  store: Store
  columns: Column[]
  asked: State | null
  format: TimeFormat
  children: preact.ComponentChildren
}

/** The headings, and how wide the columns are, as this device keeps it. */
function Grid({ store, columns, asked, format, children }: GridProps) {
  const place = `widths ${placeOf(store.endpoint, asked?.table ?? '')}`
  const changed = useSignal(0)
  void changed.value // as this device keeps no signal
  const own = (readItem(place) as Record<string, number> | null) ?? {}
  // The message keeps two fifths, and where there is little room the names of tables give way to it.
  const time = `calc(${timeLength(format)}ch + 1.2rem)`
  const widths = { time, table: '12.2em', severity: '6.8em', message: 'max(9em, 40cqi)', value: '11em' }
  const least = { ...widths, table: '7em' }
  const sizes = columns.map(({ path, kind }) => (own[path] ? `${own[path]}px` : least[kind]))
  const shares = columns.map(({ kind, path }, i) => {
    const size = sizes[i]!
    return `minmax(${size}, ${kind === 'message' ? '1fr' : own[path] ? size : widths[kind]})`
  })
  const widen = (path: string, width: number) => {
    writeItem(place, { ...own, [path]: width })
    changed.value++
  }
  return (
    <div
      role="grid"
      aria-label="Log entries"
      class="grid"
      style={{ '--columns': shares.join(' '), '--least': `calc(${['0px', ...sizes].join(' + ')})` }}>
      <div role="rowgroup" class="heads">
        {/* Above no rows it says nothing. */}
        <div class="row head" role="row" hidden={store.rows.value.length === 0}>
          {asked &&
            columns.map(column => (
              <Heading key={column.path} column={column} asked={asked} store={store} widen={widen} />
            ))}
        </div>
      </div>
      {children}
    </div>
  )
}

interface HeadingProps {
  column: Column
  asked: State
  store: Store
  widen(path: string, width: number): void
}

/** A press sorts, a drag of the edge widens. */
function Heading({ column, asked, store, widen }: HeadingProps) {
  const { path, kind, name } = column
  const element = useRef<HTMLSpanElement>(null)
  const isSorted = asked.sort === path || (asked.sort === '' && kind === 'time')
  const title = column.isMoment ? `${column.title} (${zoneName(store.state.value.zone)})` : column.title
  const press = (event: TargetedPointerEvent<HTMLElement>) => {
    const part = element.current!
    const before = part.offsetWidth
    const width = (by: number) => Math.max(48, Math.round(before + by))
    const done = (by: number) => {
      part.style.width = ''
      widen(path, width(by))
    }
    drag(event, by => (part.style.width = `${width(by)}px`), done)
  }
  const sort = () => store.change(sortedBy(store.state.value, kind === 'time' ? '' : path))
  return (
    <span
      ref={element}
      role="columnheader"
      class={`cell cell-${kind}`}
      aria-sort={isSorted ? (asked.ascending ? 'ascending' : 'descending') : undefined}>
      {kind === 'time' || kind === 'value' ? (
        <Button title={path} press={sort}>
          <span>{title}</span>
          {isSorted && (asked.ascending ? ' ↑' : ' ↓')}
        </Button>
      ) : (
        <span>{title}</span>
      )}
      {kind === 'value' && (
        <Button class="remove" aria-label={`Remove the column ${name}`} press={() => store.column(path)}>
          ×
        </Button>
      )}
      {kind !== 'message' && <i class="grip" aria-hidden="true" onPointerDown={press} />}
    </span>
  )
}

interface EndProps {
  text: string
  root: RefObject<HTMLElement | null>
  count: number
  more(): void
}

/** Below the rows. While it is near, older ones are asked for: after a page it may still be in sight. */
function End({ text, root, count, more }: EndProps) {
  const element = useRef<HTMLParagraphElement>(null)
  useNear(element, root, more, [count, more])
  return (
    <p class="rows-end" ref={element}>
      {text}
    </p>
  )
}

function endOf({ rows, found, reading, problem, olderProblem, total }: Store): string {
  const count = rows.value.length
  if (count === 0) return ''
  if (reading.value === 'run') return 'Rows are on their way; these are of the run before.'
  if (problem.value === 'stopped') return 'Stopped; these rows are of the run before.'
  if (olderProblem.value !== '') return olderProblem.value
  const many = count.toLocaleString('en')
  if (found.value!.isAll)
    return count === 1 ? 'The one row of this range.' : `All ${many} rows of this range.`
  const of = total.value === null ? '' : ` of ${total.value.toLocaleString('en')}`
  return `${many} rows${of}; older ones load as you scroll.`
}
