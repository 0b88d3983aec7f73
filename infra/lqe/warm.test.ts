import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../../functions/testing/edges.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { loadConfig } from '../../shared/config.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import { runCommand } from './testing/command.ts'
import { warmCommand } from './warm.ts'

let service: TestService

beforeAll(async () => {
  const rows = [edgeRow('a', new Date().toISOString(), 'abcdefgh', '/rest/v1/a')]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, bundle: null })
  await (await service.fetch('/api/endpoints/query/usage.api-counts?interval=daily&project=abcdefgh')).text()
})

afterAll(() => service.stop())

const warm = (...args: string[]) =>
  runCommand(
    warmCommand(
      act => act(service.services),
      () => loadConfig(service.env),
    ),
    args,
  )

/** As if the chart had been made, and read again, six minutes ago. */
async function age(): Promise<void> {
  const { store } = service.services
  const { documents } = await store.query({ collection: 'answers', limit: 1 })
  const [{ id, fields }] = documents as [(typeof documents)[0]]
  const stored = { ...(fields['stored'] as object), madeAt: Date.now() - 360_000 }
  await store.update({ collection: 'answers', id }, { set: { stored, uses: 2 } })
}

describe('lqe warm', () => {
  test('refreshes what is due, once, and prints what it did', async () => {
    await age()
    expect(await warm()).toEqual({
      out: expect.stringMatching(/^usage\.api-counts refreshed=1 runs=1 ms=\d+\n$/),
      err: '',
      code: 0,
    })
    expect((await warm('usage.api-counts')).out).toMatch(
      /^usage\.api-counts refreshed=0 fresh=1 runs=0 ms=\d+\n$/,
    )
  })

  test('says what failed, ends with 1, and tries it again without a rest', async () => {
    await age()
    const { engine } = service.services
    const run = engine.run.bind(engine)
    engine.run = () => Promise.reject(new EngineError('failed', 'A log file is damaged'))
    const { out, err, code } = await warm('usage.api-counts')
    engine.run = run
    expect([out, code]).toEqual([expect.stringMatching(/^usage\.api-counts refreshed=0 engine_error=1 /), 1])
    expect(err).toContain('A log file is damaged')
    expect(await warm('usage.api-counts')).toMatchObject({
      out: expect.stringMatching(/^usage\.api-counts refreshed=1 runs=1 /),
      code: 0,
    })
  })

  test.each([
    ['no.endpoint', 'There is no endpoint no.endpoint; '],
    ['logs.all', 'logs.all is not kept warm: its definition has no warm.seconds.'],
  ])('says why it does nothing for %s', async (name, said) => {
    const { out, err, code } = await warm(name)
    expect([out, code]).toEqual(['', 1])
    expect(err).toContain(said)
  })
})
