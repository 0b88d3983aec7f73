/**
 * Requests to Cloud Run: `ADDRESS/run.app/NAME/...` is the service, `ADDRESS/run.app/TAG---NAME/...` a tagged revision.
 * Who may call is checked as Cloud Run does, and the request goes to a process of the revision that has the traffic.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../../shared/config.ts'
import type { Log } from '../../../shared/log.ts'
import { startBundle } from '../backends.ts'
import { isPermitted } from './access.ts'
import { type Revision, serviceUrl, type Service } from './functions.ts'
import type { Json, State } from './plane.ts'

/** Starts a process for a revision, or finds it; returns its address. */
export type Processes = (revision: Revision, state: State) => Promise<string>

/**
 * A process of a revision, from the source that was uploaded for it.
 * @throws Error where it ends as it starts: without the entry point, for one
 */
export async function startRevision(
  { source, entryPoint, env }: Revision,
  state: State,
  more: Environment,
  note: Log,
): ReturnType<typeof startBundle> {
  const folder = mkdtempSync(join(tmpdir(), 'revision-'))
  const clear = () => rmSync(folder, { recursive: true })
  writeFileSync(join(folder, 'source.zip'), Buffer.from(state.get(source)['zip'] as string, 'base64'))
  execFileSync('unzip', ['-q', 'source.zip'], { cwd: folder })
  symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'))
  try {
    const { url, stop } = await startBundle(entryPoint, { ...env, ...more }, note, { folder })
    return { url, stop: () => stop().then(clear) }
  } catch (error) {
    clear()
    throw error
  }
}

/** "Authenticating service-to-service": no token is 403, one that does not hold 401, one of a stranger 403. */
function refusal(state: State, service: Service, address: string, authorization = ''): number | null {
  const { name } = service
  const [, project, , location, , id] = name.split('/')
  const open = state.policies[name]?.bindings?.some(({ members }) => members.includes('allUsers'))
  if (open || service.invokerIamDisabled) return null
  const [, claims, signature] = authorization.replace(/^Bearer /i, '').split('.')
  if (!claims) return 403
  const { aud, email, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Json
  // A function's own address is an audience of its service, and that of a tag is none.
  const audiences = [serviceUrl(address, name), `https://${location}-${project}.cloudfunctions.net/${id}`]
  const holds = signature === 'signed-by-the-stand-in' && Number(exp) * 1000 > Date.now()
  if (!holds || !audiences.includes(String(aud))) return 401
  return isPermitted(state, String(email), 'run.routes.invoke', name) ? null : 403
}

/** Answers 404 for an unknown host, 401 or 403 as `refusal` says, 503 where the revision fails. */
export async function forward(
  req: IncomingMessage,
  res: ServerResponse,
  { state, address, processes }: { state: State; address: string; processes: Processes },
): Promise<void> {
  const end = (status: number) => void res.writeHead(status, { 'Content-Type': 'text/html' }).end(`${status}`)
  const [, tag, id, location, path] =
    /^\/run\.app\/(?:(\w+)---)?([^/?.]+)\.([^/?]+)(.*)$/.exec(req.url ?? '') ?? []
  const at = Object.keys(state.resources).find(one => one.endsWith(`/locations/${location}/services/${id}`))
  const service = state.resources[at ?? ''] as Service | undefined
  const isAsked = (one: Service['traffic'][0]) => (tag ? one.tag === tag : (one.percent ?? 0) > 0)
  const target = service?.trafficStatuses.find(isAsked)
  if (!service || !target) return end(404)
  const refused = refusal(state, service, address, req.headers.authorization)
  if (refused !== null) return end(refused)
  const revision = state.get(`${service.name}/revisions/${target.revision}`) as Revision
  const base = await processes(revision, state).catch(() => null)
  if (base === null) return end(503)
  const to = new URL(path!.startsWith('/') ? path! : `/${path}`, base)
  const headers = { ...req.headers, host: to.host }
  // "Authenticating service-to-service": the signature is replaced, so that it cannot be used again.
  if (headers.authorization?.startsWith('Bearer '))
    headers.authorization = headers.authorization.replace(/[^.]+$/, 'SIGNATURE_REMOVED_BY_GOOGLE')
  const onward = request(to, { method: req.method, headers }, answer => {
    res.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(res)
  })
  req.pipe(onward.on('error', () => end(503)))
}
