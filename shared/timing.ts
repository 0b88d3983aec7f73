/** The duration of each step of a request, for the Server-Timing header. */
export class Timing {
  private readonly steps = new Map<string, number>()

  /** Measures a step, also if it fails; several of one name are added up. */
  async measure<T>(step: string, act: () => T | Promise<T>): Promise<T> {
    const end = this.begin(step)
    try {
      return await act()
    } finally {
      end()
    }
  }

  /** Begins a step. @returns what ends it */
  begin(step: string): () => void {
    const started = performance.now()
    return () => void this.steps.set(step, (this.steps.get(step) ?? 0) + performance.now() - started)
  }

  /** `auth;dur=0.1, engine;dur=12.5`, in milliseconds. */
  toString(): string {
    return [...this.steps].map(([step, ms]) => `${step};dur=${ms.toFixed(1)}`).join(', ')
  }
}
