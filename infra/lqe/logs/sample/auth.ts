import type { Json } from '../entries.ts'
import { invented, type Invented, isoTime } from './entries.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'

/** Actions that are worth an event of their own, beside the request. */
const events: Partial<Record<string, string>> = {
  refresh: 'token_refreshed',
  login: 'login',
  signup: 'user_signedup',
  logout: 'logout',
  recover: 'user_recovery_requested',
}

const errors: Partial<Record<number, string>> = {
  400: '400: Invalid login credentials',
  403: '403: invalid JWT: unable to parse or verify signature',
  422: '422: User already registered',
  429: '429: For security purposes, you can only request this after 54 seconds.',
}

/** What a request leaves in the auth server's log. */
export function* authEntries(request: Request, random: Random): Generator<Invented> {
  const failed = request.status >= 400
  yield authEntry(request, random, -400, {
    ...completed(request),
    level: failed ? 'warning' : 'info',
    error: failed ? errors[request.status]! : null,
    auth_event: failed ? null : authEvent(request),
  })
  if (failed) return
  if (request.subject === 'login') yield authEntry(request, random, -1_200, login(request))
  if (request.subject === 'recover') yield authEntry(request, random, -900, mail(request))
}

/** The server's line is JSON; the shipper keeps the line and its fields. */
function authEntry(request: Request, random: Random, delay: number, fields: Record<string, Json>): Invented {
  const time = request.time + delay
  const line = { ...fields, component: 'api', timestamp: isoTime(time).replace(/\.\d+/, '') }
  const known = Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null))
  return invented('gotrue.logs.prod', time, random, {
    message: JSON.stringify(known),
    project: request.project.ref,
    metadata: { ...known, host: `db-${request.project.ref}`, project: request.project.ref },
  })
}

function completed({ method, path, status, duration, user, project, ray }: Request): Record<string, Json> {
  return {
    msg: 'request completed',
    method,
    path: path.replace('/auth/v1', ''),
    status: String(status),
    duration: String(duration * 1_000_000),
    request_id: ray,
    remote_addr: user.client.ip,
    referer: project.site,
  }
}

function authEvent({ subject, user }: Request): Json {
  const action = events[subject]
  if (!action) return null
  const traits = { provider: 'email', user_id: user.id }
  return { action, actor_id: user.id, actor_via_sso: false, traits }
}

function login({ user, ray }: Request): Record<string, Json> {
  return {
    level: 'info',
    msg: 'Login',
    action: 'login',
    login_method: 'password',
    metering: true,
    provider: 'email',
    user_id: user.id,
    request_id: ray,
    remote_addr: user.client.ip,
  }
}

function mail({ user, project, ray }: Request): Record<string, Json> {
  return {
    level: 'info',
    msg: `recovery mail sent to ${user.email}`,
    request_id: ray,
    args: ['recovery', user.email, `${project.site}/reset`],
  }
}
