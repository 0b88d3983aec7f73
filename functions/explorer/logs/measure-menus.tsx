/** The menus of what the chart and the values of a field show: a press is a change of the state. */
import { Button, Menu } from '../controls.tsx'
import type { Choices } from '../choices.ts'
import { type Comparison, comparisons, rankings } from './compare.ts'
import { fieldsOf, measureChoices, namesOf, slowestMeasure } from './measure.ts'
import type { State } from './state.ts'
import type { Store } from './store.ts'

/** `Show average of origin_time by method` */
export function ChartMenus({ store }: { store: Store }) {
  const [state, shape] = [store.state.value, store.shape.value]
  const fields = fieldsOf(shape, state).filter(({ type, path }) => type !== 'JSON' || path === state.by)
  const split = state.measure === 'rows' && shape.severity
  const all = split ? (split.type === 'INT64' ? 'class of status' : 'severity') : 'nothing'
  const choices: Choices = [
    ['', all],
    ...namesOf(fields).map(({ field, label }) => [field.path, label] as const),
  ]
  return (
    <div class="measure">
      <span>Show</span>
      <MeasureMenu label="Show in the chart" store={store} hasSlowest />
      by
      <Menu label="Split the chart by" choices={choices} chosen={state.by} act={by => store.change({ by })} />
      <Menu
        label="Compare with"
        choices={[
          ['', 'not compared'],
          ...comparisons.map(([name, text]) => [name, `with ${text}`] as const),
        ]}
        chosen={state.compare}
        act={compare => store.change({ compare: compare as Comparison | '' })}
      />
      {state.measure !== 'rows' && (
        <Button class="quiet" press={() => store.change({ measure: 'rows', by: '' })}>
          Back to counts
        </Button>
      )}
    </div>
  )
}

/** Which values come first, where they are compared. */
export function RankMenu({ store }: { store: Store }) {
  return (
    <Menu
      label="Which values come first"
      choices={rankings}
      chosen={store.state.value.rank}
      act={rank => store.change({ rank: rank as State['rank'] })}
    />
  )
}

interface Props {
  label: string
  store: Store
  /** Whether the slowest paths are a choice of their own. */
  hasSlowest?: boolean
}

export function MeasureMenu({ label, store, hasSlowest = false }: Props) {
  const { state, shape } = store
  const offered = measureChoices(shape.value, state.value).filter(
    ({ measure }) => hasSlowest || measure !== slowestMeasure,
  )
  return (
    <Menu
      label={label}
      choices={offered.map(({ measure, text }) => [measure, text])}
      chosen={state.value.measure}
      act={to => store.change(offered.find(({ measure }) => measure === to)!.patch)}
    />
  )
}
