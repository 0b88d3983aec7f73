/** Sample logs: a week of invented requests to three projects, with what each leaves in the log of every service. */
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { entryReader } from './entries.ts'
import { authEntries } from './sample/auth.ts'
import { edgeEntry } from './sample/services.ts'
import type { Invented } from './sample/entries.ts'
import { functionEntries } from './sample/functions.ts'
import { Random } from './sample/random.ts'
import { realtimeEntries } from './sample/realtime.ts'
import { inventRequest, type Request, type Service } from './sample/requests.ts'
import { restEntries } from './sample/rest.ts'
import { schedule } from './sample/schedule.ts'
import { storageEntries } from './sample/storage.ts'
import { inventUsers, projects } from './sample/world.ts'
import { ParquetWriter, publish, withStage } from './parquet.ts'

export { projects }

export interface SampleOptions {
  logsFolder: string
  tablesFolder: string
  /** The moment that the logs go up to. */
  now: Date
  /** How many requests at the edge; the other tables get what belongs to these. */
  rows?: number
  /** The same seed, rows and now make the same logs. */
  seed?: number
  /** Called now and then with the number of requests done and of all. */
  onProgress?: (done: number, total: number) => void
  signal?: AbortSignal
}

export const defaults = { rows: 6000, seed: 1 }

const services: Record<Service, (request: Request, random: Random) => Iterable<Invented>> = {
  rest: restEntries,
  graphql: restEntries,
  auth: authEntries,
  storage: storageEntries,
  realtime: realtimeEntries,
  functions: functionEntries,
}

/**
 * Writes the sample logs of all tables. They take the place of an earlier sample, and of nothing else.
 * Memory is bounded, whatever the number of rows.
 * @returns how many rows each table got
 * @throws the signal's reason when it is aborted; the tables are then as they were
 */
export async function writeSample(options: SampleOptions): Promise<Map<string, number>> {
  const { rows = defaults.rows, seed = defaults.seed } = options
  const schemas = readTableSchemas(options.tablesFolder)
  return withStage(options.logsFolder, async stage => {
    const tables = new Map(
      [...schemas].map(([table, columns]) => {
        const unknown = (field: string) => {
          throw new Error(`The sample's ${table} has no column ${field}`)
        }
        return [
          table,
          { writer: new ParquetWriter(stage, table, columns), read: entryReader(columns, unknown) },
        ] as const
      }),
    )
    let done = 0
    for (const entries of sampleEntries(rows, seed, options.now)) {
      for (const { table, entry } of entries) {
        const { read, writer } = tables.get(table)!
        await writer.write(read(entry, 0))
      }
      if (++done % 1000 > 0) continue
      options.signal?.throwIfAborted()
      options.onProgress?.(done, rows)
    }
    const writers = [...tables.values()].map(({ writer }) => writer)
    for (const writer of writers) await writer.finish()
    options.signal?.throwIfAborted()
    publish(
      stage,
      writers.map(writer => ['sample', writer] as const),
    )
    return new Map(writers.map(writer => [writer.table, writer.rows]))
  })
}

/** For each request, in order of time, everything that it leaves in the logs. */
export function* sampleEntries(rows: number, seed: number, now: Date): Generator<Invented[]> {
  const random = new Random(seed)
  const users = inventUsers(300, Math.floor(now.getTime() / 1000), random)
  // What a request leaves behind may come up to a second after it, yet never after now.
  const end = (now.getTime() - 1000) * 1000
  for (const time of schedule(rows, end, random)) {
    const request = inventRequest(time, users, random)
    yield [edgeEntry(request, random), ...services[request.service](request, random)]
  }
}
