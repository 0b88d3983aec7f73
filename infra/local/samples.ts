import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../shared/config.ts'
import { withProgress } from '../lqe/logs/command.ts'
import { defaults, writeSample } from '../lqe/logs/sample.ts'

/** Makes sample logs if the folder has no logs: a user's own are never mixed with samples. */
export async function makeSampleLogs({ dataDir, tablesDir }: Config): Promise<void> {
  const logsFolder = join(dataDir, 'logs')
  const present = existsSync(logsFolder) ? readdirSync(logsFolder) : []
  if (present.some(name => !name.startsWith('.'))) return // a dot: left by an interrupted load
  console.log(`Making sample logs in ${logsFolder}`)
  const folders = { logsFolder, tablesFolder: tablesDir }
  const counts = await withProgress('requests', defaults.rows, bar =>
    writeSample({ ...folders, now: new Date(), onProgress: done => bar.update(done) }),
  )
  for (const [table, rows] of counts) console.log(`  ${table}: ${rows} rows`)
}
