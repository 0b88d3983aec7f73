/** New entries, added at the top as they come. */
import type { Row } from '../../../shared/engines/engine.ts'
import { type Answer, now } from '../service.ts'
import type { Current } from './current.ts'
import { latest } from './latest.ts'
import { momentOf } from './range.ts'
import { rowsSql } from './sql.ts'
import { keyOf, timeOf } from './rows.ts'

interface Places {
  rows(): Row[]
  /** Whether rows are on their way: those that are there may answer another state. */
  isRunning(): boolean
  /** Called when the range begins later: rows before it are out of it. */
  moved(): void
  /** @param cut whether some of the new ones are left out */
  add(rows: Row[], cut: boolean): void
  /** Called after each look at the table. @param at when, in microseconds since 1970 */
  looked(at: number, answer: Answer): void
  fail(error: unknown): void
  show(on: boolean): void
}

const everyMs = 3000
/** Entries may come late, so as many microseconds are read again. */
const lateness = 1e7

/** While it is on, a look follows 3 seconds after the one before, and `view.range` moves with the time. */
export function follower(view: Current, { rows, isRunning, moved, add, looked, fail, show }: Places) {
  let timer: ReturnType<typeof setTimeout> | null = null
  const run = latest()

  async function look(): Promise<void> {
    if (isRunning()) return
    const shape = view.shape()
    const from = momentOf(view.state.from, now()) ?? null
    view.range = { from, to: now() + lateness }
    moved()
    const [newest] = rows()
    const last = newest ? timeOf(newest, shape) : (from ?? 0)
    const seen = new Set(
      rows()
        .slice(0, 1000)
        .map(row => keyOf(row, shape)),
    )
    const within = { from: Math.max(last - lateness, from ?? 0), to: view.range.to }
    await run(async signal => {
      const sql = rowsSql(view.state, shape, within, view.endpoint.maxRows)
      const answer = await view.query(sql, signal, { within })
      const added = answer.rows.filter(row => !seen.has(keyOf(row, shape)))
      if (added.length > 0) add(added, answer.truncated)
      looked(now(), answer)
    }, failed)
  }

  /** What is on the screen stays where a look is given up. */
  function failed(error: unknown): void {
    if (!(error instanceof DOMException)) fail(error)
  }

  function again(): void {
    timer = setTimeout(() => void look().finally(() => timer && again()), everyMs)
  }

  return {
    isOn: () => timer !== null,
    start() {
      show(true)
      again()
    },
    stop() {
      if (timer) clearTimeout(timer)
      timer = null
      run.stop()
      show(false)
    },
  }
}
