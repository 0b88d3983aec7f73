/**
 * Google's APIs for the deployment, by REST: paths begin with the API's name, as `iam/v1/projects/my-project/serviceAccounts`.
 * By default with application default credentials; where gcloud has been sent elsewhere by its own variables
 * (`CLOUDSDK_API_ENDPOINT_OVERRIDES_<API>`, `CLOUDSDK_AUTH_ACCESS_TOKEN_FILE`), as the tests do, these go there too.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GoogleAuth } from 'google-auth-library'

export type Json = Record<string, unknown>

/** What an API said no with; `message` is Google's own. */
class GoogleError extends Error {
  override readonly name = 'GoogleError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface GoogleOptions {
  project: string
  /** Whether changes are only told. */
  dryRun?: boolean
  /** Whether Google is asked nothing, in a dry run: the project is then one that has nothing. */
  isUnasked?: boolean
  /** Gets a line for each change, and for each that is tried again. */
  say: (line: string) => void
}

interface Ensuring {
  method?: string
  /** Where it is changed, and to what. */
  one?: string
  changed?: Json
  making?: Json
}

/** Called on behalf of whoever gave out the credentials: a new project has not enabled them (Terraform does the same). */
const ofNoProject = new Set(['cloudresourcemanager', 'serviceusage', 'cloudbilling', 'oauth2'])

/**
 * Google's words for what passes by itself: a change beside another (Firestore answers 409 "underlying data changed"), an API,
 * account or metric so new that not all of Google knows it.
 */
const passing =
  /underlying data changed|contention|has not been used in project|Service account .* does not exist|Cannot find metric/i

/** Up to ten minutes: "It could take up to 10 minutes" for a metric (terraform-provider-google, issue 11102). */
const pauses = [3, 5, 10, 20, 40, 60, 60, 60, 60, 60, 60, 60, 60]

export class Google {
  readonly options: GoogleOptions
  private auth: GoogleAuth | undefined
  private identity: Promise<string> | null = null

  constructor(options: GoogleOptions) {
    this.options = options
  }

  /** E-mail address of who deploys; empty where the token does not say. */
  async caller(): Promise<string> {
    if (this.options.isUnasked) return ''
    this.identity ??= this.accessToken()
      .then(token => this.send('GET', `oauth2/tokeninfo?access_token=${encodeURIComponent(token)}`))
      .then(({ email = '' }) => email as string)
    return this.identity
  }

  /**
   * @returns null where there is none; in a dry run also where it may not be seen, as of a project that nobody has set up yet
   * @throws GoogleError
   */
  async get(path: string, method = 'GET', body?: Json): Promise<Json | null> {
    if (this.options.isUnasked) return null
    try {
      return await this.persist(() => this.send(method, path, body))
    } catch (error) {
      const { status } = error as GoogleError
      if (status === 404 || (status === 403 && this.options.dryRun)) return null
      throw error
    }
  }

  /** All pages of a list, of which `key` is the field. */
  async list(path: string, key: string): Promise<Json[]> {
    const items: Json[] = []
    for (let page = ''; ;) {
      const url = `${path}${path.includes('?') ? '&' : '?'}pageSize=100${page && `&pageToken=${encodeURIComponent(page)}`}`
      const found = (await this.get(page ? url : path)) ?? {}
      items.push(...((found[key] as Json[] | undefined) ?? []))
      page = (found['nextPageToken'] as string | undefined) ?? ''
      if (page === '') return items
    }
  }

  /** An IAM policy with its conditions, which a policy of a lower version would lose ("Policy", `version`). */
  async policy(resource: string): Promise<Json> {
    const options = { requestedPolicyVersion: 3 }
    const asked = `${resource}:getIamPolicy`
    const found = resource.startsWith('cloudresourcemanager/')
      ? this.get(asked, 'POST', { options })
      : this.get(`${asked}?options.requestedPolicyVersion=3`, resource.startsWith('run/') ? 'GET' : 'POST')
    return { ...(await found), version: 3 }
  }

  /** A POST that changes nothing. */
  ask(path: string, body: Json): Promise<Json> {
    return this.persist(() => this.send('POST', path, body))
  }

  /** Makes a change and waits until it is done. @param title as an operator reads it, such as `table logs_a: made` */
  async change(title: string, method: string, path: string, body?: Json): Promise<Json> {
    return this.finished(path, await this.start(title, method, path, body))
  }

  /** The same without waiting for its end. */
  async start(title: string, method: string, path: string, body?: Json): Promise<Json> {
    this.options.say(title)
    return this.options.dryRun ? {} : this.persist(() => this.send(method, path, body))
  }

  /**
   * Makes what is not there, and changes what is not as wanted.
   * @param at its collection
   * @param how by default a PATCH of what is there by its full name; `making` is said only where it is made
   * @returns it as it is then; what is there stays as it was read
   */
  async ensure(
    title: string,
    present: Json | null | undefined,
    wanted: Json,
    at: string,
    { method = 'PATCH', one, changed, making }: Ensuring = {},
  ): Promise<Json> {
    if (!present) return this.change(`${title}: made`, 'POST', at, { ...wanted, ...making })
    if (holds(present, wanted)) return present
    const name = String(present['name'])
    const path = one ?? `${at.split('/').slice(0, 2).join('/')}/${name}`
    await this.change(`${title}: changed`, method, path, changed ?? { ...wanted, name })
    return present
  }

  /** Deletes what is there. */
  async remove(title: string, path: string): Promise<void> {
    if (await this.get(path.split('?')[0]!)) await this.change(`${title}: removed`, 'DELETE', path)
  }

  /** Changes what is read first, and again from the start where somebody else changes it at the same time. */
  async edit<T>(attempt: () => Promise<T>): Promise<T> {
    return this.persist(attempt, /concurrent|Precondition Failed|etag/i)
  }

  /** Again while it fails for a reason that passes by itself. @throws what it threw at last */
  async persist<T>(attempt: () => Promise<T>, temporary = passing): Promise<T> {
    for (const seconds of pauses) {
      try {
        return await attempt()
      } catch (error) {
        const { status, message } = error as GoogleError
        const again =
          temporary.exec(message)?.[0] ??
          ([429, 502, 503].includes(status) ? String(status) : null) ??
          // A connection, not an answer.
          (error instanceof TypeError && message === 'fetch failed' ? message : null)
        if (again === null || this.options.dryRun) throw error
        this.options.say(`again in ${seconds} s: ${again}`)
        await sleep(seconds * pauseMs())
      }
    }
    return attempt()
  }

  /** Long-running operations ("AIP-151"): `operations/...` or `projects/.../operations/...`. */
  private async finished(path: string, answer: Json): Promise<Json> {
    const { name } = answer
    if (typeof name !== 'string' || !/(^|\/)operations\//.test(name)) return answer
    const version = path.split('/').slice(0, 2).join('/')
    for (let operation = answer; ;) {
      if (operation['done'] === true) {
        const { code, message } = (operation['error'] ?? {}) as { code?: number; message?: string }
        if (message !== undefined) throw new GoogleError(code ?? 0, message)
        return (operation['response'] ?? {}) as Json
      }
      await sleep(pauseMs())
      operation = await this.persist(() => this.send('GET', `${version}/${name}`))
    }
  }

  private async send(method: string, path: string, body?: Json): Promise<Json> {
    const api = path.split('/')[0]!
    const token = await this.accessToken()
    const base =
      overrideOf(api) ?? new URL(`https://${api}.googleapis.com/${api === 'bigquery' ? 'bigquery/' : ''}`)
    const url = new URL(path.slice(api.length + 1), base)
    const response = await fetch(url, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        ...(await this.quota(api)),
        ...(api === 'bigquery' && typeof body?.['etag'] === 'string' ? { 'If-Match': body['etag'] } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (response.ok) return (text ? JSON.parse(text) : {}) as Json
    throw errorOf(response.status, text)
  }

  /** An account of a service is its project's; a person's calls count to the project that is named. */
  private async quota(api: string): Promise<Record<string, string>> {
    if (ofNoProject.has(api) || (await this.caller()).endsWith('gserviceaccount.com')) return {}
    return { 'X-Goog-User-Project': this.options.project }
  }

  /** Of whoever is signed in. @throws Error where nobody is */
  async accessToken(): Promise<string> {
    const file = process.env['CLOUDSDK_AUTH_ACCESS_TOKEN_FILE']
    if (file) return readFileSync(file, 'utf8').trim()
    const { GoogleAuth } = await import('google-auth-library')
    this.auth ??= new GoogleAuth({
      scopes: ['cloud-platform', 'userinfo.email'].map(name => `https://www.googleapis.com/auth/${name}`),
    })
    return (await this.auth.getAccessToken()) ?? ''
  }
}

/** Tests have less time. */
function pauseMs(): number {
  return Number(process.env['DEPLOY_PAUSE_MS'] ?? 1000)
}

/** Where gcloud has been sent for an API, as `http://127.0.0.1:1234/iamcredentials/`. */
export function overrideOf(api: string): URL | null {
  const override = process.env[`CLOUDSDK_API_ENDPOINT_OVERRIDES_${api.toUpperCase()}`]
  return override ? new URL(override) : null
}

function errorOf(status: number, text: string): GoogleError {
  try {
    return new GoogleError(status, (JSON.parse(text) as { error: Error }).error.message)
  } catch {
    return new GoogleError(status, `HTTP ${status}: ${text.slice(0, 500)}`)
  }
}

/** Whether all that is wanted is there; Google adds fields, and leaves out those that are zero or empty. */
export function holds(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    const items = (there ?? []) as unknown[]
    return items.length === wanted.length && wanted.every((one, at) => holds(items[at], one))
  }
  if (typeof wanted === 'object' && wanted !== null)
    return Object.entries(wanted).every(([key, value]) => holds((there as Json | undefined)?.[key], value))
  return there === wanted || String(there) === String(wanted) || (there === undefined && !wanted)
}
