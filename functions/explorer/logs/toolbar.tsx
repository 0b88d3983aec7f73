/** The bar above the rows: what is asked, in one line. Menus act at once; text waits for Enter or Run. */
import { useComputed, useSignal } from '@preact/signals'
import type { RefObject, TargetedEvent } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button, Menu, SearchedMenu, Select, TextInput } from '../controls.tsx'
import type { Choices } from '../choices.ts'
import { Icon } from '../icon.tsx'
import { now, type Parameter, parametersOf } from '../service.ts'
import { TimePicker } from '../time-picker.tsx'
import {
  boundHelp,
  briefly,
  inBar,
  isListed,
  momentOf,
  rangeBeside,
  rangeOf,
  ranges,
  shown,
  type Written as Bounds,
} from './range.ts'
import { severityName, type Shape, tableTitle } from './shape.ts'
import { isLive, severities, type Severity } from './state.ts'
import type { Store } from './store.ts'
import { zoneChoices, zoneText } from './zone.ts'

interface Acts {
  stop(): void
  follow(): void
  toTable(table: string): void
  /** The range that a press in the chart has narrowed to this one. */
  previous(): (() => void) | null
  search: RefObject<HTMLInputElement | null>
}

export function Toolbar({ store, acts }: { store: Store; acts: Acts }) {
  const isUnfolded = useSignal(false)
  const from = useRef<HTMLInputElement>(null)
  const { state, isEdited, isRunning, fault } = store
  const canStop = isRunning.value && !isEdited.value
  useEffect(() => {
    if (fault.value) isUnfolded.value = true
  }, [fault.value])
  const custom = () => {
    store.isCustom.value = isUnfolded.value = true
    queueMicrotask(() => from.current?.focus())
  }
  const { to, trouble, run } = useRun(store, from)
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (canStop) acts.stop()
    else if (run()) isUnfolded.value = false
  }
  return (
    <form class={`logs-bar${isUnfolded.value ? ' unfolded' : ''}`} onSubmit={submit}>
      <div class="group" role="group" aria-label="Where">
        <Menu
          label="Table"
          choices={store.tables.map(name => [name, tableTitle(name)])}
          chosen={state.value.table}
          act={acts.toTable}
        />
        {parametersOf(store.endpoint).others.map(parameter => (
          <Value key={parameter.name} store={store} parameter={parameter} />
        ))}
      </div>
      <When store={store} custom={custom} previous={acts.previous()} />
      <What store={store} place={acts.search} />
      <button class="primary">
        <Icon name={canStop ? 'stop' : 'play'} />
        {canStop ? 'Stop' : 'Run'}
      </button>
      <Follow store={store} follow={acts.follow} />
      <Button
        class="unfold"
        title="What else can be chosen"
        aria-label="Filters"
        aria-expanded={isUnfolded.value}
        press={() => (isUnfolded.value = !isUnfolded.value)}>
        <Icon name="filters" />
      </Button>
      <div class="custom" hidden={!store.isCustom.value}>
        <Bound store={store} name="from" label="From" placeholder="the first entry" place={from} />
        <span>to</span>
        <Bound store={store} name="to" label="To" placeholder="the last entry" place={to} />
        <span class={trouble ? 'problem' : 'hint'} role="alert">
          {trouble || boundHint}
        </span>
      </div>
    </form>
  )
}

/** Runs what is written, where its range is one; else says what is wrong with which bound. */
function useRun(store: Store, from: RefObject<HTMLInputElement | null>) {
  const to = useRef<HTMLInputElement>(null)
  /** What is wrong with the bounds as they are written, of the state that they were to change. */
  const wrong = useSignal({ of: store.state.value, detail: '' })
  const { state } = store
  const run = () => {
    const range = rangeOf(store.next.value, now())
    const bad = store.isCustom.value && 'wrong' in range && range
    wrong.value = { of: state.value, detail: bad ? bad.detail : '' }
    if (bad) ({ from, to })[bad.wrong].current?.focus()
    else store.change({}, { again: true })
    return !bad
  }
  const trouble = wrong.value.of === state.value ? wrong.value.detail : ''
  return { to, trouble, run }
}

const boundHint = 'also now-15m, today, or now-1d/d for the day before'

/** The range, those before it and behind it, and the zone of its times. */
function When({ store, custom, previous }: { store: Store; custom(): void; previous: (() => void) | null }) {
  const { from, to, zone } = store.state.value
  const listed = isListed({ from, to })
  const [first, last] = [inBar(from, zone), inBar(to, zone)]
  const own: Choices = listed ? [] : [['own', briefly(first, last)]]
  const choose = (chosen: string) => {
    if (chosen === 'custom') return custom()
    store.isCustom.value = false
    const range = ranges.find(({ from }) => from === chosen)
    if (range) store.change({ from: range.from, to: range.to })
  }
  return (
    <div class="group when" role="group" aria-label="When">
      <Shift store={store} by={-1} />
      <Select
        label="Time range"
        class="range"
        title={listed ? '' : `${first} to ${last}`}
        choices={[
          ...ranges.map(({ from, text }) => [from, text] as const),
          ...own,
          ['custom', 'From … to …'],
        ]}
        chosen={listed ? (store.isCustom.value ? 'custom' : from) : 'own'}
        act={choose}
      />
      <Shift store={store} by={1} />
      <SearchedMenu
        label="Time zone"
        class="folds zone-menu"
        choices={() => zoneChoices(now())}
        chosen={zone}
        text={zoneText(zone, store.range.value.to ?? now()).replace(/^.*\//, '')}
        act={zone => store.change({ zone })}
      />
      {previous && (
        <Button aria-label="Previous range" title="The range before the chart narrowed it" press={previous}>
          <Icon name="back" />
        </Button>
      )}
    </div>
  )
}

/** Goes to the range beside this one. */
function Shift({ store, by }: { store: Store; by: 1 | -1 }) {
  const next = rangeBeside(store.state.value, store.range.value, by, now())
  const label = by < 0 ? 'Earlier' : 'Later'
  const title = `${label}: the range ${by < 0 ? 'before' : 'behind'} this one`
  return (
    <Button
      class="folds"
      aria-label={label}
      title={title}
      disabled={!next}
      press={() => next && store.change(next)}>
      <Icon name={by < 0 ? 'earlier' : 'later'} />
    </Button>
  )
}

interface BoundProps {
  store: Store
  name: keyof Bounds
  label: string
  placeholder: string
  place: RefObject<HTMLInputElement | null>
}

/** A time as a text, and the browser's own picker, which only writes into it. */
function Bound({ store, name, label, placeholder, place }: BoundProps) {
  const { zone } = store.state.value
  const text = useComputed(
    () => store.written.value[name] ?? inBar(store.state.value[name], store.state.value.zone),
  )
  const write = (to: string) => (store.written.value = { ...store.written.value, [name]: to })
  // A relative time becomes the one that it stands for.
  const moment = () => momentOf(text.value, now(), zone) ?? null
  const from = () => (moment() === null ? '' : shown(moment()!, zone))
  return (
    <>
      <TextInput
        ref={place}
        aria-label={label}
        placeholder={placeholder}
        title={boundHelp}
        value={text}
        write={write}
      />
      <TimePicker label={label} from={from} pick={write} />
    </>
  )
}

function What({ store, place }: { store: Store; place: RefObject<HTMLInputElement | null> }) {
  const { severity } = store.state.value
  return (
    <div class="group what" role="group" aria-label="What">
      <Search store={store} place={place} />
      {store.shape.value.severity && (
        <Menu
          label="Severity"
          class="folds"
          choices={severityChoices(store.shape.value, severity)}
          chosen={severity.join()}
          act={chosen => store.change({ severity: chosen.split(',').filter(Boolean) as Severity[] })}
        />
      )}
    </div>
  )
}

function Search({ store, place }: { store: Store; place: RefObject<HTMLInputElement | null> }) {
  const { search, scope } = store.state.value
  const label = scope === 'entry' ? 'Search all fields' : 'Search messages'
  const write = (text: string) => (store.written.value = { ...store.written.value, search: text })
  // The cross in a search field empties it, which is a press, not a text that is being written.
  const emptied = ({ currentTarget }: TargetedEvent<HTMLInputElement>) =>
    currentTarget.value === '' && search !== '' && store.change({ search: '' })
  return (
    <TextInput
      type="search"
      ref={place}
      class="search"
      title="Text, or a regular expression between slashes"
      aria-label={label}
      placeholder={label}
      value={store.written.value.search ?? search}
      write={write}
      onSearch={emptied}
    />
  )
}

function Follow({ store, follow }: { store: Store; follow(): void }) {
  const live = isLive(store.state.value)
  const isOn = store.following.value !== null
  const start = `Add new entries as they come${live ? '' : ', up to now and the newest first'}`
  return (
    <Button
      class="follow folds"
      aria-pressed={isOn}
      title={isOn ? 'Add no more entries' : start}
      press={follow}>
      <Icon name="follow" />
      {isOn ? 'Following' : live ? 'Follow' : 'Follow to now'}
    </Button>
  )
}

/** A parameter of the endpoint. */
function Value({ store, parameter }: { store: Store; parameter: Parameter }) {
  const { name, examples = [], description, required } = parameter
  const list = useId()
  const { state, written, fault } = store
  const isWrong = fault.value !== null && fault.value.parameter === name
  const write = (text: string) =>
    (written.value = { ...written.value, values: { ...written.value.values, [name]: text } })
  return (
    <label class="parameter-place folds">
      <small>{name}</small>
      <TextInput
        list={list}
        class="parameter"
        aria-label={name}
        aria-required={required || undefined}
        aria-invalid={isWrong || undefined}
        placeholder={name}
        title={isWrong ? fault.value.detail : (description ?? name)}
        value={written.value.values?.[name] ?? state.value.values[name] ?? ''}
        write={write}
      />
      <datalist id={list}>
        {examples.map(value => (
          <option key={value} value={String(value)} />
        ))}
      </datalist>
    </label>
  )
}

function severityChoices(shape: Shape, chosen: Severity[]): Choices {
  const single = severities.filter(severity => severityName(severity, shape) !== '')
  const choices: Choices = [
    ['', shape.severity?.type === 'INT64' ? 'Any status' : 'Any severity'],
    ...single.map(severity => [severity, severityName(severity, shape)] as const),
    ['error,warning', ['error', 'warning'].map(name => severityName(name as Severity, shape)).join(' and ')],
  ]
  const now = chosen.join()
  return choices.some(([value]) => value === now)
    ? choices
    : [...choices, [now, chosen.map(name => severityName(name, shape)).join(', ')]]
}
