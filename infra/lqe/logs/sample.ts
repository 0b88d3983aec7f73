/** Sample logs: eight days of invented requests to three projects, with the entries of each in the log of every service. */
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { requestsTable } from '../../../shared/request-log.ts'
import { entryReader } from './entries.ts'
import { type Folders, ParquetWriter, withStage } from './parquet.ts'
import { publish } from './publish.ts'
import { restEntries } from './sample/database.ts'
import { type Incident, inventIncident, withIncident } from './sample/incident.ts'
import { Random } from './sample/random.ts'
import { inventRequest, type Request, schedule, type Service } from './sample/requests.ts'
import * as services from './sample/services.ts'
import { inventUsers, projects } from './sample/world.ts'

export { projects }

interface SampleOptions extends Folders {
  /** The last moment of the logs. */
  now: Date
  /** How many requests at the edge; the other tables get the entries that belong to these. */
  rows?: number
  /** The same seed, rows and now make the same logs. */
  seed?: number
  /** With an incident in the last hour (`sample/incident.ts`). */
  incident?: boolean
  /** Called every thousand requests with the number done. */
  onProgress?: (done: number) => void
  /** Gets what is to be said of a table that has the sample already. */
  out?: (line: string) => void
  signal?: AbortSignal
}

export const defaults = { rows: 6000, seed: 1 }

/**
 * Writes the sample logs of all tables, in place of an earlier sample. Where rows are sent elsewhere, they are added to each
 * table once in a UTC day, so that a sample that was cut off is completed by the next. Memory is bounded.
 * @returns how many rows each table got, of those that had no such sample
 * @throws the signal's reason when it is aborted; the tables are then as they were
 */
export async function writeSample(options: SampleOptions): Promise<Map<string, number>> {
  const { rows = defaults.rows, seed = defaults.seed, incident = false, signal, send, onProgress } = options
  return withStage(options.logsFolder, async stage => {
    const tables = new Map(
      [...readTableSchemas(options.tablesFolder)].filter(isSampled).map(([table, columns]) => {
        const read = entryReader(columns, field => {
          throw new Error(`The sample's ${table} has no column ${field}`)
        })
        return [
          table,
          { read, writer: new ParquetWriter(stage, table, columns, send !== undefined) },
        ] as const
      }),
    )
    let done = 0
    for (const entries of sampleEntries(rows, seed, options.now, incident)) {
      for (const { table, entry } of entries) {
        const { read, writer } = tables.get(table)!
        await writer.write(read(entry, 0))
      }
      if (++done % 1000 > 0) continue
      signal?.throwIfAborted()
      onProgress?.(done)
    }
    const writers = [...tables.values()].map(({ writer }) => writer)
    for (const writer of writers) await writer.finish()
    signal?.throwIfAborted()
    const content = JSON.stringify(['sample', options.now.toISOString().slice(0, 10), rows, seed, incident])
    const added = new Map<string, number>()
    for (const writer of writers) {
      const sample = { source: 'sample', options: '', bytes: 0, hash: '', writer }
      if (!send) await publish(stage, writer, [sample], ({ source }) => source === sample.source)
      const isNew = !send || writer.rows === 0 || (await send({ writers: [writer], content, signal }))
      if (isNew) added.set(writer.table, writer.rows)
      else options.out?.(`${writer.table}: has this sample of today already`)
    }
    return added
  })
}

/** The service itself writes its own requests. */
function isSampled([table]: [table: string, unknown]): boolean {
  return table !== requestsTable
}

/**
 * For each request, in order of time, all its entries in the logs: first the edge's, then its service's.
 * @param hasIncident the requests of its culprit are beside the others
 */
export function* sampleEntries(rows: number, seed: number, now: Date, hasIncident = false) {
  const random = new Random(seed)
  const users = inventUsers(300, Math.floor(now.getTime() / 1000), random)
  const end = lastMoment(now)
  const incident = hasIncident ? inventIncident(seed, end) : null
  for (const time of schedule(rows, end, random)) {
    const request = inventRequest(time, users, random)
    const entries = []
    for (const each of incident ? withIncident(incident, request, random) : [request])
      for (const { table, delay, message: event_message, ...content } of entriesOf(each, random))
        entries.push({
          table,
          entry: { id: random.uuid(), timestamp: time + delay, event_message, ...content },
        })
    yield entries
  }
}

/** What an investigation of a sample with an incident has to find. */
export function sampleIncident(seed: number, now: Date): Incident {
  return inventIncident(seed, lastMoment(now))
}

/** The entries of a request may be up to a second after it, yet none is after now. @returns microseconds since 1970 */
function lastMoment(now: Date): number {
  return (now.getTime() - 1000) * 1000
}

const serviceEntries: Record<Service, (request: Request, random: Random) => Iterable<services.SampleEntry>> =
  {
    rest: restEntries,
    graphql: restEntries,
    auth: services.authEntries,
    storage: services.storageEntries,
    realtime: services.realtimeEntries,
    functions: services.functionEntries,
  }

function* entriesOf(request: Request, random: Random): Generator<services.SampleEntry> {
  yield services.edgeEntry(request, random)
  yield* serviceEntries[request.service](request, random)
}
