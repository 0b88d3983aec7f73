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
