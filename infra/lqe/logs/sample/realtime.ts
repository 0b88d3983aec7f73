import { invented, type Invented } from './entries.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import { serverAddress } from './world.ts'

interface Saying {
  level: 'info' | 'error'
  message: string
  module: string
  function: string
  line: number
}

/** What a connection leaves in the realtime server's log. */
export function* realtimeEntries(request: Request, random: Random): Generator<Invented> {
  const socket = { module: 'Elixir.RealtimeWeb.UserSocket', function: 'connect/3', line: 71 }
  const channel = { module: 'Elixir.RealtimeWeb.RealtimeChannel', function: 'join/3', line: 128 }
  const { ip } = request.user.client
  if (request.status >= 400) {
    const message = `MalformedJWT: The token provided is not a valid JWT (peer ${ip})`
    yield realtimeEntry(request, random, 0, { level: 'error', message, ...socket })
    return
  }
  const connected = `CONNECTED TO RealtimeWeb.UserSocket in ${request.duration}ms\n  Transport: :websocket\n  Peer: ${ip}\n  Parameters: %{"apikey" => "[FILTERED]", "vsn" => "1.0.0"}`
  yield realtimeEntry(request, random, -700, { level: 'info', message: connected, ...socket })
  const joined = `JOINED realtime:${request.subject} in ${random.integer(1, 30)}ms`
  if (random.chance(0.7))
    yield realtimeEntry(request, random, 60_000, { level: 'info', message: joined, ...channel })
}

function realtimeEntry(request: Request, random: Random, delay: number, saying: Saying): Invented {
  const { project } = request
  const time = request.time + delay
  const { level, message, module, function: name, line } = saying
  return invented('realtime.logs.prod', time, random, {
    message,
    metadata: {
      external_id: project.ref,
      level,
      project: project.ref,
      context: {
        application: 'realtime',
        domain: ['elixir'],
        function: name,
        module,
        line,
        time,
        file: `lib/${module.split('.')[1]}.ex`,
        gl: `<0.${random.integer(2000, 2600)}.0>`,
        pid: `<0.${random.integer(3000, 99_999)}.0>`,
        mfa: [module, ...name.split('/')],
        vm: { node: `realtime@${serverAddress(project)}` },
      },
    },
  })
}
