/** What of the logs view an alert can look at: one row of numbers over a window of time that moves. */
import type { Watched } from '../alerts.ts'
import { now, parametersOf } from '../service.ts'
import { freshBounds, made, type Shown } from './as-endpoint.ts'
import { conditionOf, from } from './conditions.ts'
import { first, lines } from './values.ts'
import { measuring, sharesOf, titleOf } from './measure.ts'
import { measureOf, nameOf } from './shape.ts'
import { aggregates } from './sql.ts'
import type { State } from './state.ts'
import type { Store } from './store.ts'

/** The number of entries, what the chart shows of them, and shares of them. */
export function watchedIn({ endpoint, state: { value: state }, shape }: Store): Watched[] {
  const shown = { endpoint, state, shape: shape.value, range: { from: null, to: null } }
  const measures = [
    ...new Set(['rows', state.measure, ...sharesOf(shape.value, state).map(([each]) => each)]),
  ]
  return measures.map(measure => watchedBy(shown, measure))
}

/** @param measure as the state has it */
export function watchedBy({ endpoint, state, shape }: Shown, measure: string): Watched {
  const of = measureOf(measure, shape)
  const narrowed: State = { ...state, ...measuring(state, measure), from: 'now-15m', to: 'now' }
  const window = { from: now() - 900e6, to: now() }
  const isShare = of?.kind === 'share'
  const number = of && !isShare ? `${of.kind}_${nameOf(of.field).replaceAll(/\W/g, '_')}` : 'entries'
  const columns = [
    isShare && `COUNTIF(${conditionOf(of.of!, shape)}) AS matching`,
    'COUNT(*) AS entries',
    of && !isShare && `${aggregates[of.kind as keyof typeof aggregates](first(of.field))} AS ${number}`,
  ]
  const { start = freshBounds.from, end = freshBounds.to } = parametersOf(endpoint)
  return {
    title: of ? titleOf({ by: '', measure }, shape) : 'Entries',
    made: made({ endpoint, state: narrowed, shape, range: window, isWindow: true }, (asked, range) =>
      lines(
        `SELECT ${columns.filter(Boolean).join(', ')}`,
        ...from({ ...narrowed, ...asked }, shape, range, { read: [of?.field] }),
      ),
    ),
    ...(isShare ? { value: 'matching', of: 'entries' } : { value: number }),
    isCount: !of,
    values: state.values,
    window: { start, end },
  }
}
