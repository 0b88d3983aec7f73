/**
 * Google's APIs for programs of the deployment. By default with application default credentials; where gcloud has been
 * sent elsewhere by its own variables (`CLOUDSDK_API_ENDPOINT_OVERRIDES_<API>`, `CLOUDSDK_AUTH_ACCESS_TOKEN_FILE`), as the
 * tests do, these go there too.
 */
import { readFileSync } from 'node:fs'

/** Where gcloud has been sent for an API, as `http://127.0.0.1:1234/iamcredentials/`. */
export function overrideOf(api: string): URL | null {
  const override = process.env[`CLOUDSDK_API_ENDPOINT_OVERRIDES_${api.toUpperCase()}`]
  return override ? new URL(override) : null
}

/** For the header `Authorization`. */
async function accessToken(): Promise<string> {
  const file = process.env['CLOUDSDK_AUTH_ACCESS_TOKEN_FILE']
  if (file) return readFileSync(file, 'utf8').trim()
  const { GoogleAuth } = await import('google-auth-library')
  const auth = new GoogleAuth({ scopes: 'https://www.googleapis.com/auth/cloud-platform' })
  return (await auth.getAccessToken()) ?? ''
}

/** `fetch` with the access token. */
export async function authorizedFetch(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${await accessToken()}`)
  return fetch(input, { ...init, headers })
}

/**
 * A token with which `account` calls `audience`, signed by Google ("Create short-lived credentials for a service account").
 * The caller needs `roles/iam.serviceAccountOpenIdTokenCreator` on the account.
 */
export async function identityToken(account: string, audience: string): Promise<string> {
  const base = overrideOf('iamcredentials') ?? 'https://iamcredentials.googleapis.com/'
  const response = await authorizedFetch(
    new URL(`v1/projects/-/serviceAccounts/${account}:generateIdToken`, base),
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ audience, includeEmail: true }),
    },
  )
  if (!response.ok) throw new Error(`no identity token of ${account}: ${await response.text()}`)
  return ((await response.json()) as { token: string }).token
}
