import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Store } from '../stores/store.ts'
import { withFaults } from '../stores/testing/faults.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { createAuthenticator } from './authenticate.ts'
import { issueKey, listKeys, revokeKey, rotateKey } from './records.ts'

const grant = {
  name: 'console',
  endpoints: ['logs.all'],
  pins: { project: 'abc' },
  rights: ['pii:read' as const],
  expiresAt: null,
}

const authenticate = (from: Store, key: string) => createAuthenticator(from)(key)

let clock: number
let store: Store
beforeEach(() => {
  clock = Date.now()
  store = openSqlite({ file: ':memory:', now: () => clock })
})

describe('operators', () => {
  test('see all keys, the newest first, with the grant and the state of each', async () => {
    const ids: string[] = []
    for (const expiresAt of [null, new Date(clock + 1), null]) {
      ids.unshift((await issueKey(store, { ...grant, expiresAt })).id)
      clock += 10
    }
    await revokeKey(store, ids[0]!)
    const listed = await listKeys(store)
    expect(listed.map(({ id, state }) => [id, state])).toEqual([
      [ids[0], 'revoked'],
      [ids[1], 'expired'],
      [ids[2], 'active'],
    ])
    expect(listed[2]).toMatchObject({ ...grant, createdAt: new Date(clock - 30), revokedAt: null })
  })

  test('may revoke a key twice; the time of the first stays', async () => {
    const { id } = await issueKey(store, grant)
    await revokeKey(store, id)
    clock += 10
    await revokeKey(store, id)
    expect((await listKeys(store))[0]?.revokedAt).toEqual(new Date(clock - 10))
  })

  test.each(['nobody', '', 'lqe_x', '../x', 'ü'])(
    'get an error for an unknown id, %j, without the text they typed',
    async id => {
      for (const attempt of [revokeKey(store, id), rotateKey(store, id, 0)])
        await expect(attempt).rejects.toMatchObject({
          name: 'KeyError',
          message: expect.stringMatching(/^There is no/),
        })
    },
  )

  test('rotate a key: the new one has the same grant, the old one ends after the overlap', async () => {
    const old = await issueKey(store, { ...grant, expiresAt: new Date(clock + 10_000) })
    const made = await rotateKey(store, old.id, 1_000)
    expect(made.oldExpiresAt).toEqual(new Date(clock + 1_000))
    const { keyId: _, ...caller } = await authenticate(store, old.key)
    expect(await authenticate(store, made.key)).toEqual({ keyId: made.id, ...caller })
    expect((await listKeys(store)).find(({ id }) => id === made.id)?.expiresAt).toEqual(
      new Date(clock + 10_000),
    )
    clock += 1_000
    await expect(authenticate(store, old.key)).rejects.toMatchObject({ code: 'unauthenticated' })
    await authenticate(store, made.key)
  })

  test('cannot make an old key live longer by rotating it', async () => {
    const old = await issueKey(store, { ...grant, expiresAt: new Date(clock + 1_000) })
    expect((await rotateKey(store, old.id, 60_000)).oldExpiresAt).toEqual(new Date(clock + 1_000))
  })

  test('cannot rotate a revoked key', async () => {
    const revoked = await issueKey(store, grant)
    await revokeKey(store, revoked.id)
    await expect(rotateKey(store, revoked.id, 0)).rejects.toThrow('The key is revoked: issue a new one.')
  })

  test('get no second key when a rotation meets a revocation', async () => {
    const { id } = await issueKey(store, grant)
    const meddled = withFaults(store, {
      before: operation => (operation === 'batch' ? revokeKey(store, id) : undefined),
    })
    await expect(rotateKey(meddled, id, 0)).rejects.toMatchObject({ reason: 'conflict' })
    expect(await listKeys(store)).toHaveLength(1)
  })
})
