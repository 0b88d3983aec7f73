/** Secrets by name: of the environment, and of Secret Manager, for which a server on this machine stands. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DeliveryError } from './channels.ts'
import { openSecrets } from './secrets.ts'
import { answer, type Receiver, startReceiver } from './testing/receiver.ts'

let manager: Receiver
beforeEach(async () => void (manager = await startReceiver({ secure: false })))
afterEach(() => manager.close())

const name = 'projects/acme/secrets/hook'
const read = (of: string, rememberMs = 60_000) => {
  const google = { token: async () => 'ya29', pubSub: '', secretManager: `http://127.0.0.1:${manager.port}` }
  const secret = openSecrets(variable => ({ SET: 'value\n', EMPTY: '\n' })[variable], google, rememberMs)
  return () => secret(of, new AbortController().signal)
}

/** As the API has it, from a file with a line feed at its end. */
const payload = JSON.stringify({ payload: { data: Buffer.from('canary\n').toString('base64') } })

test('a variable is read from the environment', async () => {
  expect(await read('SET')()).toBe('value')
})

test.each(['EMPTY', 'UNSET'])(
  'the variable %s that is not set is named, and asked for again',
  async variable => {
    const error = await read(variable)().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(DeliveryError)
    expect(error).toMatchObject({ message: `the variable ${variable} is not set`, retryAfterMs: 60_000 })
  },
)

test.each([
  [name, `/v1/${name}/versions/latest:access`],
  [`${name}/versions/3`, `/v1/${name}/versions/3:access`],
])('%s is read with the account of the service, once', async (of, path) => {
  manager.behaviour = answer(200, {}, payload)
  const secret = read(of)
  expect(await secret()).toBe('canary')
  await wait(20)
  expect(await secret()).toBe('canary')
  expect(manager.received).toMatchObject([{ method: 'GET', path, headers: { authorization: 'Bearer ya29' } }])
})

test('another version of a secret is read once the one before is forgotten', async () => {
  manager.behaviour = answer(200, {}, payload)
  const secret = read(name, 1)
  await secret()
  await wait(20)
  await secret()
  expect(manager.received).toHaveLength(2)
})

test.each([403, 404, 500])('a secret that is answered with %d is asked for again', async status => {
  manager.behaviour = answer(status, {}, payload)
  const secret = read(name)
  const words = `Secret Manager answers ${status} for ${name}`
  await expect(secret()).rejects.toMatchObject({ message: words, retryAfterMs: 60_000 })
  manager.behaviour = answer(200, {}, payload)
  expect(await secret()).toBe('canary')
})

test('a secret is asked for again where nothing answers', async () => {
  manager.behaviour = ({ socket }) => socket!.destroy()
  await expect(read(name)()).rejects.toMatchObject({ retryAfterMs: 60_000 })
})
