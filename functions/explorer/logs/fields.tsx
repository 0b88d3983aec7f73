/** The fields of the table, and the values of the one that is looked at. */
import { Button, SearchField } from '../controls.tsx'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { amount, unitOf } from '../series.ts'
import { mostValues, none, rowsText, type Statistics, type Top } from './bars.ts'
import { byRise, differenceText, riseText, shareText } from './compare.ts'
import { fieldsOf, type Named, namesOf, spreadOf, unitOfMeasure } from './measure.ts'
import { MeasureMenu, RankMenu } from './measure-menus.tsx'
import { shown } from './range.ts'
import { nameOf } from './shape.ts'
import { filterText } from './state.ts'
import type { Store } from './store.ts'
import type { Zone } from './zone.ts'

const fewValues = 10

export function Fields({ store, hidden, close }: { store: Store; hidden: boolean; close(): void }) {
  const search = useSignal('')
  /** The field that has all its values shown. */
  const whole = useSignal('')
  const place = useRef<HTMLElement>(null)
  const { state, shape } = store
  const { by } = state.value
  const top = topOf(store)
  useEffect(() => void (by !== whole.value && (whole.value = '')), [by])
  useEffect(() => {
    const open = place.current!.querySelector<HTMLElement>('li:has(.top)')
    const isTall = open && open.offsetHeight > place.current!.clientHeight
    if (top) open?.scrollIntoView({ block: isTall ? 'start' : 'nearest' })
  }, [by, top === null])
  const sought = search.value.toLowerCase()
  const found = namesOf(fieldsOf(shape.value, state.value)).filter(({ field }) =>
    field.path.toLowerCase().includes(sought),
  )
  return (
    <aside ref={place} class="fields-panel" aria-label="Fields" hidden={hidden}>
      <div class="fields-head">
        <Button class="close-fields" press={close}>
          Close the fields
        </Button>
        <SearchField label="Find a field" text={search} />
      </div>
      <ul>
        {found.map(named => (
          <Item key={named.field.path} named={named} store={store} top={top} whole={whole} />
        ))}
      </ul>
    </aside>
  )
}

/** The values of the state's field; `null` = they are on their way. */
function topOf({ chart }: Store): Top[] | null {
  return chart.isRunning.value ? null : (chart.answer.value?.data?.top ?? [])
}

interface ItemProps {
  named: Named
  store: Store
  top: Top[] | null
  whole: Signal<string>
}

function Item({ named, ...rest }: ItemProps) {
  const { path, type } = named.field
  const { store } = rest
  const open = store.state.value.by === path
  return (
    <li>
      <Button
        class="field-name"
        aria-expanded={open}
        title={`${path}: ${type}`}
        press={() => store.change({ by: open ? '' : path })}>
        {named.name}
        <small>{named.above}</small>
      </Button>
      {open && <Values named={named} {...rest} />}
    </li>
  )
}

function Values({ named: { field }, store, top, whole }: ItemProps) {
  const { path, type } = field
  const { state, shape } = store
  const isRanked = state.value.compare !== '' && state.value.rank === 'rise'
  const all = isRanked ? byRise(top ?? []) : (top ?? [])
  const isWhole = whole.value === path
  const few = isWhole ? all : all.filter(({ value }, i) => i < fewValues || value === null)
  const most = Math.max(1e-9, ...all.map(({ entries }) => entries))
  const unit = unitOfMeasure(state.value.measure, shape.value)
  const total = store.total.value ?? 0
  const statistics = top && store.chart.answer.value?.data?.statistics
  return (
    <div class="top">
      {type !== 'JSON' && (
        <div class="measure">
          <span>Show</span>
          <MeasureMenu label="Show of each value" store={store} />
        </div>
      )}
      {state.value.compare !== '' && (
        <div class="measure">
          <RankMenu store={store} />
        </div>
      )}
      {typeof statistics === 'string' && <p class="hint">{statistics}</p>}
      {statistics && typeof statistics === 'object' && (
        <Numbers
          of={statistics}
          unit={unitOf(nameOf(field))}
          filter={value => store.filter({ path, operator: '>=', value })}
        />
      )}
      {top === null ? (
        <p class="hint">Counting …</p>
      ) : (
        <ol>
          {few.map(each => (
            <Value
              key={String(each.value)}
              top={each}
              path={path}
              unit={unit}
              most={most}
              total={total}
              store={store}
            />
          ))}
        </ol>
      )}
      {!isWhole && few.length < all.length && (
        <Button class="quiet" title="More values" press={() => (whole.value = path)}>
          More
        </Button>
      )}
      {isWhole && all.length >= mostValues && <p class="hint">The first {mostValues}.</p>}
      <Button class="quiet" press={() => store.column(path)}>
        {state.value.columns.includes(path) ? 'Remove the column' : 'Show as column'}
      </Button>
    </div>
  )
}

const bins = 24

interface NumbersProps {
  of: Statistics
  unit: string
  /** Shows the rows with such a value or a higher one. */
  filter(least: number): void
}

/** The amounts of a number field, each of them a filter, and how they are spread up to the 99th percentile. */
function Numbers({ of, unit, filter }: NumbersProps) {
  const { least, most, average, percentiles, counted } = of
  const named = [
    ['min', least],
    ['median', percentiles[50]!],
    ['p95', percentiles[95]!],
    ['max', most],
    ['average', average],
  ] as const
  const spread = spreadOf(percentiles, bins)
  const highest = Math.max(...spread)
  return (
    <div class="numbers" title={`of ${counted.toLocaleString('en')} values`}>
      <svg viewBox={`0 0 ${bins} 10`} preserveAspectRatio="none" aria-hidden="true">
        {spread.map((share, i) => (
          <rect x={i + 0.05} width={0.9} y={10 - (10 * share) / highest} height={(10 * share) / highest} />
        ))}
      </svg>
      <dl>
        {named.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Button
                class="quiet"
                title={`Filter for at least ${amount(value, unit)}`}
                // The other figures are values of rows, and stay exact: fewer digits could leave out that row.
                press={() => filter(name === 'average' ? Number(value.toPrecision(6)) : value)}>
                {amount(value, unit)}
              </Button>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

interface ValueProps {
  top: Top
  path: string
  unit: string
  /** The largest amount of all. */
  most: number
  /** Rows of the range. */
  total: number
  store: Store
}

function Value({ top, path, unit, most, total, store }: ValueProps) {
  const { value, isRedacted, isName, entries, counted, before, first, last } = top
  const changeText = store.state.value.rank === 'rise' ? riseText : differenceText
  // A field inside JSON is looked at in its turn.
  const into = () => store.change({ by: `${path}.${String(value)}` })
  if (isName)
    return (
      <li>
        <Amount text={String(value)} title="Look into it" press={into} amount={amount(entries)} />
      </li>
    )
  const text = value === null ? none : String(value)
  const filter = (operator: '=' | '!=') => () => store.filter({ path, operator, value })
  return (
    <li>
      <Amount
        text={text}
        seen={first === undefined || last === undefined ? '' : seenText(first, last, store.state.value.zone)}
        title={isRedacted ? 'Redacted: no row is found by it' : `Filter for ${text}`}
        press={isRedacted ? null : filter('=')}
        amount={amount(entries, unit)}
        share={counted === undefined ? shareText(entries, total) : ''}
        change={before === undefined ? '' : changeText(entries, before, unit)}
        rows={counted}
      />
      {!isRedacted && (
        <span class="row-acts">
          <Button
            label={`Share of ${text}`}
            title={`Share of ${text} in all rows, over time`}
            press={() =>
              store.change({ measure: `share:${filterText({ path, operator: '=', value })}`, by: '' })
            }>
            %
          </Button>
          <Button label={`Filter out ${text}`} press={filter('!=')}>
            ≠
          </Button>
        </span>
      )}
      <i class="top-bar" aria-hidden="true" style={{ width: `${(100 * entries) / most}%` }} />
    </li>
  )
}

/** `14:48:11 to 15:33:01`, with the days where they differ. */
function seenText(first: number, last: number, zone: Zone): string {
  const [from, to] = [first, last].map(time => shown(time, zone, 0)) as [string, string]
  const isOneDay = from.slice(0, 10) === to.slice(0, 10)
  const [start, end] = [from, to].map(time => time.slice(isOneDay ? 11 : 5))
  return start === end ? start! : `${start} to ${end}`
}

interface AmountProps {
  text: string
  /** When it was there. */
  seen?: string
  title: string
  press: (() => void) | null
  amount: string
  share?: string
  change?: string
  rows?: number | undefined
}

function Amount({ text, seen = '', title, press, amount, share = '', change = '', rows }: AmountProps) {
  return (
    <Button class="top-value" title={title} press={press}>
      <span>{text}</span>
      <b>
        {amount}
        {share && <small class="change">{share}</small>}
        {change && <small class="change">{change}</small>}
        {rows !== undefined && <small>{rowsText(rows)}</small>}
      </b>
      {seen && <small>{seen}</small>}
    </Button>
  )
}
