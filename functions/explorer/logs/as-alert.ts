/** What of the logs view an alert can look at: one row of numbers over a window of time that moves. */
import type { Watched } from '../alerts.ts'
import { iso } from '../../../shared/answers/times.ts'
import type { Link } from '../address.ts'
import { now, parametersOf } from '../service.ts'
import { aboutOf, narrowing } from '../summary.ts'
import { freshBounds, made, type Shown } from './as-endpoint.ts'
import { type Asked, conditionOf, from } from './conditions.ts'
import { first, lines } from './values.ts'
import { measuring, sharesOf, titleOf, unitOfMeasure } from './measure.ts'
import type { Range } from './range.ts'
import { measureOf, nameOf } from './shape.ts'
import { aggregates } from './sql.ts'
import { type Subject, shapeNamed, stateFrom } from './initial-state.ts'
import type { State } from './state.ts'

/** The same of a link to the logs, as of the logs themselves. */
export function watchedOf(subject: Subject, link: Link): Watched[] {
  const { state } = stateFrom(link, subject)
  return watchedIn({ endpoint: subject.endpoint, state, shape: shapeNamed(subject, state.table) })
}

/** What the chart shows of the entries comes first, then their number, and shares of them. */
export function watchedIn(shown: Pick<Shown, 'endpoint' | 'state' | 'shape'>): Watched[] {
  const { state, shape } = shown
  const measures = new Set([state.measure, 'rows', ...sharesOf(shape, state).map(([each]) => each)])
  return [...measures].map(measure => watchedBy({ ...shown, range: { from: null, to: null } }, measure))
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
  const own = parametersOf(endpoint)
  const { start = freshBounds.from, end = freshBounds.to } = own
  const sqlOf = (asked: Partial<Asked>, range: Range) =>
    lines(
      `SELECT ${columns.filter(Boolean).join(', ')}`,
      ...from({ ...narrowed, ...asked }, shape, range, { read: [of?.field] }),
    )
  return {
    title: of ? titleOf({ by: '', measure }, shape) : 'Entries',
    about: aboutOf(narrowed, narrowing),
    made: made({ endpoint, state: narrowed, shape, range: window, isWindow: true }, sqlOf),
    ...(isShare ? { value: 'matching', of: 'entries' } : { value: number }),
    isCount: !of,
    unit: of ? unitOfMeasure(measure, shape) : 'entries',
    values: state.values,
    window: { start, end },
    query: (from, to) => ({
      sql: sqlOf({}, { from, to }),
      values: {
        ...state.values,
        ...(own.start && { [own.start]: iso(from - 1) }),
        ...(own.end && { [own.end]: iso(to) }),
      },
      redact: state.redact,
    }),
  }
}
