/** An alert: what is asked of an endpoint, what of its rows sets it off, and who is told. `alert.schema.json` has its file's fields. */

export interface Alert {
  /** Name of its file. */
  name: string
  /** Parameters of the endpoint, as a caller sends them; each set has a state of its own. */
  sets: Record<string, string | number | boolean>[]
  condition: Condition
  /** How often it is evaluated, milliseconds; `null` = as often as the endpoint's answers change. */
  everyMs: number | null
  /** How long the condition must hold before someone is told. */
  forMs: number
  /** How often it is told again while it holds; `null` = never. */
  repeatMs: number | null
  severity: Severity
  /** With `{{ name }}` for values. */
  text: string
  /** By their names; none = it shows in the log and in lists alone. */
  channels: string[]
  /** Whether personal data is taken out of what is told. */
  redact: boolean
}

export type Severity = 'info' | 'warning' | 'critical'

/** It holds where the value is above, or below, the number; strictly. */
export interface Condition {
  /** A column, or `rows` for their count. */
  value: string
  /** Column by which the value is divided: a share. */
  of?: string
  /** The same window so long ago, milliseconds: the value is a multiple of what it was then, in total over all rows. */
  beforeMs?: number
  above?: number
  below?: number
}

/** The value of a condition that counts rows. */
export const countOfRows = 'rows'

/** The columns that a condition reads. */
export function columnsOf({ value, of }: Condition): string[] {
  return [...(value === countOfRows ? [] : [value]), ...(of === undefined ? [] : [of])]
}

/** How long before now the windows are that a condition looks at, milliseconds. */
export function windowsOf({ condition: { beforeMs } }: Alert): number[] {
  return beforeMs === undefined ? [0] : [0, beforeMs]
}
