import { invented, type Invented, isoTime } from './entries.ts'
import { credentials } from './services.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import type { User } from './world.ts'

interface Run {
  request: Request
  /** What the relay's entry and the function's own have in common. */
  ids: { deployment_id: string; execution_id: string; function_id: string; request_id: string }
  project_ref: string
  version: string
}

/** What a call of a function leaves behind: one entry of the relay, and what the function itself says. */
export function* functionEntries(request: Request, random: Random): Generator<Invented> {
  const { id, deployment } = request.project.functions.find(({ name }) => name === request.subject)!
  const ids = {
    deployment_id: deployment,
    function_id: id,
    execution_id: random.uuid(),
    request_id: random.uuid(),
  }
  const run = { request, ids, project_ref: request.project.ref, version: '4' }
  yield relayEntry(run, random)
  if (request.status === 401) return
  const boots = random.chance(0.4)
  if (boots) yield eventEntry(run, random, 'Boot', 2_000, 'log', `booted (time: ${random.integer(18, 90)}ms)`)
  yield eventEntry(run, random, 'Log', 4_000, 'info', random.pick(sayings)(request.user, request))
  if (request.status >= 500)
    yield eventEntry(
      run,
      random,
      'UncaughtException',
      6_000,
      'error',
      'Error: upstream timed out\n    at handler (index.ts:41:11)',
    )
  if (boots) yield eventEntry(run, random, 'Shutdown', 900_000, 'log', 'shutdown')
}

/** What people print from their functions. */
const sayings: ((user: User, request: Request) => string)[] = [
  user => `sent the receipt to ${user.email}`,
  (_user, request) => `handled in ${request.duration} ms`,
  user => `calling the API with Authorization: Bearer ${user.token}`,
  user => `request from ${user.client.ip}`,
  (_user, request) => JSON.stringify({ event: 'done', bytes: request.bytes }),
]

function relayEntry({ request, ids, project_ref, version }: Run, random: Random): Invented {
  const { method, path, status, project, user, duration } = request
  const url = `https://${project.host}${path}`
  return invented('deno-relay-logs', request.time - 300, random, {
    message: `${method} | ${status} | ${url}`,
    metadata: {
      ...ids,
      project_ref,
      version,
      execution_time_ms: duration,
      request: {
        method,
        url,
        pathname: path,
        search: '',
        host: project.host,
        port: '',
        protocol: 'https:',
        headers: {
          accept: '*/*',
          accept_encoding: 'gzip, br',
          connection: 'keep-alive',
          content_length: '182',
          host: project.host,
          user_agent: user.client.agent,
          x_client_info: user.client.library,
          cookie: `sb-access-token=${user.token}; theme=${random.pick(['dark', 'light'])}`,
        },
        sb: credentials(request),
      },
      response: {
        status_code: status,
        headers: {
          content_length: String(request.bytes),
          content_type: 'application/json',
          server: 'edge',
          date: new Date(request.time / 1000).toUTCString(),
          vary: 'Accept-Encoding',
          x_sb_edge_region: 'eu-central-1',
          x_served_by: 'edge-runtime',
        },
      },
    },
  })
}

function eventEntry(
  { request, ids, project_ref, version }: Run,
  random: Random,
  event_type: string,
  delay: number,
  level: string,
  message: string,
): Invented {
  const time = request.time + delay
  return invented('deno-subhosting-events', time, random, {
    message: `${message}\n`,
    metadata: {
      ...ids,
      project_ref,
      version,
      event_type,
      level,
      region: 'eu-central-1',
      timestamp: isoTime(time),
    },
  })
}
