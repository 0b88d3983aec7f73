/** Every duration of the answer cache, in milliseconds. shared/cache/README.md, "Times". */

export interface CacheTimes {
  /** An answer in memory is served this long without a look at the store. */
  memoryMs: number
  /** How long an answer stays as a stale copy, past its freshness. */
  staleMs: number
  /** Another process may take a lease that was not renewed for this long. */
  leaseMs: number
  renewMs: number
  /** How often a process looks at the head while another one runs the engine. */
  pollMs: number
  /**
   * The longest that an answer waits for what is written of it: itself, a failure, a use. After the response an instance
   * of Cloud Run may have no CPU (https://cloud.google.com/run/docs/configuring/billing-settings).
   */
  writeMs: number
  /** How long the store is not asked after a failure. */
  storeDownMs: number
  /** How long the engine does not run after a failure: this long, then twice, four and eight times as long. */
  backOffMs: number
}

export type LeaseTimes = Pick<CacheTimes, 'leaseMs' | 'renewMs'>

export const cacheTimes: CacheTimes = {
  memoryMs: 5000,
  staleMs: 3_600_000,
  leaseMs: 6000,
  renewMs: 2000,
  pollMs: 250,
  writeMs: 1000,
  storeDownMs: 1000,
  backOffMs: 1000,
}

/** How long a caller's own mistake is recorded: it fails again with each repetition. */
export const mistakeMs = 60_000

/** One process records a use of one key at most this often. */
export const noteEveryMs = 60_000
