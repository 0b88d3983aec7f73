/** What a channel gets, and how a delivery fails. */

/** One transition of an alert, as it is told. */
export interface Message {
  /** Of the transition, the same at each try: letters, digits, `_` and `-`. */
  id: string
  /** When it was, ISO 8601. */
  at: string
  alert: string
  endpoint: string
  state: 'firing' | 'resolved' | 'no data' | 'failing'
  severity: 'info' | 'warning' | 'critical'
  text: string
  parameters: Record<string, string>
  /** At most 10, redacted. */
  rows: Record<string, unknown>[]
}

/** A message that was not delivered. Its words hold no secret, no address and nothing that the receiver said. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** To be tried again after at least so many milliseconds; `null` = never. */
  readonly retryAfterMs: number | null

  constructor(message: string, retryAfterMs: number | null) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
