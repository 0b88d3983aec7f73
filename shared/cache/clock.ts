/**
 * The store's clock, told between its answers by this process's monotonic one. Leases and ages are judged by it alone,
 * so that machines whose clocks differ by hours agree.
 */
export class StoreClock {
  /** Store time at monotonic zero; the latest observation, as store times never run backwards. */
  private base = Number.NaN

  /** Takes a time that the store has just told, in milliseconds since 1970 UTC. */
  observe(storeTime: number): void {
    const base = storeTime - performance.now()
    if (Number.isNaN(this.base) || base > this.base || this.base - base > toleranceMs) this.base = base
  }

  /** Milliseconds since 1970 UTC by the store's clock; NaN before the first observation. */
  now(): number {
    return performance.now() + this.base
  }
}

/** A slow answer makes the store look late; more than this is a clock that was set. */
const toleranceMs = 5000
