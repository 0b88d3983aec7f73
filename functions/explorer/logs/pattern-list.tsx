/** The patterns in place of the entries: each filters for what it counts, or out. */
import { shapeAsFilter } from '../../../shared/sandbox/message-patterns.ts'
import { Button } from '../controls.tsx'
import { problemText } from '../resource.ts'
import { byRise, comparisonText, differenceText, rankings, riseText, shareText } from './compare.ts'
import type { Pattern, Patterns } from './patterns.ts'
import { shown } from './range.ts'
import { severityName } from './shape.ts'
import { type Filter, type State, withFilter } from './state.ts'
import type { Store } from './store.ts'
import { zoneName } from './zone.ts'

/** `Entries`, or `Patterns 9, 2 new`. */
export function Lists({ store }: { store: Store }) {
  const { list } = store.state.value
  const found = store.patterns.answer.value?.data
  const isKnown = found && list !== '' && !store.arePatternsOld.value
  const counts = isKnown ? ` ${found.count}${found.fresh > 0 ? `, ${found.fresh} new` : ''}` : ''
  return (
    <div class="lists" role="group" aria-label="What is listed">
      <Button class="quiet" aria-pressed={list === ''} press={() => store.change({ list: '' })}>
        Entries
      </Button>
      <Button
        class="quiet"
        aria-pressed={list !== ''}
        title="Messages of one shape together"
        press={() => store.change({ list: 'patterns' })}>
        Patterns{counts}
      </Button>
    </div>
  )
}

export function PatternList({ store }: { store: Store }) {
  const answer = store.patterns.answer.value
  if (!answer || (store.patterns.isRunning.value && !answer.data))
    return <p class="hint patterns-said">Counting …</p>
  if (!answer.data)
    return (
      <p class="hint patterns-said" role="alert">
        No patterns: {answer.problem && problemText(answer.problem)}
      </p>
    )
  const { rank } = store.state.value
  const list = rank === 'rise' ? byRise(answer.data.list) : answer.data.list
  const isCompared = list.some(({ before }) => before !== null)
  return (
    <div class="patterns" inert={store.arePatternsOld.value}>
      <Head store={store} found={answer.data} />
      {answer.data.list.length > 0 && (
        <table>
          <thead>
            <tr>
              <RankHeading store={store} rank="" text="Entries" />
              <th class="number">Share</th>
              {isCompared ? (
                <RankHeading store={store} rank="rise" text="Change" />
              ) : (
                <th class="number">Change</th>
              )}
              <th>Trend</th>
              <th>Pattern</th>
              <th>First</th>
              <th>Last ({zoneName(store.state.value.zone)})</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {list.map(pattern => (
              <Line store={store} pattern={pattern} all={answer.data!} />
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

/** A press on it lists what is most in its column first. */
function RankHeading({ store, rank, text }: { store: Store; rank: State['rank']; text: string }) {
  const isChosen = store.state.value.rank === rank
  const label = rankings.find(([name]) => name === rank)![1]
  return (
    <th class="number" aria-sort={isChosen ? 'descending' : undefined}>
      <Button title={label} press={() => store.change({ rank })}>
        {text}
        {isChosen && ' ↓'}
      </Button>
    </th>
  )
}

function Head({ store, found }: { store: Store; found: Patterns }) {
  const { list, compare } = store.state.value
  const isNew = list === 'new'
  const period = comparisonText(compare || 'before')!
  const listed = found.list.length
  const left = (isNew ? found.fresh : found.count) - listed
  const words = [
    `${found.count.toLocaleString('en')} patterns of ${found.entries.toLocaleString('en')} entries`,
    found.list.some(({ before }) => before !== null) &&
      `${found.fresh.toLocaleString('en')} not in ${period}`,
    left > 0 && `the first ${listed} are listed`,
  ]
  return (
    <p class="patterns-said" role="status">
      {listed === 0
        ? isNew
          ? `No pattern that is not in ${period} too.`
          : 'No entries.'
        : words.filter(Boolean).join(', ')}{' '}
      <small>{found.cost}</small>{' '}
      <Button
        class="quiet"
        aria-pressed={isNew}
        press={() => store.change({ list: isNew ? 'patterns' : 'new' })}>
        New only
      </Button>
    </p>
  )
}

function Line({ store, pattern, all }: { store: Store; pattern: Pattern; all: Patterns }) {
  const { shape, example, severity, entries, before, first, last, trend } = pattern
  const { state, shape: table } = store
  const text = shape ?? '(none)'
  const changeText = state.value.rank === 'rise' ? riseText : differenceText
  const filter = (isFor: boolean): Filter => ({
    path: table.value.message.path,
    operator: shape === null ? (isFor ? '=' : '!=') : isFor ? '=~' : '!~',
    value: shape && shapeAsFilter(shape),
  })
  const narrowed: Partial<State> = { list: '', ...(severity && { severity: [severity] }) }
  const time = (at: number) => shown(at, state.value.zone, 0).slice(5)
  return (
    <tr>
      <td class="number">{entries.toLocaleString('en')}</td>
      <td class="number">{shareText(entries, all.entries)}</td>
      <td class="number">{changeText(entries, before)}</td>
      <td>
        <Trend values={trend} />
      </td>
      <td class="pattern">
        {severity && severity !== 'other' && (
          <span class={`cell severity-${severity}`}>{severityName(severity, table.value)} </span>
        )}
        <Button
          title={example?.slice(0, 1000) ?? 'Entries without a message'}
          press={() => store.change({ ...withFilter(state.value, filter(true)), ...narrowed })}>
          {partsOf(text)}
        </Button>
      </td>
      <td class="seen">{time(first)}</td>
      <td class="seen">{time(last)}</td>
      <td>
        <Button class="row-acts" label={`Filter out ${text}`} press={() => store.filter(filter(false))}>
          ≠
        </Button>
      </td>
    </tr>
  )
}

/** What stands for what differs is pale. */
function partsOf(shape: string) {
  return shape.split(/(<[a-z]+>)/).map((part, i) => (i % 2 === 1 ? <i>{part}</i> : part))
}

function Trend({ values }: { values: number[] }) {
  const most = Math.max(1, ...values)
  return (
    <svg class="trend" viewBox={`0 0 ${values.length * 5} 16`} aria-hidden="true">
      {values.map((value, i) => {
        const tall = value > 0 ? Math.max(1, (15 * value) / most) : 0
        return <rect x={i * 5} y={16 - tall} width={4} height={tall} />
      })}
    </svg>
  )
}
