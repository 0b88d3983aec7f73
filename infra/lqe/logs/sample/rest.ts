/** What a request to the REST or GraphQL service leaves behind: its own log, the pooler's and the database's. */
import { invented, type Invented, isoTime } from './entries.ts'
import { databaseEntry } from './database.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import { serverAddress } from './world.ts'

export function* restEntries(request: Request, random: Random): Generator<Invented> {
  if (random.chance(0.6)) yield serverEntry(request, random)
  if (random.chance(0.12)) yield poolerEntry(request, random)
  if (request.status >= 400 || random.chance(0.15)) yield databaseEntry(request, random)
}

const metadataOf = ({ project }: Request) => ({ host: `db-${project.ref}` })

function serverEntry(request: Request, random: Random): Invented {
  const { project, time, method, path, search, status, bytes } = request
  const target = path.replace('/rest/v1', '').replace('/graphql/v1', '/rpc/graphql') + search
  const moment = new Date(time / 1000).toUTCString()
  const [, day, month, year, clock] = moment.split(' ')
  const access = `${serverAddress(project)} - authenticated [${day}/${month}/${year}:${clock} +0000] "${method} ${target} HTTP/1.1" ${status} ${bytes} "" "${request.user.client.agent}"`
  const message = random.chance(0.98)
    ? access
    : `${day}/${month}/${year}:${clock} +0000: Schema cache loaded in ${random.integer(8, 90)}.${random.integer(0, 9)} milliseconds`
  return invented('postgREST.logs.prod', time - 900, random, {
    message,
    project: project.ref,
    metadata: metadataOf(request),
  })
}

function poolerEntry(request: Request, random: Random): Invented {
  const { project, time, user } = request
  const client = user.client.ip.includes(':') ? `[${user.client.ip}]` : user.client.ip
  const connection = `C-0x55${random.hex(8)}: postgres/authenticator@${client}:${random.integer(1024, 65_535)}`
  const what = random.pick([
    'login attempt: db=postgres user=authenticator tls=TLSv1.3/TLS_AES_256_GCM_SHA384',
    `closing because: client close request (age=${random.longTail(1, 7200)}s)`,
    'closing because: server_idle_timeout (age=600s)',
  ])
  const message = `${isoTime(time).replace('T', ' ').replace('Z', '')} UTC [${random.integer(400, 900)}] LOG ${connection} ${what}`
  return invented('pgbouncer.logs.prod', time - 2_100, random, {
    message,
    project: project.ref,
    metadata: metadataOf(request),
  })
}
