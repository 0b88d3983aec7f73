/**
 * Rows as a table that stays quick with thousands: a block of rows is drawn as it comes near, and the browser leaves out of
 * its work those out of sight. A row is one line high, and opens into all its fields.
 */
import { type Signal, useComputed, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { isTimeColumn, timeText } from '../../shared/answers/times.ts'
import type { Row, Value } from '../../shared/engines/engine.ts'
import { useNear } from './controls.tsx'
import { columnsOf, gist, isNested } from './value.ts'
import { Leaf, Tree } from './value.tsx'

const rowHeight = 34 // as in results.css
const blockOf = 25

/** The row that Tab stops at; from there, arrows go from row to row, and the focus with them. */
interface Active {
  row: number
  byKey: boolean
}

interface Props {
  rows: Row[]
  /** What screen readers call the table. */
  label: string
}

/** The columns are those of the first row. */
export function Table({ rows, label }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const columns = useMemo(() => columnsFor(rows), [rows])
  const active = useSignal<Active>({ row: 0, byKey: false })
  const move = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const [at, last] = [active.value.row, rows.length - 1]
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key]
    if (to === undefined || !(event.target instanceof HTMLButtonElement)) return
    event.preventDefault()
    active.value = { row: Math.max(0, Math.min(last, to)), byKey: true }
  }
  const tracks = columns.map(({ width, grows }) => (grows ? `minmax(0, ${width}fr)` : `${width}ch`))
  const width = `calc(${columns.reduce((sum, column) => sum + column.width, 0)}ch + 2.4rem)`
  return (
    <div class="table" role="region" aria-label={label} tabIndex={0} ref={frame}>
      <div
        role="table"
        aria-rowcount={rows.length + 1}
        aria-label={label}
        style={{ width, '--columns': `2.4rem ${tracks.join(' ')}` }}
        onKeyDown={move}>
        <div class="heads" role="rowgroup">
          <div class="head" role="row">
            <span role="columnheader">
              <span class="unseen">Open</span>
            </span>
            {columns.map(({ name, isNumber, isMoment }) => (
              <span key={name} role="columnheader" class={isNumber ? 'number' : undefined} title={name}>
                {name}
                {isMoment && <span class="zone"> UTC</span>}
              </span>
            ))}
          </div>
        </div>
        {Array.from({ length: Math.ceil(rows.length / blockOf) }, (_, i) => (
          <Block key={i} first={i * blockOf} rows={rows} columns={columns} frame={frame} active={active} />
        ))}
      </div>
    </div>
  )
}

interface BlockProps {
  first: number
  rows: Row[]
  columns: Column[]
  frame: { current: HTMLElement | null }
  active: Signal<Active>
}

/** Drawn once it is or was near, or is gone to by a key; the first one at once, not a frame later. */
function Block({ first, rows, columns, frame, active }: BlockProps) {
  const element = useRef<HTMLDivElement>(null)
  const isNear = useSignal(first === 0)
  useNear(element, frame, () => (isNear.value = true), [])
  const hasActive = useComputed(() => active.value.row - (active.value.row % blockOf) === first)
  const isDrawn = isNear.value || hasActive.value
  const own = rows.slice(first, first + blockOf)
  return (
    <div
      ref={element}
      class="block"
      role="rowgroup"
      style={isDrawn ? undefined : { height: `${rowHeight * own.length}px` }}>
      {isDrawn &&
        own.map((row, i) => <Line key={i} row={row} index={first + i} columns={columns} active={active} />)}
    </div>
  )
}

interface LineProps {
  row: Row
  index: number
  columns: Column[]
  active: Signal<Active>
}

function Line({ row, index, columns, active }: LineProps) {
  const isOpen = useSignal(false)
  const button = useRef<HTMLButtonElement>(null)
  const isActive = useComputed(() => active.value.row === index).value
  useLayoutEffect(() => {
    if (isActive && active.value.byKey) button.current!.focus()
  }, [isActive])
  const press = () => {
    if (String(getSelection()) === '') isOpen.value = !isOpen.value
  }
  return (
    <>
      <div class="line" role="row" aria-rowindex={index + 2} onClick={press}>
        <span role="cell">
          <button
            type="button"
            ref={button}
            tabIndex={isActive ? 0 : -1}
            aria-expanded={isOpen}
            aria-label={`Row ${index + 1}, all fields`}
            onFocus={() => (active.value = { row: index, byKey: false })}
          />
        </span>
        {columns.map(({ name, isNumber }) => (
          <span key={name} role="cell" class={isNumber ? 'number' : undefined}>
            <Short value={row[name] ?? null} />
          </span>
        ))}
      </div>
      {isOpen.value && (
        <div role="row">
          <div class="detail tree" role="cell">
            <Tree row={row} depth={1} zone="UTC" />
          </div>
        </div>
      )}
    </>
  )
}

function Short({ value }: { value: Value }) {
  if (isNested(value)) return <span class="gist">{gist(value)}</span>
  const isText = typeof value === 'string' && timeText(value) === null
  return isText ? <>{value.slice(0, 300)}</> : <Leaf value={value} />
}

interface Column {
  name: string
  /** In characters. */
  width: number
  /** Texts take the room that is left, so that numbers stand beside what they belong to. */
  grows: boolean
  isNumber: boolean
  /** Whether its values are times in UTC. */
  isMoment: boolean
}

/** Widths come from the first rows and then hold, so that the table does not move while it scrolls. */
function columnsFor(rows: Row[]): Column[] {
  const sample = rows.slice(0, 100)
  return columnsOf(rows).map(name => {
    const values = sample.map(row => row[name] ?? null)
    const filled = values.filter(value => value !== null)
    const time = isTimeColumn(sample, name)
    const isMoment = time?.isMoment ?? false
    const isNumber = !time && filled.length > 0 && filled.every(value => typeof value === 'number')
    const longest = Math.max(
      name.length + (isMoment ? 4 : 0),
      ...values.map(value => shortText(value).length),
    )
    return {
      name,
      width: Math.min(56, Math.max(6, longest)) + 3,
      grows: !time && !isNumber,
      isNumber,
      isMoment,
    }
  })
}

function shortText(value: Value): string {
  return isNested(value) ? gist(value) : (timeText(value) ?? String(value)).slice(0, 60)
}
