import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Endpoint } from './service.ts'
import { Views } from './views.ts'

describe('the views of a shelf', () => {
  const ours = { name: 'Ours', address: '#app' }
  const fetchBefore = globalThis.fetch
  let asked: string[] = []
  let waiting: ((body: unknown, status?: number) => void)[] = []

  beforeEach(() => {
    asked = []
    waiting = []
    globalThis.fetch = (_, { method = 'GET' } = {}) =>
      new Promise(resolve => {
        asked.push(method)
        waiting.push((body, status = 200) => resolve(Response.json(body, { status })))
      })
  })

  afterEach(() => void (globalThis.fetch = fetchBefore))

  const open = () => Views.of('k', { name: 'app' } as Endpoint).saved
  const settled = () => new Promise(resolve => setTimeout(resolve))
  /** Answers the call that is on its way, and those that follow on it. */
  async function answer(...all: [body: unknown, status?: number][]): Promise<void> {
    await settled()
    for (const each of all) {
      waiting.shift()!(...each)
      await settled()
    }
  }
  const list = (...views: object[]) => [{ result: views }] as [unknown]

  test('are saved while they are still being read: reading disables nothing, and takes no word away', async () => {
    const views = open()
    void views.read()
    expect(views.isBusy.value).toBe(false)
    void views.save(ours)
    await settled()
    expect([views.isBusy.value, asked]).toEqual([true, ['GET']]) // one call after the other
    await answer(list(), list(), [{}], list(ours))
    expect([views.said.value, views.isBusy.value, asked]).toEqual([
      'Saved as Ours.',
      false,
      ['GET', 'GET', 'POST', 'GET'],
    ])
    void views.read()
    await answer(list(ours))
    expect(views.said.value).toBe('Saved as Ours.')
  })

  test('of the same name are replaced by a second press alone, and not unseen where they cannot be read', async () => {
    const views = open()
    const theirs = { ...ours, id: '1', version: '7' }
    void views.save(ours)
    await answer([{ title: 'Busy', detail: 'Later.' }, 503], list())
    expect([views.said.value, asked]).toEqual(['Later.', ['GET', 'GET']])
    void views.save(ours)
    await answer(list(theirs), list(theirs))
    expect([views.said.value, views.same.value]).toEqual(['', theirs])
    void views.save(ours)
    await answer(list(theirs), [{}], list(ours))
    expect([views.said.value, views.same.value, asked.slice(4)]).toEqual([
      'Saved as Ours.',
      null,
      ['GET', 'PUT', 'GET'],
    ])
  })

  test('are read again after a change that failed, and the failure is what is said', async () => {
    const views = open()
    void views.remove({ ...ours })
    await answer([{ title: 'Changed', detail: 'Changed by test.' }, 412], list(ours))
    expect([views.said.value, views.all.value, views.isBusy.value]).toEqual([
      'Changed by test.',
      [ours],
      false,
    ])
  })
})
