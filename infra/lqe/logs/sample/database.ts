import { invented, type Invented, isoTime } from './entries.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import type { User } from './world.ts'

/** What the database says. Absent fields are those that this kind of entry has not. */
interface Saying {
  severity: 'LOG' | 'ERROR'
  state: string
  message: string
  detail?: string
  hint?: string
  /** The statement it is about. */
  query?: string
}

/** The entry of the database server about a request: an error that fits its status, or one of the usual lines. */
export function databaseEntry(request: Request, random: Random): Invented {
  const { project, user, time } = request
  const port = random.integer(1024, 65_535)
  const saying = request.status >= 400 ? complaint(request) : random.pick(usual(request, port, random))
  const parsed = {
    error_severity: saying.severity,
    sql_state_code: saying.state,
    detail: saying.detail ?? null,
    hint: saying.hint ?? null,
    query: saying.query ?? null,
    ...connection(user, time, port, random),
    command_tag: saying.query?.split(' ')[0]?.toUpperCase() ?? null,
  }
  return invented('postgres.logs', time - 1_500, random, {
    message: saying.message,
    project: project.ref,
    metadata: { host: `db-${project.ref}`, parsed },
  })
}

function connection(user: User, time: number, port: number, random: Random) {
  const process_id = random.integer(1000, 99_999)
  const started = time - random.integer(1, 600) * 1_000_000
  const client = user.client.ip.includes(':') ? `[${user.client.ip}]` : user.client.ip
  return {
    process_id,
    user_name: 'authenticator',
    database_name: 'postgres',
    backend_type: 'client backend',
    application_name: 'postgrest',
    connection_from: `${client}:${port}`,
    session_id: `${Math.floor(started / 1_000_000).toString(16)}.${process_id.toString(16)}`,
    session_line_num: random.integer(1, 40),
    session_start_time: databaseTime(started),
    timestamp: databaseTime(time - 1_500),
    query_id: signedInteger(random),
    transaction_id: random.integer(0, 9_999_999),
    virtual_transaction_id: `${random.integer(1, 60)}/${random.integer(1, 99_999)}`,
  }
}

/** As the database writes times: `2026-01-31 12:00:00.123 UTC`. */
function databaseTime(micros: number): string {
  return isoTime(micros).replace('T', ' ').replace('Z', ' UTC')
}

/** Query ids are hashes of all 64 bits. */
function signedInteger(random: Random): string {
  return String(BigInt.asIntN(64, BigInt(`0x${random.hex(8)}${random.hex(8)}`)))
}

function complaint({ status, subject, user }: Request): Saying {
  const query = `select * from "public"."${subject}" where "email" = '${user.email}'`
  switch (status) {
    case 409:
      return {
        severity: 'ERROR',
        state: '23505',
        query: `insert into "public"."${subject}" ("email") values ($1)`,
        message: `duplicate key value violates unique constraint "${subject}_email_key"`,
        detail: `Key (email)=(${user.email}) already exists.`,
      }
    case 401:
    case 403:
      return {
        severity: 'ERROR',
        state: '42501',
        query,
        message: `new row violates row-level security policy for table "${subject}"`,
      }
    case 500:
      return {
        severity: 'ERROR',
        state: '57014',
        message: 'canceling statement due to statement timeout',
        query,
      }
    default:
      return {
        severity: 'ERROR',
        state: '42703',
        query,
        message: `column ${subject}.e_mail does not exist`,
        hint: `Perhaps you meant to reference the column "${subject}.email".`,
      }
  }
}

function usual({ user, subject }: Request, port: number, random: Random): Saying[] {
  const log = { severity: 'LOG', state: '00000' } as const
  const query = `select * from "public"."${subject}" where "owner" = '${user.id}'`
  const buffers = random.longTail(10, 4000)
  return [
    { ...log, message: `connection received: host=${user.client.ip} port=${port}` },
    {
      ...log,
      message:
        'connection authorized: user=authenticator database=postgres application_name=postgrest SSL enabled (protocol=TLSv1.3, cipher=TLS_AES_256_GCM_SHA384, bits=256)',
    },
    { ...log, message: `duration: ${random.longTail(1000, 9000)}.041 ms  statement: ${query}`, query },
    { ...log, message: `checkpoint complete: wrote ${buffers} buffers (${(buffers / 160).toFixed(1)}%)` },
  ]
}
