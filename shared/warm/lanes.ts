/** Does the same for each item, `width` of them at a time, in order of the list. `act` has to see to its own errors. */
export async function inLanes<T>(items: T[], width: number, act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const lane = async () => {
    for (const item of rest) await act(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
}
