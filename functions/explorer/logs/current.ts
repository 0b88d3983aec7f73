/** What the parts of the logs view share: the state now, how a person changes it, and how the service is asked. */
import type { Answer, Endpoint } from '../service.ts'
import type { Range } from './range.ts'
import type { Shape } from './shape.ts'
import type { State } from './state.ts'

export interface Current {
  readonly endpoint: Endpoint
  state: State
  /** The state's range at the time of the last run. */
  range: Range
  /** Of the state's table. */
  shape(): Shape
  /** A person's change: a step in the history, run at once. */
  change(patch: Partial<State>): void
  /** Puts the state into the address in place of the last one. */
  write(): void
  /** @throws ServiceError; DOMException where `signal` ended it */
  query(sql: string, signal: AbortSignal, asked?: Asked): Promise<Answer>
}

interface Asked {
  /** The bounds of time for the endpoint's own parameters; the current range by default. `null` = none. */
  within?: Range
  fresh?: boolean
}
