/** What is remembered of a question holds for it alone. */
import { describe, expect, test } from '@jest/globals'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { endpointFrom } from '../../shared/endpoints/definition-file.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { cursorsInMemory } from '../../shared/pages/testing/paging.ts'
import { prepare } from './prepare.ts'

const definition = {
  id: '00000000-0000-4000-8000-000000000001',
  description: 'd',
  parameters: {
    properties: {
      project: { type: 'string' as const },
      since: { type: 'string' as const, format: 'iso-timestamp' as const },
    },
  },
  cache: { seconds: 60 },
}
const endpoint = endpointFrom('some.endpoint', definition, 'SELECT @project, @since')
const caller: Caller = { keyId: 'a', name: 'a', endpoints: '*', pins: {}, rights: [], limits: null }
const noon = '2026-01-31T12:00:00.000Z'
const query = 'project=p&since=-1h'

interface Asked {
  of: Endpoint
  by: Caller
  at: string
  redacted: boolean
}

const reading = { cursors: cursorsInMemory(), columnsOf: async () => [] }

async function ask(changed: Partial<Asked> = {}, text = query) {
  const { of, by, at, redacted } = { of: endpoint, by: caller, at: noon, redacted: false, ...changed }
  const gone = () => new AbortController().signal
  const question = {
    caller: by,
    endpoint: of,
    query: text,
    callerSql: null,
    redacted,
    bypass: false,
    gone,
  }
  const { parameters, composed, keyFields } = await prepare(reading, question, at)
  const values = composed.statement.bindings.map(({ value }) => value)
  return { values, canonical: parameters.canonical, sent: parameters.sent, keyFields }
}

test('a question is read once within a minute', async () => {
  const { keyFields } = await ask()
  expect((await ask({ at: '2026-01-31T12:00:59.999Z' })).keyFields).toBe(keyFields)
})

describe('is read again', () => {
  test('in the next minute, from which relative times count', async () => {
    expect((await ask()).values).toEqual(['p', '2026-01-31T11:00:00.000000Z'])
    expect((await ask({ at: '2026-01-31T12:01:00.000Z' })).values).toEqual([
      'p',
      '2026-01-31T11:01:00.000000Z',
    ])
  })

  test('for a key that has changed', async () => {
    expect((await ask()).sent).toEqual(['project', 'since'])
    expect((await ask({ by: { ...caller, pins: { project: 'p' } } })).sent).toEqual(['since'])
    await expect(ask({ by: { ...caller, pins: { project: 'q' } } })).rejects.toMatchObject({
      code: 'pinned_parameter',
    })
  })

  test('for another definition', async () => {
    const changed = endpointFrom('some.endpoint', definition, 'SELECT @since, @project, 1')
    const [before, after] = [await ask(), await ask({ of: changed })]
    expect(after.keyFields!.version).toBe(changed.version)
    expect(after.keyFields!.version).not.toBe(before.keyFields!.version)
  })

  test('for a redacted answer', async () => {
    const [clear, redacted] = [await ask(), await ask({ redacted: true })]
    expect(clear.keyFields!.variant).toBe('clear')
    expect(redacted.keyFields!.variant).not.toBe('clear')
  })

  test('for other parameters', async () => {
    expect((await ask({}, 'project=q')).values).toEqual(['q', null])
  })

  test('where every call runs the query', async () => {
    const uncached = endpointFrom(
      'some.endpoint',
      { ...definition, cache: { seconds: 0 } },
      'SELECT @project, @since',
    )
    const at = (second: number) => ask({ of: uncached, at: `2026-01-31T12:00:0${second}.000Z` })
    expect((await at(1)).values).toEqual(['p', '2026-01-31T11:00:01.000000Z'])
    expect((await at(2)).values).toEqual(['p', '2026-01-31T11:00:02.000000Z'])
  })
})
