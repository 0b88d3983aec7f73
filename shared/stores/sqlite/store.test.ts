import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqlite } from './store.ts'

const at = (id: string) => ({ collection: 'things', id })
const unavailable = { name: 'StoreError', reason: 'unavailable' }
const day = 86_400_000

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-store-'))
  file = join(folder, 'store.sqlite')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Starts a process that has `store` open on the file, and `at`. */
function start(code: string): ChildProcess {
  const source = `
    import { openSqlite } from ${JSON.stringify(new URL('./store.ts', import.meta.url).href)}
    const store = openSqlite({ file: ${JSON.stringify(file)} })
    const at = id => ({ collection: 'things', id })
    ${code}
    await store.close()`
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', source]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** What the process printed, once it has ended well. */
async function finished(child: ChildProcess): Promise<string> {
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [status] = await once(child, 'close')
  expect(status).toBe(0)
  return printed.trim()
}

describe('several processes on one file', () => {
  test('lose no update when they compare and set', async () => {
    const store = openSqlite({ file })
    await store.create(at('counter'), { count: 0 })
    const increments = `
      for (let done = 0; done < 50; ) {
        const { document } = await store.get(at('counter'))
        try {
          await store.replace(at('counter'), { count: document.fields.count + 1 }, document.version)
          done++
        } catch (error) { if (error.reason !== 'conflict') throw error }
      }`
    await Promise.all([1, 2, 3, 4].map(() => finished(start(increments))))
    expect((await store.get(at('counter'))).document?.fields).toEqual({ count: 200 })
    await store.close()
  })

  test('may all make it at once; one of them creates a document', async () => {
    const together = Date.now() + 500
    const code = (n: number) => `
      while (Date.now() < ${together});
      await store.create(at('own-${n}'), {})
      console.log(await store.create(at('shared'), {}).then(() => 'won', error => error.reason))`
    const printed = await Promise.all([1, 2, 3, 4, 5, 6].map(n => finished(start(code(n)))))
    expect(printed.sort()).toEqual(['conflict', 'conflict', 'conflict', 'conflict', 'conflict', 'won'])
    const store = openSqlite({ file })
    const { documents } = await store.query({ collection: 'things', limit: 10 })
    expect(documents.map(({ id }) => id)).toEqual([...[1, 2, 3, 4, 5, 6].map(n => `own-${n}`), 'shared'])
    await store.close()
  })

  test('see each other’s commits, at a time not before them', async () => {
    const reader = finished(
      start(`
        let reading
        do reading = await store.get(at('news')); while (!reading.document)
        console.log(JSON.stringify([reading.document.fields.text, reading.document.writtenAt, reading.readAt]))`),
    )
    const store = openSqlite({ file })
    const { writtenAt } = await store.create(at('news'), { text: 'here' })
    const [text, seen, readAt] = JSON.parse(await reader) as [string, number, number]
    expect([text, seen]).toEqual(['here', writtenAt])
    expect(readAt).toBeGreaterThanOrEqual(writtenAt)
    await store.close()
  })

  test('find nothing half-written by one that was killed, and go on at once', async () => {
    const writer = `
      const bytes = new Uint8Array(50_000)
      for (let round = 0; ; round++) {
        const ids = Array.from({ length: 20 }, (_, n) => 'part-' + n)
        await store.batch(ids.map(id => ({ type: 'replace', at: at(id), fields: { round, bytes } })))
        if (round === 0) console.log('writing')
      }`
    const store = openSqlite({ file })
    for (let kill = 0; kill < 5; kill++) {
      const child = start(writer)
      await once(child.stdout!, 'data')
      await sleep(Math.random() * 50)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const { documents } = await store.query({ collection: 'things', limit: 100, fields: ['round'] })
      expect(documents).toHaveLength(20)
      expect(new Set(documents.map(({ fields }) => fields['round'])).size).toBe(1)
      await store.replace(at('part-0'), { round: -1 })
    }
    await store.close()
  })
})

describe('a file that cannot be used', () => {
  test('is not available while another process holds it, and is again afterwards', async () => {
    const store = openSqlite({ file, busyMs: 20 })
    await store.create(at('a'), {})
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    await expect(store.replace(at('a'), { b: 1 })).rejects.toMatchObject(unavailable)
    expect((await store.get(at('a'))).document?.fields).toEqual({})
    other.exec('rollback')
    other.close()
    await store.replace(at('a'), { b: 1 })
    await store.close()
  })

  test('does not hold up the process while another one holds it: reads go on, and writes wait', async () => {
    const store = openSqlite({ file })
    await store.create(at('a'), {})
    const other = start(`
      import { DatabaseSync } from 'node:sqlite'
      const database = new DatabaseSync(${JSON.stringify(file)})
      database.exec('begin immediate')
      console.log('holding')
      setTimeout(() => database.exec('rollback'), 500)`)
    const ended = finished(other)
    await once(other.stdout!, 'data')
    const writes = Promise.all([1, 2, 3].map(n => store.replace(at(`b${n}`), { n })))
    const order: string[] = []
    const done = writes.then(() => order.push('writes'))
    for (let read = 0; read < 20; read++) await store.get(at('a'))
    order.push('reads')
    await done
    expect(order).toEqual(['reads', 'writes'])
    await ended
    await store.close()
  })

  test('is not available when it is no database', async () => {
    writeFileSync(file, 'no database at all, but long enough to be taken for one. '.repeat(100))
    const store = openSqlite({ file })
    await expect(store.get(at('a'))).rejects.toMatchObject(unavailable)
    await store.close()
  })

  test('is tried again by the next call', async () => {
    const store = openSqlite({ file: join(folder, 'later', 'store.sqlite') })
    await expect(store.get(at('a'))).rejects.toMatchObject(unavailable)
    mkdirSync(join(folder, 'later'))
    expect((await store.get(at('a'))).document).toBeNull()
    await store.close()
  })
})

test('only the owner may read the file and those beside it, also where others could before', async () => {
  const modes = () => ['', '-wal', '-shm'].map(end => (statSync(file + end).mode & 0o777).toString(8))
  for (let round = 0; round < 2; round++) {
    const store = openSqlite({ file })
    await store.create(at(`a${round}`), {})
    expect(modes()).toEqual(['600', '600', '600'])
    await store.close()
    chmodSync(file, 0o644)
  }
})

describe('a file that goes away while it is in use', () => {
  let logged: string[]
  const log = (severity: string, message: string) => void logged.push(`${severity} ${message}`)
  const gone = { ...unavailable, cause: { code: 'ENOENT' } }
  /** With what SQLite keeps beside it. */
  const remove = () => ['', '-wal', '-shm'].forEach(end => rmSync(file + end, { force: true }))

  beforeEach(() => {
    logged = []
  })

  test('is missed at once, and not made again, as an empty store would refuse every key', async () => {
    const store = openSqlite({ file, log })
    await store.create(at('a'), {})
    remove()
    await expect(store.get(at('a'))).rejects.toMatchObject(gone)
    await expect(store.replace(at('b'), {})).rejects.toMatchObject(gone)
    expect(existsSync(file)).toBe(false)
    expect(logged).toEqual(['ERROR the store file is gone'])
    await store.close()
  })

  test('is opened when it comes back, and by a new process at once', async () => {
    const store = openSqlite({ file, log })
    await store.create(at('a'), {})
    remove()
    await expect(store.get(at('a'))).rejects.toMatchObject(gone)
    const next = openSqlite({ file, log })
    await next.create(at('b'), {})
    await store.create(at('c'), {})
    const ids = (await next.query({ collection: 'things', limit: 10 })).documents.map(({ id }) => id)
    expect(ids).toEqual(['b', 'c'])
    await Promise.all([store.close(), next.close()])
  })

  test('is exchanged for the one that takes its place, by calls that come at once', async () => {
    const backup = openSqlite({ file: `${file}.backup` })
    await backup.create(at('kept'), {})
    await backup.close()
    const store = openSqlite({ file, log })
    await store.create(at('a'), {})
    renameSync(`${file}.backup`, file)
    const readings = await Promise.all(Array.from({ length: 10 }, () => store.get(at('kept'))))
    expect(readings.filter(({ document }) => document === null)).toEqual([])
    expect((await store.get(at('a'))).document).toBeNull()
    expect(logged).toEqual(['WARNING the store file was replaced'])
    await store.close()
  })
})

test('a version does not come back after the file was closed', async () => {
  const versions: string[] = []
  for (let round = 0; round < 3; round++) {
    const store = openSqlite({ file })
    versions.push((await store.create(at('a'), {})).version)
    await store.remove(at('a'))
    await store.close()
  }
  expect(new Set(versions).size).toBe(3)
})

describe('time', () => {
  test('goes on from where it was when the machine’s clock is set back by a day', async () => {
    let clock = Date.now()
    const store = openSqlite({ file, now: () => clock })
    const { writtenAt } = await store.create(at('a'), {})
    clock -= day
    const later = await store.get(at('a'))
    clock += 1_000
    const muchLater = await store.get(at('a'))
    expect([later.readAt - writtenAt, muchLater.readAt - writtenAt]).toEqual([0, 1_000])
    await store.close()
  })

  test('is one for stores whose clocks are a day apart: nothing is written or read before an earlier write', async () => {
    const stores = [day, 0, -day].map(off => openSqlite({ file, now: () => Date.now() + off }))
    let latest = 0
    for (const [turn, store] of [...stores, ...stores, ...stores].entries()) {
      const { writtenAt } = await store.replace(at('a'), { turn })
      await store.remove(at('a'))
      const { readAt } = await store.get(at('a'))
      expect(writtenAt).toBeGreaterThanOrEqual(latest)
      expect(readAt).toBeGreaterThanOrEqual(writtenAt)
      latest = writtenAt
    }
    expect(latest - Date.now()).toBeLessThanOrEqual(day)
    await Promise.all(stores.map(store => store.close()))
  })
})

test('documents go a day after they expired, two for each new one, and stay readable until then', async () => {
  let clock = Date.now()
  const store = openSqlite({ file: ':memory:', now: () => clock })
  const ids = async () =>
    (await store.query({ collection: 'things', limit: 10 })).documents.map(({ id }) => id)
  for (const id of ['a', 'b', 'c']) await store.create(at(id), { expireAt: new Date(clock) })
  await store.create(at('later'), { expireAt: new Date(clock + day) })
  await store.create(at('text'), { expireAt: '1970-01-01' })
  clock += day
  await store.create(at('one'), {})
  expect(await ids()).toEqual(['a', 'b', 'c', 'later', 'one', 'text'])
  clock += 1
  await store.create(at('new'), { expireAt: new Date(0) })
  expect(await ids()).toHaveLength(5)
  await store.replace(at('new'), {})
  expect(await ids()).toHaveLength(5)
  await store.create(at('newer'), {})
  expect(await ids()).toEqual(['later', 'new', 'newer', 'one', 'text'])
  await store.close()
})
