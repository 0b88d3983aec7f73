/** Periods in minutes that divide a day, as a crontab line can express them. */
const periods = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440]

/** How often the warm function is called for an endpoint: minutes, the longest such period of at most `seconds`. */
export function warmMinutes(seconds: number): number {
  return periods.findLast(period => period * 60 <= seconds) ?? 1
}
