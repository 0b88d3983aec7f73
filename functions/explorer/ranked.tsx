/** Bars beside one another's names, the largest first: the top of any answer with names and numbers. */
import { useSignal } from '@preact/signals'
import { Menu } from './controls.tsx'
import { type Ranking, topOf } from './ranking.ts'
import { amount, severityOfName, shortened, unitOf } from './series.ts'

/** As many as one can take in. */
const most = 20

export function Ranked({ ranking }: { ranking: Ranking }) {
  const { measures, bars } = ranking
  const measure = useSignal(measures[0]!)
  const top = topOf(ranking, measure.value, most)
  const largest = Math.max(...top.map(({ value }) => Math.abs(value)))
  return (
    <div class="chart">
      <div class="measure">
        {bars.length > most ? `The ${most} largest of ${bars.length} by` : 'By'}
        <Menu
          label="Bars by"
          choices={measures.map(name => [name, name])}
          chosen={measure.value}
          act={name => (measure.value = name)}
        />
      </div>
      <ol class="ranked" aria-label={`${measure.value} by name`}>
        {top.map(({ name, value }) => (
          <li key={name}>
            <span title={name}>{shortened(name, 100)}</span>
            <i
              class={`of-${severityOfName(name)}`}
              style={{ width: `${largest === 0 ? 0 : (Math.abs(value) / largest) * 100}%` }}
            />
            <b>{amount(value, unitOf(measure.value))}</b>
          </li>
        ))}
      </ol>
    </div>
  )
}
