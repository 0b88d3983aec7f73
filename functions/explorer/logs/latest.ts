import type { Signal } from '@preact/signals'

/** One thing asked at a time: a new question ends the one before. */
export function latest() {
  let running: AbortController | null = null
  const run = async (job: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void) => {
    running?.abort()
    const own = new AbortController()
    running = own
    try {
      await job(own.signal)
    } catch (error) {
      if (running === own || !own.signal.aborted) failed(error)
    } finally {
      if (running === own) running = null
    }
  }
  return Object.assign(run, { stop: () => running?.abort(), isRunning: () => running !== null })
}

/** Nothing is on its way any more, unless it was asked again meanwhile. */
export function settle<T>(run: { isRunning(): boolean }, on: Signal<T>, idle: T): void {
  if (!run.isRunning()) on.value = idle
}
