/** What an alert that is being made would find now: its rows are asked for once for each window, and judged as the service does. */
import { evaluate } from '../../shared/alerts/condition.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { alertOf, type Chosen, isShare, type Watched } from './alerts.ts'
import { Resource, problemText } from './resource.ts'
import { amount } from './series.ts'
import { type Answer, now, type Query } from './service.ts'

/** In microseconds. */
const minute = 6e7
const lengths: Record<string, number> = {
  '5m': 5 * minute,
  '15m': 15 * minute,
  '1h': 60 * minute,
  '6h': 360 * minute,
  '1d': 1440 * minute,
}
const distances: Record<string, number> = { PT1H: 60 * minute, P1D: 1440 * minute, P7D: 10_080 * minute }

/** The rows of the window, and of that before where it is compared. */
interface Found {
  rows: Row[]
  before: Row[]
}

export class AlertPreview {
  readonly found = new Resource<Found>()
  readonly #run: (query: Omit<Query, 'endpoint'>, signal: AbortSignal) => Promise<Answer>

  constructor(run: (query: Omit<Query, 'endpoint'>, signal: AbortSignal) => Promise<Answer>) {
    this.#run = run
  }

  /** Asks, unless that is what it has asked last. */
  look(watched: Watched, chosen: Chosen): void {
    const asked = questionOf(watched, chosen)
    if (this.found.answer.peek()?.asked === asked && !this.found.isRunning.peek()) return
    this.found.read(asked, async signal => {
      const [to, length] = [now(), lengths[chosen.window]!]
      const rowsUpTo = async (end: number) => (await this.#run(watched.query(end - length, end), signal)).rows
      const [rows, before] = await Promise.all([
        rowsUpTo(to),
        chosen.before === '' ? [] : rowsUpTo(to - distances[chosen.before]!),
      ])
      return { rows, before }
    })
  }

  /** What the condition is of now; `null` = no number, or not known. */
  valueOf(watched: Watched, chosen: Chosen): number | null {
    const found = this.#foundFor(watched, chosen)
    return found && judged(watched, chosen, found).value
  }

  /** `Now 12 entries: it would not fire.` Empty where nothing was asked. */
  said(watched: Watched, chosen: Chosen): string {
    const answer = this.found.answer.value
    if (this.found.isRunning.value) return 'Now …'
    if (answer?.asked !== questionOf(watched, chosen)) return ''
    if (answer.problem) return `What it is now is not known: ${problemText(answer.problem)}`
    const { finding, value } = judged(watched, chosen, answer.data!)
    if (finding === 'no data') return 'Now there is no number: its state would be “no data”.'
    const present = `Now ${value === null ? 'nothing of nothing' : valueText(watched, chosen, value)}`
    if (chosen.side !== 'none' && !Number.isFinite(Number(chosen.bound || 'none'))) return `${present}.`
    return `${present}: it would ${finding === 'firing' ? 'fire' : 'not fire'}.`
  }

  readonly stop = (): void => this.found.stop()

  #foundFor(watched: Watched, chosen: Chosen): Found | null {
    const answer = this.found.answer.value
    return answer?.asked === questionOf(watched, chosen) ? answer.data : null
  }
}

/** The same for the same rows, whenever they are asked for. */
function questionOf(watched: Watched, { window, before }: Chosen): string {
  const isWindowed = watched.window.start !== undefined
  return JSON.stringify([watched.query(0, 0), isWindowed && window, before])
}

function judged(watched: Watched, chosen: Chosen, { rows, before }: Found) {
  const { condition } = alertOf(watched, chosen)
  const beforeMs = condition.before === undefined ? {} : { beforeMs: distances[condition.before]! / 1000 }
  return evaluate({ ...condition, ...beforeMs }, rows, before)
}

function valueText(watched: Watched, chosen: Chosen, value: number): string {
  if (chosen.before !== '') return `${amount(value)} times as much`
  if (isShare(watched, chosen)) return amount(value * 100, '%')
  return watched.unit === '' ? amount(value) : amount(value, watched.unit)
}

/** A bound that the present is well within, as text; `null` where there is nothing to go by. */
export function boundFor(
  value: number | null,
  { side, before }: Pick<Chosen, 'side' | 'before'>,
  isPercent: boolean,
) {
  if (before !== '') return side === 'below' ? '0.5' : '2'
  if (value === null || !Number.isFinite(value)) return null
  const present = isPercent ? value * 100 : value
  const bound = side === 'below' ? present / 2 : present * 2
  const round = rounded(Math.abs(bound), side === 'below') * Math.sign(bound)
  return String(isPercent ? Math.min(99, round) : round)
}

/** With one digit, away from what it is a bound of. */
function rounded(value: number, isDown: boolean): number {
  if (value === 0) return 0
  const power = 10 ** Math.floor(Math.log10(value))
  const digits = isDown ? Math.floor(value / power) : Math.ceil(value / power)
  return Number((digits * power).toPrecision(1))
}
