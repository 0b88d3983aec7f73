import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { openServices } from '../../../shared/services.ts'
import { program, runCommand } from '../testing/command.ts'
import { logsCommand } from './command.ts'
import { loadLogs } from './load.ts'
import { files, newFolder, query, tablesFolder } from './testing/folder.ts'

const table = 'postgres.logs'
const line = '{"timestamp":"2026-01-31T12:00:00Z","project":"p","event_message":"m"}\n'

const run = (folder: string, args: string[]) =>
  runCommand(
    logsCommand(
      () => ({ logsFolder: join(folder, 'logs'), tablesFolder }),
      async act => {
        const services = await openServices(loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' }))
        await act(services)
        await services.close()
      },
    ),
    args,
  )

/** The program itself, on a folder's logs. */
function start(folder: string, args: string[], before: string[] = [], more: Record<string, string> = {}) {
  const env = { PATH: process.env['PATH'], DATA_DIR: folder, ...more }
  return spawn(process.execPath, [...before, ...program, 'logs', ...args], { env })
}

async function runProgram(folder: string, args: string[], input: string) {
  const child = start(folder, args)
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number]
  return { out, err, code }
}

describe('the command line', () => {
  test('loads a file and prints the number of rows and their times', async () => {
    const folder = newFolder()
    const file = join(folder, 'a.ndjson')
    writeFileSync(file, line)
    expect(await run(folder, ['load', table, file])).toEqual({
      code: 0,
      out: 'postgres.logs: rows loaded: 1; bad lines: 0; from 2026-01-31T12:00:00.000000Z to 2026-01-31T12:00:00.000000Z\n',
      err: '',
    })
  })

  test('loads standard input, reports bad lines on standard error, and succeeds for the good ones', async () => {
    const { code, out, err } = await runProgram(newFolder(), ['load', table, '-'], `x\n${line}`)
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('rows loaded: 1;') })
    expect(err).toMatch(/^-:1: not JSON: .*\n$/)
  })

  test('prints every table with its rows and their times', async () => {
    const folder = newFolder()
    const file = join(folder, 'a.ndjson')
    writeFileSync(file, line)
    await run(folder, ['load', table, file])
    const { out } = await run(folder, ['tables'])
    expect(out).toContain('postgres.logs: 1 rows from 2026-01-31 12:00:00+00 to 2026-01-31 12:00:00+00\n')
    expect(out).toContain('cloudflare.logs.prod: 0 rows\n')
  })

  test('makes samples in all tables, and clears one', async () => {
    const folder = newFolder()
    const { out, code } = await run(folder, ['sample', '--rows', '200', '--seed', '7'])
    expect(code).toBe(0)
    expect(out).toContain('cloudflare.logs.prod: 200 sample rows\n')
    expect(readdirSync(join(folder, 'logs'))).toHaveLength(9)
    expect(await run(folder, ['clear', table])).toMatchObject({
      code: 0,
      out: 'postgres.logs is empty; removed files: 1\n',
    })
  })

  test.each([
    [['load', 'nope', '-'], 'There is no log table "nope". The tables are:\n  cloudflare.logs.prod\n'],
    [['load', table, '/missing'], '"/missing" cannot be read (ENOENT)'],
    [['load', table], "missing required argument 'file'"],
    [['load', table, '-', '--format', 'xml'], 'Allowed choices are ndjson, combined'],
    [['sample', '--rows', 'many'], 'Write a whole number from 1'],
    [['clear', 'nope'], 'There is no log table "nope"'],
  ])('reports the error in %j', async (args, message) => {
    const { code, out, err } = await run(newFolder(), args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
  })

  test('fails when nothing could be loaded', async () => {
    const { code, out } = await runProgram(newFolder(), ['load', table, '-'], 'x\n')
    expect({ code, out }).toEqual({ code: 1, out: 'postgres.logs: rows loaded: 0; bad lines: 1\n' })
  })
})

describe('a load that does not live to its end', () => {
  /** Begins a load of more rows than one file holds, and ends it by a signal when some are staged. */
  async function end(folder: string, signal: 'SIGINT' | 'SIGKILL') {
    const child = start(folder, ['load', table, '-'])
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    // It may end before it has read everything.
    child.stdin.on('error', () => {})
    child.stdin.write(line.repeat(60_000))
    const staged = () => readdirSync(join(folder, 'logs'), { recursive: true, encoding: 'utf8' })
    while (!staged().some(name => name.startsWith('.stage-') && name.endsWith('0001.parquet'))) {
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    child.kill(signal)
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, err }
  }

  async function loaded() {
    const folder = newFolder()
    const [logs, file] = [join(folder, 'logs'), join(folder, 'a.ndjson')]
    writeFileSync(file, line)
    await loadLogs({ logsFolder: logs, tablesFolder, table, files: [file], out: () => {} })
    return { folder, logs, before: files(logs, table) }
  }

  test('by Ctrl-C leaves the table as it was, and nothing else', async () => {
    const { folder, logs, before } = await loaded()
    expect(await end(folder, 'SIGINT')).toEqual({ code: 1, err: 'Stopped. The tables are as they were.\n' })
    expect(readdirSync(logs)).toEqual([table])
    expect(files(logs, table)).toEqual(before)
  })

  test('by a kill leaves the table as it was', async () => {
    const { folder, logs, before } = await loaded()
    expect(await end(folder, 'SIGKILL')).toEqual({ code: null, err: '' })
    expect(files(logs, table)).toEqual(before)
    expect(await query(logs, table, 'SELECT count(*) AS count FROM logs')).toEqual([{ count: '1' }])
  })

  /** A module that kills its process at one of the calls that give files their names. */
  const killAt = (calls: number) =>
    `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    let left = ${calls}
    for (const name of ['renameSync', 'linkSync']) {
      const real = fs[name]
      fs[name] = (...args) => {
        if (left-- === 0) process.kill(process.pid, 'SIGKILL')
        return real(...args)
      }
    }
    syncBuiltinESMExports()`)}`

  test('by a kill between any two renames brings all of its files or none, and the next load brings all', async () => {
    const folder = newFolder()
    const logs = join(folder, 'logs')
    const paths = ['a', 'b', 'c'].map(name => join(folder, `${name}.ndjson`))
    const write = (rows: number[]) => {
      rows.forEach((count, at) => writeFileSync(paths[at]!, line.replace('"m"', `"${at}"`).repeat(count)))
      return paths.slice(0, rows.length)
    }
    const load = async (rows: number[]) =>
      loadLogs({ logsFolder: logs, tablesFolder, table, files: write(rows), out: () => {} })
    const counts = async () => {
      const sql = `SELECT event_message || ':' || count(*) AS rows FROM logs GROUP BY event_message ORDER BY 1`
      return (await query(logs, table, sql)).map(({ rows }) => rows as string).join()
    }
    const seen: string[] = []
    for (let calls = 0; ; calls++) {
      rmSync(logs, { recursive: true, force: true })
      await load([1, 1])
      // Its row is in one file with those that are to be replaced.
      const stdin = Readable.from([Buffer.from(line.replace('"m"', '"x"'))])
      await loadLogs({ logsFolder: logs, tablesFolder, table, files: ['-'], stdin, out: () => {} })
      expect(files(logs, table)).toHaveLength(1)
      const child = start(folder, ['load', table, ...write([2, 2, 1])], ['--import', killAt(calls)])
      const [code] = (await once(child, 'close')) as [number | null]
      seen.push(await counts())
      await load([2, 2, 1])
      expect(await counts()).toBe('0:2,1:2,2:1,x:1')
      if (code === 0) break
      expect(code).toBeNull()
    }
    // Three folders and the one of the merged file are renamed, and a record is linked; the last run was not killed.
    expect(seen).toHaveLength(6)
    expect(seen).toEqual([...Array(5).fill('0:1,1:1,x:1'), '0:2,1:2,2:1,x:1'])
  })
})

test('paths are those of the folder in which npm was called', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'a.ndjson'), line)
  const child = start(folder, ['load', table, 'a.ndjson'], [], { INIT_CWD: folder })
  const [code] = (await once(child, 'close')) as [number]
  expect(code).toBe(0)
})
