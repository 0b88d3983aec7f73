/** Secrets by the names that `channels.yaml` has for them. */
import { LRUCache } from 'lru-cache'
import { DeliveryError } from './channels.ts'

/** Google's services, with the account that this process runs as. */
export interface Google {
  /** @throws where there is no account */
  token(): Promise<string>
  pubSub: string
  secretManager: string
}

/** The value of a secret. @throws DeliveryError where it cannot be had now, without the value of any */
export type Secret = (name: string, signal: AbortSignal) => Promise<string>

/** What is missing or wrong is corrected by a deployment, or a grant, so it is tried again. */
export const secretRetryMs = 60_000

/**
 * A name with slashes is one of Secret Manager, anything else a variable.
 * @param variable reads the environment
 */
export function openSecrets(
  variable: (name: string) => string | undefined,
  { token, secretManager }: Google,
  rememberMs: number,
): Secret {
  const remembered = new LRUCache<string, string, AbortSignal>({
    max: 100,
    ttl: rememberMs,
    async fetchMethod(name, _before, { context: signal }) {
      const version = name.includes('/versions/') ? name : `${name}/versions/latest`
      const headers = { Authorization: `Bearer ${await token()}` }
      const answer = await fetch(`${secretManager}/v1/${version}:access`, { headers, signal }).catch(
        () => null,
      )
      if (!answer?.ok)
        throw new DeliveryError(
          `Secret Manager answers ${answer?.status ?? 'nothing'} for ${name}`,
          secretRetryMs,
        )
      const { payload } = (await answer.json()) as { payload: { data: string } }
      return Buffer.from(payload.data, 'base64').toString().trim()
    },
  })
  return async (name, signal) => {
    if (name.includes('/')) return remembered.forceFetch(name, { context: signal })
    const value = variable(name)?.trim()
    if (!value) throw new DeliveryError(`the variable ${name} is not set`, secretRetryMs)
    return value
  }
}

/** Finds the account when it is first needed. */
export function googleHere(): Google {
  let client: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | undefined
  const scopes = ['https://www.googleapis.com/auth/cloud-platform']
  return {
    async token() {
      client ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes }))
      const token = await (await client).getAccessToken().catch(() => null)
      if (!token) throw new DeliveryError('there is no token of Google’s for this process', secretRetryMs)
      return token
    },
    pubSub: 'https://pubsub.googleapis.com',
    secretManager: 'https://secretmanager.googleapis.com',
  }
}
