/** A plain model of what is told: it looks at all that was found at once, and keeps no state. */
import type { Finding } from '../condition.ts'
import type { Rule } from '../state.ts'
import type { Message } from '../channels.ts'

/** What was found of one set, and when, by the store's time. */
export interface Evaluated {
  now: number
  finding: Finding
}

const patienceMs = (finding: Finding, forMs: number) =>
  ({ calm: 0, firing: forMs, 'no data': forMs, failing: Math.max(forMs, 300_000) })[finding]

/** What was told, in order, and when. */
export function toldBy(
  { forMs, repeatMs, marginMs }: Rule,
  found: Evaluated[],
): { state: Message['state']; at: number }[] {
  const told: { finding: Finding; at: number }[] = []
  for (const [last, { now, finding }] of found.entries()) {
    // Those up to here that found the same, without another between.
    const others = found.slice(0, last).findLastIndex(one => one.finding !== finding)
    const before = told.at(-1) ?? { finding: 'calm', at: -Infinity }
    const since = found[others + 1]!.now
    const isNew = finding !== before.finding && now - since >= patienceMs(finding, forMs) - marginMs
    const isAgain =
      finding === before.finding &&
      finding !== 'calm' &&
      repeatMs !== null &&
      now - before.at >= repeatMs - marginMs
    if (isNew || isAgain) told.push({ finding, at: now })
  }
  return told.map(({ finding, at }) => ({ state: finding === 'calm' ? 'resolved' : finding, at }))
}
