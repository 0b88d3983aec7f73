/** The bar above the rows: what is asked, in one line. Menus act at once; text waits for Enter or Run. */
import { button, type Choices, el, menu, newId, show } from '../dom.ts'
import { pickerFor } from '../field.ts'
import { type Endpoint, now, type Parameter } from '../service.ts'
import { inAddress, inBar, momentOf, rangeOf, shown, type Written, type Zone, zoneName } from './range.ts'
import { type Shape, tableTitle } from './shape.ts'
import { isLive, severities, type Severity, type State } from './state.ts'

interface Acts {
  change(patch: Partial<State>): void
  table(table: string): void
  run(patch: Partial<State>): void
  stop(): void
  follow(): void
  /** Whether the texts in the bar differ from what was asked. */
  edited(differs: boolean): void
}

const ranges: Choices = [
  ['now-15m', 'Last 15 min'],
  ['now-1h', 'Last hour'],
  ['now-6h', 'Last 6 hours'],
  ['now-1d', 'Last 24 hours'],
  ['now-7d', 'Last 7 days'],
  ['now-30d', 'Last 30 days'],
  ['', 'All time'],
]

/** `11-22 04:33 to 04:45`: a range of one's own, as a menu has room for it. */
function briefly(from: string, to: string): string {
  const [first, last] = [from, to].map(time =>
    time.replace(/^\d{4}-|\.\d+$/g, '').replace(/(:\d\d):00$/, '$1'),
  )
  const sameDay = /^\d/.test(from) && from.slice(0, 11) === to.slice(0, 11)
  return `${first || '…'} to ${(sameDay ? last?.slice(6) : last) || '…'}`
}

/** Shows nothing until `set`. @param parameters without the bounds of time @param names of the tables */
export function bar(endpoint: Endpoint, parameters: Parameter[], names: string[], acts: Acts) {
  let state: State
  const tables = menu('Table', acts.table)
  const inputs = parameters.map(parameter => valueInput(parameter))
  const range = menu('Time range', chosen => {
    custom.hidden = chosen !== 'custom'
    if (chosen === 'custom') {
      unfold(true)
      from.focus()
    } else if (chosen !== 'own') acts.change({ from: chosen, to: chosen === '' ? '' : 'now' })
  })
  const text = (label: string, placeholder: string) =>
    el('input', {
      type: 'text',
      'aria-label': label,
      placeholder,
      title: '2026-11-14 12:00:03.5, now or now-1h',
      autocomplete: 'off',
      spellcheck: 'false',
    })
  range.element.classList.add('range')
  /** By a range that was chosen in the chart: the one before it. */
  const ranged = new Map<string, Written>()
  const nameOf = ({ from, to }: Written) => `${from} ${to}`
  const previous = button('Previous range', () => acts.change(ranged.get(nameOf(state))!), {
    class: 'previous',
    title: 'As it was before the chart narrowed it',
  })
  const [from, to] = [text('From', 'the first entry'), text('To', 'the last entry')]
  const trouble = el('span', { class: 'problem', role: 'alert' })
  /** A relative time becomes the one that it stands for. */
  const exactly = (written: string) => {
    const moment = momentOf(written, now(), state.zone) ?? null
    return moment === null ? '' : shown(moment, state.zone)
  }
  const [fromPicker, toPicker] = [pickerFor(from, 'From', '', exactly), pickerFor(to, 'To', '', exactly)]
  const picked = [from, fromPicker, el('span', {}, 'to'), to, toPicker, trouble]
  const custom = el('div', { class: 'custom', hidden: true }, ...picked)
  const zones = menu('Time zone', zone => acts.change({ zone: zone as Zone }))
  const search = el('input', {
    type: 'search',
    title: 'Text, or a regular expression between slashes',
    class: 'search',
    spellcheck: 'false',
  })
  const severity = menu('Severity', chosen =>
    acts.change({ severity: chosen.split(',').filter(Boolean) as Severity[] }),
  )
  const run = el('button', { class: 'primary' }, 'Run')
  const follow = button('Follow', acts.follow, { class: 'follow', 'aria-pressed': 'false' })
  // The open entry stays, to be read again.
  const onchange = () => acts.change({ redact: redact.checked, row: state.row })
  const redact: HTMLInputElement = el('input', { type: 'checkbox', onchange })
  const unfold = (open?: boolean) => (more.ariaExpanded = String(element.classList.toggle('unfolded', open)))
  const more = button('Filters', () => unfold(), { class: 'unfold', 'aria-expanded': 'false' })

  const texts = () => ({
    values: Object.fromEntries(inputs.map(({ name, input }) => [name, input.value.trim()])),
    search: search.value.trim(),
    ...(custom.hidden
      ? {}
      : { from: inAddress(from.value, state.zone), to: inAddress(to.value, state.zone) }),
  })
  const onsubmit = (event: Event) => {
    event.preventDefault()
    if (running && !edited) return acts.stop()
    const written = texts()
    const range = rangeOf({ ...state, ...written }, now())
    const bad = !custom.hidden && 'wrong' in range && range
    show(trouble, bad && bad.detail)
    if (bad) return { from, to }[bad.wrong].focus()
    unfold(false)
    acts.run(written)
  }
  let running = false
  /** Whether a text differs from the state: then Run runs it, whatever is running. */
  let edited = false
  const label = () => (run.textContent = running && !edited ? 'Stop' : 'Run')
  const element = el(
    'form',
    { class: 'logs-bar', onsubmit },
    tables.element,
    ...inputs.map(({ element }) => element),
    range.element,
    previous,
    zones.element,
    search,
    severity.element,
    run,
    follow,
    more,
    custom,
  )
  element.addEventListener('input', event => {
    if (!(event.target instanceof HTMLInputElement) || event.target.type === 'checkbox') return
    const written = texts()
    edited = (Object.keys(written) as (keyof typeof written)[]).some(
      name => JSON.stringify(written[name]) !== JSON.stringify(state[name]),
    )
    label()
    acts.edited(edited)
  })
  // The cross in a search field empties it, which is a press, not a text that is being written.
  search.addEventListener(
    'search',
    () => search.value === '' && state.search !== '' && acts.change({ search: '' }),
  )

  const about = 'Addresses, e-mails, tokens and the like become REDACTED; ids of users stay'
  return {
    element,
    redaction: el('label', { class: 'redact', title: about }, redact, 'Redact'),
    search: () => search.focus(),
    set(next: State, shape: Shape) {
      state = next
      edited = false
      label()
      tables.set(
        names.map(name => [name, tableTitle(name)]),
        next.table,
      )
      for (const { name, input } of inputs) input.value = next.values[name] ?? ''
      const isListed = ranges.some(([from]) => from === next.from) && next.to === (next.from && 'now')
      custom.hidden = isListed || (custom.hidden && !('wrong' in rangeOf(next, now())))
      from.value = inBar(next.from, next.zone)
      to.value = inBar(next.to, next.zone)
      const own: Choices = isListed ? [] : [['own', briefly(from.value, to.value)]]
      range.set([...ranges, ...own, ['custom', 'From … to …']], isListed ? next.from : 'own')
      range.element.title = isListed ? '' : `${from.value} to ${to.value}`
      previous.hidden = !ranged.has(nameOf(next))
      show(trouble)
      zones.set(
        [
          ['UTC', 'UTC'],
          ['local', `Local (${zoneName('local')})`],
        ],
        next.zone,
      )
      search.value = next.search
      search.placeholder = search.ariaLabel = next.scope === 'entry' ? 'Search all fields' : 'Search messages'
      severity.element.hidden = shape.severity === null
      severity.set(severityChoices(shape, next.severity), next.severity.join())
      redact.checked = next.redact || redact.disabled
      follow.textContent = isLive(next) ? 'Follow' : 'Follow to now'
      follow.title = `Add new entries as they come${isLive(next) ? '' : ', up to now and the newest first'}`
    },
    /** Offers the way back from a range that was chosen in the chart. */
    narrowed({ from, to }: Written, into: Written) {
      if (nameOf({ from, to }) !== nameOf(into)) ranged.set(nameOf(into), { from, to })
    },
    setRunning(now: boolean) {
      running = now
      label()
    },
    isEdited: () => edited,
    /** The texts that were not asked yet. */
    typed: () => (edited ? texts() : {}),
    /** @param redacted whether the rows are; the key may leave no choice */
    setRedacted(redacted: boolean) {
      redact.checked = redacted
      redact.disabled = redacted && !state.redact
    },
    setFollowing(on: boolean) {
      follow.ariaPressed = String(on)
    },
    /** Puts a problem beside the parameter that it names. @returns whether there is one */
    showProblem(parameter: string | undefined, detail: string): boolean {
      for (const { name, input } of inputs) input.ariaInvalid = name === parameter ? 'true' : null
      const named = inputs.find(({ name }) => name === parameter)
      if (named) {
        named.input.title = detail
        unfold(true)
      }
      return named !== undefined
    },
  }
}

const statusNames: Record<Severity, string> = {
  error: '5xx',
  warning: '4xx',
  info: '1xx to 3xx',
  debug: '',
  other: 'no status',
}

/** As the table has it: a class of HTTP statuses where those are its severities. Empty for one that it cannot have. */
export function severityName(severity: Severity, shape: Shape): string {
  return shape.severity?.type === 'INT64' ? statusNames[severity] : severity
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

function valueInput({ name, examples = [], description, required }: Parameter) {
  const list = newId()
  const input = el('input', {
    type: 'text',
    list,
    'aria-label': name,
    'aria-required': required && 'true',
    placeholder: name,
    title: description ?? name,
    autocomplete: 'off',
    spellcheck: 'false',
    class: 'parameter',
  })
  const options = el(
    'datalist',
    { id: list },
    ...examples.map(value => el('option', { value: String(value) })),
  )
  return {
    name,
    input,
    element: el('label', { class: 'parameter-place' }, el('small', {}, name), input, options),
  }
}
