/** New entries, added at the top as they come. */
import { batch } from '@preact/signals'
import { bytesText } from '../../../shared/visible-text.ts'
import type { Row } from '../../../shared/engines/engine.ts'
import { type Answer, now } from '../service.ts'
import { type Asking, bytesOf } from './asking.ts'
import { takeLatest } from '../resource.ts'
import { momentOf, shown } from './range.ts'
import { keyOf, timeOf } from './rows.ts'
import { rowsSql } from './sql.ts'
import { blocksOf, type Found, type Store } from './store.ts'
import { zoneName } from './zone.ts'

const everyMs = 3000
/** Entries may come late, so as many microseconds are read again. */
const lateness = 1e7
/** As many rows may be among those that are read again. */
const remembered = 1000

/** While it is on, a look follows 3 seconds after the one before, and the range moves with the time. */
export class LiveTail {
  readonly #store: Store
  readonly #asking: Asking
  readonly #run = takeLatest()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(store: Store, asking: Asking) {
    this.#store = store
    this.#asking = asking
  }

  start(): void {
    this.#asking.bytesRead = 0
    this.#store.following.value = { arrivals: 0, looked: 'waiting for new rows' }
    this.#again()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#run.stop()
    this.#store.following.value = null
  }

  #again(): void {
    // A look that was given up by a stop begins no row of looks beside that of the next start.
    const timer = setTimeout(
      () => void this.#look().finally(() => this.#timer === timer && this.#again()),
      everyMs,
    )
    this.#timer = timer
  }

  async #look(): Promise<void> {
    if (this.#asking.isBusy()) return
    const { state, shape, rows, range, endpoint } = this.#store
    const from = momentOf(state.value.from, now(), state.value.zone) ?? null
    range.value = { from, to: now() + lateness }
    this.moved()
    const [newest] = rows.value
    const last = newest ? timeOf(newest, shape.value) : (from ?? 0)
    const seen = new Set(rows.value.slice(0, remembered).map(row => keyOf(row, shape.value)))
    const within = { from: Math.max(last - lateness, from ?? 0), to: range.value.to }
    const job = async (signal: AbortSignal) => {
      const sql = rowsSql(state.value, shape.value, within, endpoint.maxRows)
      const answer = await this.#store.query(sql, signal, { within })
      const added = answer.rows.filter(row => !seen.has(keyOf(row, shape.value)))
      if (added.length > 0) this.add(added, answer.truncated)
      this.#looked(now(), answer)
    }
    // What is on the screen stays where a look is given up.
    await this.#run(job, error => error !== 'stopped' && this.#asking.failed(error))
  }

  /** The range begins later: what is before it goes. */
  moved(): void {
    const { range, found, rows, shape, total } = this.#store
    const { from } = range.value
    if (from === null || !found.value) return
    const kept = rows.value.findLastIndex(row => timeOf(row, shape.value) >= from) + 1
    const gone = rows.value.length - kept
    if (gone === 0) return
    found.value = { ...found.value, blocks: firstOf(found.value.blocks, kept) }
    if (total.value !== null) total.value -= gone
  }

  /** New rows at the top. @param isCut whether some are left out */
  add(rows: Row[], isCut: boolean): void {
    const { found, state, problem, total, uncharted, following } = this.#store
    const before = found.value ?? { state: state.value, blocks: [], cost: '', isAll: true, isCut }
    batch(() => {
      problem.value = null
      found.value = {
        ...before,
        blocks: [...blocksOf(rows, true), ...before.blocks],
        isCut: before.isCut || isCut,
      }
      if (total.value !== null) total.value += rows.length
      uncharted.value += rows.length
      const { arrivals, looked } = following.value ?? { arrivals: 0, looked: '' }
      following.value = { arrivals: arrivals + rows.length, looked }
    })
  }

  /** After each look at the table: says so, and what that has cost. */
  #looked(at: number, answer: Answer): void {
    const { state, following } = this.#store
    this.#asking.bytesRead += bytesOf(answer)
    const { bytesRead } = this.#asking
    const { arrivals } = following.value ?? { arrivals: 0 }
    const { zone } = state.value
    const time = `${shown(at, zone).slice(11, 19)} ${zoneName(zone)}`
    const news = arrivals ? `${arrivals.toLocaleString('en')} new` : 'nothing new'
    const read = bytesRead > 0 ? `, ${bytesText(bytesRead)} read` : ''
    following.value = { arrivals, looked: `looked at ${time}: ${news}${read}` }
    this.#asking.chartUpTo(at)
  }
}

function firstOf(blocks: Found['blocks'], count: number): Found['blocks'] {
  let left = count
  return blocks.flatMap(block => {
    const rows = block.rows.slice(0, Math.max(0, left))
    left -= block.rows.length
    return rows.length === block.rows.length ? block : rows.length > 0 ? { ...block, rows } : []
  })
}
