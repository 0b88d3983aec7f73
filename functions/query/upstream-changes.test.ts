/** Endpoints that read others, while these are changed, restored, or come to read each other. */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { EngineError } from '../../shared/engines/engine.ts'
import { fieldsOf } from '../../shared/endpoints/definition.ts'
import { answerOf } from '../../infra/lqe/query.ts'
import { loadConfig } from '../../shared/config.ts'
import { openServices } from '../../shared/services.ts'
import { runCommand } from '../../infra/lqe/testing/command.ts'
import { compareCommand } from '../../infra/lqe/versions/compare.ts'
import { restoreCommand } from '../../infra/lqe/versions/commands.ts'
import { type Reading, startReading } from '../testing/upstream.ts'
import { callsDuringRestores, common, files, named, reader } from '../testing/upstream-versions.ts'

let it: Reading
const current = async (name: string) => (await it.service.services.endpoints.find(name))!
const command = async (make: typeof restoreCommand | typeof compareCommand, ...args: string[]) =>
  runCommand(
    make(
      act => act(it.service.services),
      () => 'tester',
    ),
    args,
  )

beforeAll(async () => {
  it = await startReading('duckdb', files('first'))
})
afterAll(() => it.stop())
beforeEach(() => it.apply(files('first')))

describe('the answer of a reader', () => {
  test('is of the version in force of what it reads, also after a restore', async () => {
    const first = (await current('part')).version
    const before = await it.call('reader')
    await it.apply(files('second'))
    const second = await it.call('reader')
    expect([before.result, second.result]).toEqual([[{ made_by: 'first' }], [{ made_by: 'second' }]])
    expect(second.meta.version).toBe(before.meta.version)
    expect((await command(restoreCommand, 'part', first)).err).toBe('')
    while ((await it.call('part')).result[0]!['made_by'] !== 'first');
    await new Promise(resolve => setTimeout(resolve, 100))
    const restored = await it.call('reader')
    expect(restored.result).toEqual([{ made_by: 'first' }])
    expect(restored.response.headers.get('cache-status')).toMatch(/^lqe; hit/)
  })

  test('is redacted once what it reads is, and nobody lifts that', async () => {
    const { id, version } = await current('part')
    const found = { ...(await current('part')), redact: true, version: `${version.slice(1)}0` }
    await it.service.services.store.update(
      { collection: 'endpoints', id },
      { set: fieldsOf({ ...found, sql: `SELECT 'tom@example.com' AS made_by` }) },
      (await it.service.services.store.get({ collection: 'endpoints', id })).document!.version,
    )
    await new Promise(resolve => setTimeout(resolve, 100))
    for (const lift of ['true', 'false']) {
      const { result, meta } = await it.call('reader', { headers: { 'SVC-ENDPOINT-REDACT-PII': lift } })
      expect([result, meta.redacted]).toEqual([[{ made_by: 'REDACTED' }], true])
    }
  })

  test('is an error that names the circle, should two applies have made one', async () => {
    const { store } = it.service.services
    const part = { ...(await current('part')), upstream: { back: { endpoint: 'reader', parameters: {} } } }
    const at = { collection: 'endpoints', id: part.id }
    await store.update(at, { set: fieldsOf(part) }, (await store.get(at)).document!.version)
    await new Promise(resolve => setTimeout(resolve, 100))
    for (const name of ['reader', 'part']) expect((await it.call(name)).code).toBe('internal')
    expect(JSON.stringify(it.service.logged)).toContain('part reads itself: reader -> part -> reader')
    expect((await it.service.fetch('/openapi.json')).status).toBe(200)
  })

  test('is an error where what it reads is gone', async () => {
    const { id } = await current('part')
    await it.service.services.store.remove({ collection: 'endpoints', id })
    await new Promise(resolve => setTimeout(resolve, 100))
    expect((await it.call('reader')).code).toBe('internal')
    expect(JSON.stringify(it.service.logged.at(-1))).toContain('reader reads part, which is not there')
  })
})

test('no answer is made of rows that are older than its own cache.seconds', async () => {
  const of = (seconds: number) => ({
    yaml: `parameters: { properties: {} }\ncache: { seconds: ${seconds} }\nupstream: { ticks: { endpoint: clock } }`,
    sql: 'SELECT t FROM ticks',
  })
  const clock = { yaml: common, sql: 'SELECT UNIX_MICROS(CURRENT_TIMESTAMP()) AS t' }
  await it.apply({ ...files('first'), clock, calm: of(600), brisk: of(60) })
  const before = (await it.call('clock')).result
  await it.age(200_000)
  const another = await openServices(loadConfig(it.service.env))
  const ask = async (name: string) => {
    const options = { sql: null, redact: false, fresh: false }
    return (await answerOf(another, await current(name), '', options)).answer.rows()
  }
  try {
    expect(await ask('calm')).toEqual(before)
    const brisk = await ask('brisk')
    expect(brisk[0]!['t']).toBeGreaterThan(before[0]!['t'] as number)
    expect(await ask('clock')).toEqual(brisk)
  } finally {
    await another.close()
  }
})

describe('where the engine fails for what is read', () => {
  const reads = (seconds: number) => ({
    yaml: `parameters: { properties: {} }\ncache: { seconds: ${seconds} }\nupstream: { r: { endpoint: constant } }`,
    sql: 'SELECT n FROM r',
  })
  const options = { sql: null, redact: false, fresh: false }
  const failing = async () => {
    const another = await openServices(loadConfig(it.service.env))
    const run = another.engine.run.bind(another.engine)
    another.engine.run = async (statement, limits) => {
      if (statement.sql.includes('7 AS n')) throw new EngineError('unavailable', 'The quota is used up')
      return run(statement, limits)
    }
    return another
  }

  test('the error names it; a stale copy covers it, and the log says so', async () => {
    const constant = { yaml: 'parameters: { properties: {} }\ncache: { seconds: 60 }', sql: 'SELECT 7 AS n' }
    await it.apply({ ...files('first'), constant, early: reads(60), late: reads(60) })
    const another = await failing()
    try {
      const error = await answerOf(another, await current('early'), '', options).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ code: 'engine_unavailable', problems: [{ endpoint: 'constant' }] })
      await new Promise(resolve => setTimeout(resolve, 2_100)) // the engine rests
      await it.call('constant')
      await it.age(100_000)
      const written: string[] = []
      const write = jest
        .spyOn(process.stdout, 'write')
        .mockImplementation(text => written.push(String(text)) > 0)
      const third = await failing()
      const { answer } = await answerOf(third, await current('late'), '', options)
      write.mockRestore()
      await third.close()
      expect(await answer.rows()).toEqual([{ n: 7 }])
      const lines = written.filter(line => line.includes('older rows were read'))
      expect(lines.map(line => JSON.parse(line) as object)).toEqual([
        expect.objectContaining({ severity: 'WARNING', endpoint: 'constant', reason: 'unavailable' }),
      ])
    } finally {
      await another.close()
    }
  })
})

test('200 calls while versions of what is read are restored are each of a version in force', async () => {
  expect(await callsDuringRestores(it, { calls: 200, restoreEvery: 25 })).toBeGreaterThan(1)
})

describe('an operator', () => {
  test('cannot restore a version that those who read it do not fit, nor one that would make a circle', async () => {
    const plain = (await current('part')).version
    const wants = {
      ...named('first'),
      yaml: common.replace('properties: {}', 'required: [p], properties: { p: { type: string } }'),
    }
    await it.apply({
      part: { ...wants, sql: 'SELECT @p AS made_by' },
      reader: {
        ...reader,
        yaml: `${common}\nupstream: { rows_of_it: { endpoint: part, parameters: { p: x } } }`,
      },
    })
    const refused = await command(restoreCommand, 'part', plain)
    expect(refused.err).toContain('reader: upstream.rows_of_it.parameters.p is no parameter of part')
    await it.apply({ part: named('x'), reader: named('y') })
    const independent = { part: (await current('part')).version }
    await it.apply({
      part: { yaml: `${common}\nupstream: { r: { endpoint: reader } }`, sql: 'SELECT * FROM r' },
      reader: named('y'),
    })
    const reading = (await current('part')).version
    await it.apply({ part: named('x'), reader })
    expect((await current('part')).version).toBe(independent.part)
    const circle = await command(restoreCommand, 'part', reading)
    expect(circle.err).toContain('part -> reader -> part')
  })

  test('compares versions of a reader', async () => {
    const before = (await current('reader')).version
    await it.apply({
      part: named('first'),
      reader: { ...reader, sql: 'SELECT UPPER(made_by) AS made_by FROM rows_of_it' },
    })
    const { out } = await command(compareCommand, 'reader', '--with', before)
    expect(out).toContain('+- made_by: FIRST')
  })
})
