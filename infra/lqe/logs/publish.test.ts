/** What loads leave in the folder of a table: few files, all rows, also where loads are killed, replaced or side by side. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import { commitLoads, type LoadedSource, readLoads } from '../../../shared/engines/duckdb/loads.ts'
import { formats } from '../../../shared/stores/format.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { rounds } from '../../../shared/testing/rounds.ts'
import { loadLogs } from './load.ts'
import { clearLogs } from './publish.ts'
import { writeSample } from './sample.ts'
import { files, newFolder, query, tablesFolder } from './testing/folder.ts'

const table = 'postgres.logs'
const day = 86_400_000

const line = (id: string, time = 1_769_860_800_000_000) =>
  `${JSON.stringify({ id, timestamp: time, project: 'p', event_message: `is ${id}` })}\n`

/** Loads a text from standard input, or as the file of a name. */
async function load(logsFolder: string, text: string, name = '-'): Promise<string[]> {
  const out: string[] = []
  const path = name === '-' ? name : join(logsFolder, '..', `${name}.ndjson`)
  if (name !== '-') writeFileSync(path, text)
  const stdin = Readable.from([Buffer.from(text)])
  await loadLogs({ logsFolder, tablesFolder, table, files: [path], stdin, out: said => out.push(said) })
  return out
}

function newLogs(): string {
  return join(newFolder(), 'logs')
}

async function ids(logs: string): Promise<string[]> {
  return (await query(logs, table, 'SELECT id FROM logs ORDER BY id')).map(({ id }) => id as string)
}

const numbered = (count: number, of = 'n') =>
  Array.from({ length: count }, (_, at) => `${of}${String(at).padStart(5, '0')}`)

const folders = (logs: string) => readdirSync(join(logs, table)).filter(name => name.startsWith('load-'))
const record = (logs: string) => readLoads(join(logs, table))

/** As a version left them that merged nothing: a folder for each load. */
async function loadApart(logs: string, names: string[]): Promise<void> {
  const sources: LoadedSource[] = []
  for (const name of names) {
    const alone = newLogs()
    await load(alone, line(name), name)
    mkdirSync(join(logs, table), { recursive: true })
    for (const folder of folders(alone)) renameSync(join(alone, table, folder), join(logs, table, folder))
    sources.push(...record(alone).sources)
  }
  const made = join(logs, 'record.json')
  writeFileSync(made, JSON.stringify({ sources, replaced: [] }))
  expect(commitLoads(join(logs, table), made, 0)).toBe(true)
  rmSync(made)
}

describe('small loads', () => {
  test('end in one file, sorted by time, with every row once', async () => {
    const logs = newLogs()
    const names = numbered(rounds(12, 300))
    for (const [at, name] of names.entries()) await load(logs, line(name, 1_769_860_800_000_000 - at))
    expect(await ids(logs)).toEqual(names)
    expect(files(logs, table)).toEqual([expect.stringMatching(/^load-[^/]+\/merged\.parquet$/)])
    const read = await query(logs, table, 'SELECT id FROM logs')
    expect(read.map(({ id }) => id)).toEqual(names.toReversed())
  })

  test('that others have left apart are merged by the next load', async () => {
    const logs = newLogs()
    const names = numbered(5)
    await loadApart(logs, names)
    await load(logs, line('z'))
    expect(await ids(logs)).toEqual([...names, 'z'])
    expect(files(logs, table)).toHaveLength(1)
  })

  test('are merged with a larger file once they are a part of it worth the writing', async () => {
    const logs = newLogs()
    await load(
      logs,
      numbered(3_200)
        .map(id => line(id))
        .join(''),
    )
    const large = files(logs, table)
    for (const name of ['a', 'b']) await load(logs, line(name))
    expect(files(logs, table)).toHaveLength(2)
    expect(files(logs, table)).toEqual(expect.arrayContaining(large))
    await load(
      logs,
      numbered(98, 'x')
        .map(id => line(id))
        .join(''),
    )
    expect(files(logs, table)).toHaveLength(1)
    expect(await ids(logs)).toHaveLength(3_300)
  })

  test('that are loaded again take the place of their rows in the merged file, and of no others', async () => {
    const logs = newLogs()
    for (const name of ['a', 'b', 'c']) await load(logs, line(name), name)
    await load(logs, line('from input'))
    expect(files(logs, table)).toHaveLength(1)
    const said = [await load(logs, line('b') + line('b2'), 'b'), await load(logs, line('other'), 'c')]
    expect(said).toEqual(
      [1, 1].map(() => [expect.stringMatching('replaces the rows that it brought before: 1')]),
    )
    expect(await ids(logs)).toEqual(['a', 'b', 'b2', 'from input', 'other'])
    await load(logs, line('from input') + line('more'))
    await load(logs, line('a'), 'a')
    expect(await ids(logs)).toEqual(['a', 'b', 'b2', 'from input', 'more', 'other'])
    expect(record(logs)).toMatchObject({ format: formats.loads })
    expect(record(logs).sources.map(({ rows }) => rows)).toEqual([2, 1, 2, 1])
    expect(files(logs, table)).toHaveLength(1)
  })

  test('and the sample, which is replaced as a whole', async () => {
    const logsFolder = newLogs()
    const sample = { logsFolder, tablesFolder, now: new Date('2026-11-21T12:00:00Z'), rows: 30 }
    const count = async () =>
      Number((await query(logsFolder, table, 'SELECT count(*) AS n FROM logs'))[0]!['n'])
    await writeSample(sample)
    const before = await count()
    await load(logsFolder, line('own'))
    await writeSample(sample)
    expect(await count()).toBe(before + 1)
    expect(await clearLogs({ logsFolder, tablesFolder, table })).toBeGreaterThan(0)
    expect(await count()).toBe(0)
  })

  test('leave files of people alone, and what cannot be read', async () => {
    const logs = newLogs()
    await load(logs, line('a'))
    const [own] = files(logs, table)
    const mine = join(logs, table, 'mine.parquet')
    writeFileSync(mine, readFileSync(join(logs, table, own!)))
    await load(logs, line('b'))
    expect(await ids(logs)).toEqual(['a', 'a', 'b'])
    const [merged] = files(logs, table).filter(file => file !== 'mine.parquet')
    const whole = readFileSync(join(logs, table, merged!))
    writeFileSync(join(logs, table, merged!), whole.subarray(0, 50))
    await load(logs, line('c'))
    writeFileSync(join(logs, table, merged!), whole)
    expect(await ids(logs)).toEqual(['a', 'a', 'b', 'c'])
  })

  test('of standard input are remembered, the last 2,000, and the rows of all stay', async () => {
    const logs = newLogs()
    await load(logs, line('a'))
    const { sources, number } = record(logs)
    const many = numbered(2_005).map(hash => ({ ...sources[0]!, hash, rows: 0 }))
    const made = join(logs, 'record.json')
    writeFileSync(made, JSON.stringify({ sources: [...sources, ...many], gone: {} }))
    commitLoads(join(logs, table), made, number)
    rmSync(made)
    for (const name of ['b', 'c']) await load(logs, line(name))
    expect(record(logs).sources).toHaveLength(2_001)
    expect(record(logs).sources[0]).toMatchObject({ source: '', rows: 1 })
    expect(await ids(logs)).toEqual(['a', 'b', 'c'])
  })

  test('none is lost where several load at once', async () => {
    const logs = newLogs()
    const names = numbered(12)
    await Promise.all(names.map(async name => load(logs, line(name), name)))
    await load(logs, line('z'))
    expect(await ids(logs)).toEqual([...names, 'z'])
    expect(files(logs, table)).toHaveLength(1)
  })
})

describe('the files that a load replaced', () => {
  /** As if more than ten minutes had gone by. @returns the folders of files that are gone */
  function age(logs: string): string[] {
    const { number, sources, gone } = record(logs)
    const earlier = Object.fromEntries(Object.keys(gone).map(name => [name, Date.now() - 700_000]))
    const made = join(logs, 'record.json')
    writeFileSync(made, JSON.stringify({ sources, gone: earlier }))
    commitLoads(join(logs, table), made, number)
    rmSync(made)
    return Object.keys(gone)
  }

  test('or that the table had before it was cleared stay for queries under way', async () => {
    const logs = newLogs()
    await load(logs, line('a'))
    const before = folders(logs)
    expect(await clearLogs({ logsFolder: logs, tablesFolder, table })).toBe(1)
    expect([folders(logs), await ids(logs)]).toEqual([before, []])
    expect(age(logs)).toEqual(before)
    expect(await clearLogs({ logsFolder: logs, tablesFolder, table })).toBe(0)
    expect(folders(logs)).toEqual([])
  })

  test('stay for queries under way, and go with a load ten minutes later', async () => {
    const logs = newLogs()
    for (const id of ['a', 'b']) await load(logs, line(id), 'same')
    expect(folders(logs)).toHaveLength(2)
    const gone = age(logs)
    await load(logs, line('c'), 'same')
    expect(folders(logs).filter(name => gone.includes(name))).toEqual([])
    expect(folders(logs)).toHaveLength(2)
    const records = readdirSync(join(logs, table)).filter(name => /^loads\..*json$/.test(name))
    expect(records.sort()).toEqual(['loads.3.json', 'loads.4.json'])
  })

  test('and those that a killed load left a day ago are gone after a load, and no others', async () => {
    const logs = newLogs()
    await load(logs, line('a'))
    const dayAgo = (Date.now() - day - 60_000) / 1000
    for (const name of [...folders(logs), 'load-old', 'load-new']) {
      mkdirSync(join(logs, table, name), { recursive: true })
      if (name !== 'load-new') utimesSync(join(logs, table, name), dayAgo, dayAgo)
    }
    await load(logs, line('b'))
    expect(folders(logs)).not.toContain('load-old')
    expect(folders(logs)).toContain('load-new')
    expect(await ids(logs)).toEqual(['a', 'b'])
  })
})

const rollup = {
  name: 'app.rollup',
  sql: `SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) AS minute, UPPER(event_message) AS message, COUNT(*) AS entries FROM \`${table}\` GROUP BY minute, message`,
  partition: 'minute',
  cluster: [],
  refreshMinutes: 5,
}
const limits = { maxRows: 10, timeoutMs: 60_000 }

function openEngine(logsFolder: string) {
  return openDuckDb({ logsFolder, tables: readTableSchemas(tablesFolder) })
}

async function sums(engine: ReturnType<typeof openEngine>): Promise<unknown[]> {
  const sql = `SELECT SUM(entries) AS entries, (SELECT COUNT(*) FROM \`${table}\`) AS lines FROM \`app.rollup\``
  return (await engine.run({ sql, bindings: [], rollups: [rollup] }, limits)).rows
}

/** Names of the parts of the roll-up; a part that is made again has another time. */
function parts(logs: string): string[] {
  const [folder] = readdirSync(join(logs, table)).filter(name => /^rollup-\w+$/.test(name))
  return readdirSync(join(logs, table, folder!)).sort()
}

describe('the parts of a roll-up', () => {
  test('are there before the first query: by its making for the files there are, by loads for theirs', async () => {
    const logs = newLogs()
    const engine = openEngine(logs)
    await load(logs, line('a'))
    expect(await engine.rollups.has(rollup)).toBe(false)
    await engine.rollups.create(rollup)
    expect(await engine.rollups.has(rollup)).toBe(true)
    expect(parts(logs)).toHaveLength(files(logs, table).length)
    await load(
      logs,
      numbered(3_000)
        .map(id => line(id))
        .join(''),
      'large',
    )
    await load(logs, line('b'))
    const made = parts(logs)
    expect(await sums(engine)).toEqual([{ entries: 3_002, lines: 3_002 }])
    // The parts of replaced files stay as long as those.
    expect(parts(logs)).toEqual(made)
    expect(files(logs, table).length).toBeLessThan(made.length)
    await engine.close()
  })

  test('are not made for a roll-up that was removed', async () => {
    const logs = newLogs()
    const engine = openEngine(logs)
    await load(logs, line('a'))
    await engine.rollups.create(rollup)
    await engine.rollups.remove(rollup)
    await load(logs, line('b'))
    expect(readdirSync(join(logs, table)).filter(name => name.startsWith('rollup-'))).toEqual([])
    await engine.close()
  })
})

test('queries and roll-ups over small loads that are merged see each load whole, in every order of kills', async () => {
  const logs = newLogs()
  const loader = `
    const { loadLogs } = await import(${JSON.stringify(join(import.meta.dirname, 'load.ts'))})
    const { Readable } = await import('node:stream')
    const [, logsFolder, tablesFolder, table, from] = process.argv
    for (let at = Number(from); ; at++) {
      const lines = [0, 1, 2].map(part => JSON.stringify({ id: at + '.' + part, timestamp: 1769860800000000 + at, project: 'p' }) + '\\n')
      const stdin = Readable.from([Buffer.from(lines.join(''))])
      await loadLogs({ logsFolder, tablesFolder, table, files: ['-'], stdin, out: () => {} })
      console.log(at)
    }`
  await load(logs, line('a') + line('b') + line('c'))
  const engine = openEngine(logs)
  await engine.rollups.create(rollup)
  const ended = new AbortController()
  const torn: unknown[] = []
  let readings = 0
  const reading = (async () => {
    for (; !ended.signal.aborted; readings++, await sleep(20)) {
      const [row] = (await sums(engine)) as [{ entries: number; lines: number }]
      if (row.entries % 3 !== 0 || row.lines % 3 !== 0) torn.push(row)
    }
  })()
  const told: number[] = []
  for (let round = 0; round < rounds(2, 150); round++) {
    const args = ['--input-type=module', '-e', loader, logs, tablesFolder, table, String(round * 1_000)]
    const child = execFile(process.execPath, args)
    child.stdout!.on('data', (text: string) => told.push(...text.trim().split('\n').map(Number)))
    const closed = new Promise(resolve => child.once('close', resolve))
    // From the first load on, at any moment of those that follow.
    while (!told.some(at => at >= round * 1_000) && child.exitCode === null) await sleep(5)
    await sleep(Math.random() * 400)
    child.kill('SIGKILL')
    await closed
  }
  ended.abort()
  await reading
  expect(torn).toEqual([])
  expect(readings).toBeGreaterThan(3)
  const found = await ids(logs)
  expect(new Set(found).size).toBe(found.length)
  expect(found.length % 3).toBe(0)
  for (const at of told) expect(found).toEqual(expect.arrayContaining([0, 1, 2].map(part => `${at}.${part}`)))
  await load(logs, line('d') + line('e') + line('f'))
  expect(files(logs, table)).toEqual(['empty.parquet', expect.stringMatching(/merged/)])
  expect(await sums(engine)).toEqual([{ entries: found.length + 3, lines: found.length + 3 }])
  await engine.close()
})
