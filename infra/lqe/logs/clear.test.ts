import { describe, expect, test } from '@jest/globals'
import { clearLogs } from './clear.ts'
import { LogsError } from './error.ts'
import { writeSample } from './sample.ts'
import { files, newFolder, query, tablesFolder } from './testing/folder.ts'

const now = new Date('2026-11-21T12:00:00Z')

describe('clearing a table', () => {
  test('leaves it empty and readable, and the others as they were', async () => {
    const logsFolder = newFolder()
    await writeSample({ logsFolder, tablesFolder, now, rows: 100 })
    const others = files(logsFolder, 'cloudflare.logs.prod')
    expect(await clearLogs({ logsFolder, tablesFolder, table: 'postgREST.logs.prod' })).toBe(1)
    const columns = 'count(*) AS count, count(project) AS projects, count(metadata) AS metadata'
    expect(await query(logsFolder, 'postgREST.logs.prod', `SELECT ${columns} FROM logs`)).toEqual([
      { count: '0', projects: '0', metadata: '0' },
    ])
    expect(files(logsFolder, 'cloudflare.logs.prod')).toEqual(others)
  })

  test('may be done before there are any logs, and again', async () => {
    const options = { logsFolder: newFolder(), tablesFolder, table: 'postgres.logs' }
    expect(await clearLogs(options)).toBe(0)
    expect(await clearLogs(options)).toBe(0)
    expect(files(options.logsFolder, options.table)).toEqual(['empty.parquet'])
  })

  test('that is unknown names the tables there are', async () => {
    const clearing = clearLogs({ logsFolder: newFolder(), tablesFolder, table: 'nope' })
    await expect(clearing).rejects.toThrow(LogsError)
    await expect(clearing).rejects.toThrow('pgbouncer.logs.prod')
  })
})
