import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Deadline } from './deadline.ts'

/**
 * Each run in progress holds a thread of Node's pool of four, which files and DNS share: so no more at a time than
 * this.
 */
const most = 3

/** Lends connections, one to a run. */
export class Connections {
  private readonly instance: DuckDBInstance
  private readonly idle: DuckDBConnection[] = []
  private readonly waiting = new Set<() => void>()
  private lent = 0

  constructor(instance: DuckDBInstance) {
    this.instance = instance
  }

  /**
   * Waits its turn, then runs `use` with a connection that nobody else uses. The deadline ends the wait, and what
   * the connection runs; the error is then to be had from the deadline.
   */
  async with<Result>(
    deadline: Deadline,
    use: (connection: DuckDBConnection) => Promise<Result>,
  ): Promise<Result> {
    if (this.lent < most) this.lent++
    else await this.turn(deadline)
    try {
      const connection = this.idle.pop() ?? (await this.instance.connect())
      deadline.guard(() => connection.interrupt())
      try {
        deadline.check()
        return await use(connection)
      } finally {
        deadline.end()
        // An interruption may come to light only in what the connection does next.
        if (deadline.stopped) connection.closeSync()
        else this.idle.push(connection)
      }
    } finally {
      this.pass()
    }
  }

  close(): void {
    for (const connection of this.idle.splice(0)) connection.closeSync()
    this.instance.closeSync()
  }

  private async turn(deadline: Deadline): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.waiting.add(resolve)
    deadline.guard(() => {
      // A turn that has already come is not given up here, but where it is used.
      if (this.waiting.delete(resolve)) reject(new Error('stopped while waiting for a connection'))
    })
    await promise
  }

  /** Gives the turn to who waits longest. */
  private pass(): void {
    const [next] = this.waiting
    if (!next) {
      this.lent--
      return
    }
    this.waiting.delete(next)
    next()
  }
}
