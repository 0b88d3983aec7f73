/** The entries that a request to the REST or GraphQL service leaves: in its own log, the pooler's and the database's. */
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import { isoTime, type SampleEntry } from './services.ts'
import { serverAddress } from './world.ts'

/** Not every request leaves one in each log, but each that fails leaves one in the database's. */
export function* restEntries(request: Request, random: Random): Generator<SampleEntry> {
  if (random.chance(0.6)) yield serverEntry(request, random)
  if (random.chance(0.12)) yield poolerEntry(request, random)
  if (request.status >= 400 || random.chance(0.15)) yield databaseEntry(request, random)
}

function serverEntry(request: Request, random: Random): SampleEntry {
  const { project, time, user, method, path, search, status, bytes } = request
  const target = path.replace('/rest/v1', '').replace('/graphql/v1', '/rpc/graphql') + search
  const [, day, month, year, clock] = new Date(time / 1000).toUTCString().split(' ')
  const moment = `${day}/${month}/${year}:${clock} +0000`
  const message = random.chance(0.98)
    ? `${serverAddress(project)} - authenticated [${moment}] "${method} ${target} HTTP/1.1" ${status} ${bytes} "" "${user.client.agent}"`
    : `${moment}: Schema cache loaded in ${random.integer(8, 90)}.${random.integer(0, 9)} milliseconds`
  return entry('postgREST.logs.prod', -900, project.ref, message)
}

function poolerEntry({ project, time, user }: Request, random: Random): SampleEntry {
  const connection = `C-0x55${random.hex(8)}: postgres/authenticator@${address(user.client.ip, random.integer(1024, 65_535))}`
  const event = random.pick([
    'login attempt: db=postgres user=authenticator tls=TLSv1.3/TLS_AES_256_GCM_SHA384',
    `closing because: client close request (age=${random.longTail(1, 7200)}s)`,
    'closing because: server_idle_timeout (age=600s)',
  ])
  const message = `${databaseTime(time)} [${random.integer(400, 900)}] LOG ${connection} ${event}`
  return entry('pgbouncer.logs.prod', -2_100, project.ref, message)
}

function entry(table: string, delay: number, ref: string, message: string, more = {}): SampleEntry {
  return { table, delay, message, project: ref, metadata: { host: `db-${ref}`, ...more } }
}

/** A line of the database, with the fields that this kind of line has. */
interface DatabaseLine {
  state: string
  message: string
  detail?: string
  hint?: string
  /** The statement it is about. */
  query?: string
}

/** An error that fits the request's status, or one of the usual lines. */
function databaseEntry(request: Request, random: Random): SampleEntry {
  const { project, user, time, status } = request
  const port = random.integer(1024, 65_535)
  const failed = status >= 400
  const { state, message, ...fields } = failed
    ? errorLine(request)
    : random.pick(usualLines(request, port, random))
  const process_id = random.integer(1000, 99_999)
  const started = time - random.integer(1, 600) * 1_000_000
  const parsed = {
    error_severity: failed ? 'ERROR' : 'LOG',
    sql_state_code: state,
    ...fields,
    command_tag: fields.query?.split(' ')[0]?.toUpperCase() ?? null,
    process_id,
    user_name: 'authenticator',
    database_name: 'postgres',
    backend_type: 'client backend',
    application_name: 'postgrest',
    connection_from: address(user.client.ip, port),
    session_id: `${Math.floor(started / 1_000_000).toString(16)}.${process_id.toString(16)}`,
    session_line_num: random.integer(1, 40),
    session_start_time: databaseTime(started),
    timestamp: databaseTime(time - 1_500),
    // Query ids are hashes of all 64 bits.
    query_id: String(BigInt.asIntN(64, BigInt(`0x${random.hex(16)}`))),
    transaction_id: random.integer(0, 9_999_999),
    virtual_transaction_id: `${random.integer(1, 60)}/${random.integer(1, 99_999)}`,
  }
  return entry('postgres.logs', -1_500, project.ref, message, { parsed })
}

function errorLine({ status, subject, user }: Request): DatabaseLine {
  const query = `select * from "public"."${subject}" where "email" = '${user.email}'`
  switch (status) {
    case 401:
    case 403:
      return {
        state: '42501',
        message: `new row violates row-level security policy for table "${subject}"`,
        query,
      }
    case 409:
      return {
        state: '23505',
        message: `duplicate key value violates unique constraint "${subject}_email_key"`,
        detail: `Key (email)=(${user.email}) already exists.`,
        query: `insert into "public"."${subject}" ("email") values ($1)`,
      }
    case 500:
      return { state: '57014', message: 'canceling statement due to statement timeout', query }
    default:
      return {
        state: '42703',
        message: `column ${subject}.e_mail does not exist`,
        hint: `Perhaps you meant to reference the column "${subject}.email".`,
        query,
      }
  }
}

function usualLines({ user, subject }: Request, port: number, random: Random): DatabaseLine[] {
  const state = '00000'
  const query = `select * from "public"."${subject}" where "owner" = '${user.id}'`
  const buffers = random.longTail(10, 4000)
  return [
    { state, message: `connection received: host=${user.client.ip} port=${port}` },
    {
      state,
      message:
        'connection authorized: user=authenticator database=postgres application_name=postgrest SSL enabled (protocol=TLSv1.3, cipher=TLS_AES_256_GCM_SHA384, bits=256)',
    },
    { state, message: `duration: ${random.longTail(1000, 9000)}.041 ms  statement: ${query}`, query },
    { state, message: `checkpoint complete: wrote ${buffers} buffers (${(buffers / 160).toFixed(1)}%)` },
  ]
}

function address(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}

/** As the database writes times: `2026-01-31 12:00:00.123 UTC`. */
function databaseTime(micros: number): string {
  return isoTime(micros).replace('T', ' ').replace('Z', ' UTC')
}
