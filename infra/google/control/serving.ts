/**
 * Requests to Cloud Run: `ADDRESS/run.app/NAME/...` is the service, `ADDRESS/run.app/TAG---NAME/...` a tagged revision.
 * Who may call is checked as Cloud Run does, and the request goes to a process of the revision that has the traffic.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:http'
import { isPermitted } from './permissions.ts'
import type { Json, State } from './plane.ts'
import { type Revision, serviceUrl, type Service } from './run.ts'

/** Starts a process for a revision of `query` or `warm`, or finds it; returns its address. */
export type Processes = (revision: Revision, state: State) => Promise<string>

/** "Authenticating service-to-service": no token is 403, one that does not hold 401, one of a stranger 403. */
function refusal(
  state: State,
  name: string,
  service: Service,
  address: string,
  authorization = '',
): number | null {
  const [, project = '', , location = '', , id = ''] = name.split('/')
  const open = state.policies[name]?.bindings?.some(({ members }) => members.includes('allUsers'))
  if (open || service.invokerIamDisabled) return null
  const [, claims, signature] = authorization.replace(/^Bearer /i, '').split('.')
  if (!claims) return 403
  const { aud, email, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Json
  // A function's own address is an audience of its service, and that of a tag is none.
  const audiences = [serviceUrl(address, name), `https://${location}-${project}.cloudfunctions.net/${id}`]
  const holds = signature === 'signed-by-the-stand-in' && Number(exp) * 1000 > Date.now()
  if (!holds || !audiences.includes(String(aud))) return 401
  return isPermitted(state, String(email), 'run.routes.invoke', [`projects/${project}`, name]) ? null : 403
}

/** Answers 404 for an unknown host, 401 or 403 as `refusal` says, 503 where the revision fails. */
export async function forward(
  req: IncomingMessage,
  res: ServerResponse,
  { state, address, processes }: { state: State; address: string; processes: Processes },
): Promise<void> {
  const [, host = '', path = ''] = /^\/run\.app\/([^/?]+)(.*)$/.exec(req.url ?? '') ?? []
  const [tag, id] = host.includes('---') ? host.split('---') : [null, host]
  const [of, location] = id.split('.')
  const name = Object.keys(state.resources).find(one => one.endsWith(`/locations/${location}/services/${of}`))
  const service = name === undefined ? undefined : (state.resources[name] as Service)
  const target = service?.trafficStatuses.find(one =>
    tag === null ? (one.percent ?? 0) > 0 : one.tag === tag,
  )
  if (!name || !service || !target) return end(res, 404)
  const refused = refusal(state, name, service, address, req.headers.authorization)
  if (refused !== null) return end(res, refused)
  const revision = state.resources[`${name}/revisions/${target.revision}`] as Revision
  const base = await processes(revision, state).catch(() => null)
  if (base === null) return end(res, 503) // the revision does not start
  const to = new URL(path.startsWith('/') ? path : `/${path}`, base)
  const headers = { ...req.headers, host: to.host }
  // "Authenticating service-to-service": the signature is replaced, so that it cannot be used again.
  if (headers.authorization?.startsWith('Bearer '))
    headers.authorization = headers.authorization.replace(/[^.]+$/, 'SIGNATURE_REMOVED_BY_GOOGLE')
  await new Promise<void>(resolve => {
    const onward = request(to, { method: req.method, headers }, answer => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res).on('close', resolve)
    })
    onward.on('error', () => resolve(end(res, 503)))
    req.pipe(onward)
  })
}

function end(res: ServerResponse, status: number): void {
  res.writeHead(status, { 'Content-Type': 'text/html' }).end(`<html>${status}</html>`)
}
