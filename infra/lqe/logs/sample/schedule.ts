import type { Random } from './random.ts'

const hour = 3_600_000_000
const hours = 8 * 24
/** The last hour has this part of all entries, so that a chart by minutes has something to show. */
const lastHourShare = 0.06

/**
 * The times of `count` requests over the last eight days, in order: more by day (UTC) than by night, most of all
 * within the last hour.
 * @param now the last moment, in microseconds since 1970
 * @returns microseconds since 1970
 */
export function* schedule(count: number, now: number, random: Random): Generator<number> {
  const start = now - hours * hour
  const upTo = sharesUpTo(start)
  let at = 0
  for (let index = 0; index < count; index++) {
    // One random moment in each of `count` equal parts of the whole: in order without sorting.
    const share = (index + random.next()) / count
    while (share >= upTo[at]! && at < hours - 1) at++
    const before = at === 0 ? 0 : upTo[at - 1]!
    const within = (share - before) / (upTo[at]! - before)
    yield Math.floor(start + (at + Math.min(within, 1 - 1e-9)) * hour)
  }
}

/** For each hour, the part of all requests that come by its end. */
function sharesUpTo(start: number): number[] {
  const weights = Array.from({ length: hours - 1 }, (_, at) => weightAt(start + (at + 0.5) * hour))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map(weight => (weight / total) * (1 - lastHourShare))
  let sum = 0
  return [...shares, lastHourShare].map(share => (sum += share))
}

/** Three times as many at 14:00 as at 2:00, and fewer at the weekend. */
function weightAt(micros: number): number {
  const time = new Date(micros / 1000)
  const daily = 1 + 0.5 * Math.cos(((time.getUTCHours() - 14) / 24) * 2 * Math.PI)
  return [0, 6].includes(time.getUTCDay()) ? daily * 0.6 : daily
}
