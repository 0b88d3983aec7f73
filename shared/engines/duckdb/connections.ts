import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/**
 * Each run in progress holds a thread of Node's pool of four, which files and DNS share: so no more at a time than
 * this.
 */
const most = 3

/** Lends connections, one to a run. */
export class Connections {
  private readonly instance: DuckDBInstance
  private readonly idle: DuckDBConnection[] = []
  private readonly waiting: (() => void)[] = []
  private lent = 0

  constructor(instance: DuckDBInstance) {
    this.instance = instance
  }

  /** Waits its turn, then runs `use` with a connection that nobody else uses. */
  async with<Result>(use: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    if (this.lent >= most) await new Promise<void>(resolve => this.waiting.push(resolve))
    else this.lent++
    try {
      const connection = this.idle.pop() ?? (await this.instance.connect())
      try {
        return await use(connection)
      } finally {
        this.idle.push(connection)
      }
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.lent--
    }
  }

  close(): void {
    for (const connection of this.idle.splice(0)) connection.closeSync()
    this.instance.closeSync()
  }
}
