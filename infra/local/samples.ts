import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import cliProgress from 'cli-progress'
import type { Config } from '../../shared/config.ts'
import { writeSample } from '../lqe/logs/sample.ts'

/** Makes sample logs if the folder has no logs: a user's own are never mixed with samples. */
export async function makeSampleLogs({ dataDir, tablesDir }: Config): Promise<void> {
  const logsFolder = join(dataDir, 'logs')
  const present = existsSync(logsFolder) ? readdirSync(logsFolder) : []
  if (present.some(name => !name.startsWith('.'))) return // a dot: left by an interrupted load
  console.log(`Making sample logs in ${logsFolder}`)
  const bar = new cliProgress.SingleBar({ clearOnComplete: true }, cliProgress.Presets.shades_classic)
  const onProgress = (done: number, total: number) => {
    if (!bar.isActive) bar.start(total, done)
    bar.update(done)
  }
  const counts = await writeSample({ logsFolder, tablesFolder: tablesDir, now: new Date(), onProgress })
  bar.stop()
  for (const [table, rows] of counts) console.log(`  ${table}: ${rows} rows`)
}
