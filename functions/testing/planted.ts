/** An endpoint whose rows hold secrets of every kind that redaction knows, for attacks on it in SQL. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './service.ts'

/** In any row, as text or as the first nine digits of a number, also where a point is among them. */
export const planted =
  /zebra|arbez|kimber|203\.0\.113|\b424242|4\.?2\.?4\.?2\.?4\.?2|\b737737|7\.?3\.?7\.?7\.?3\.?7|4\.?5\.?3\.?2\.?0\.?1\.?5\.?1\.?1|830366|3\.?1\.?1\.?3\.?3\.?0\.?2\.?3\.?4/i

const row = (
  id: string,
) => `SELECT '${id}' AS id, TIMESTAMP '2026-01-01 10:00:00+00' AS timestamp, 503 AS status, 12.5 AS ms, 1000 AS bytes,
  7 AS trace, '15.4' AS version, 'GET' AS method, '/rest/v1/users' AS path, '203.0.113.97' AS peer, 'from kimberley@example.com' AS note,
  'opaque-zebra1' AS cookie, 'opaque-zebra2' AS token, 424242 AS otp, 737737 AS cvv, '737737' AS cvvtext,
  4532015112830366 AS card, 4532015112830366.0 AS cardf, '4532015112830366' AS cardtext, '+31133023405' AS tel,
  STRUCT('zebra-hash' AS \`hash\`, 'zebra-pre' AS prefix, 12 AS tokens, STRUCT('zebra-in' AS word) AS nested) AS password,
  [STRUCT('zebra-list' AS \`hash\`, 12 AS tokens)] AS passwords,
  ['--password', 'zebra3', 'Cookie', 'k=zebra4', '--token', 'zebra5'] AS args,
  'Cookie: {"a":"zebra6"}' AS event_message, 'password' || CHR(9) || '=' || CHR(9) || 'zebra7' AS login, '[0.203.0.113.97]' AS release_note,
  [STRUCT(STRUCT('203.0.113.97' AS peer, 'opaque-zebra8' AS cookie, '/x' AS path) AS request, ['--password', 'zebra9'] AS args, 424242 AS otp)] AS metadata,
  JSON '{"otp":424242,"card":4532015112830366,"password":{"hash":"zebra10","prefix":"zebra-p","tokens":12},"args":["--token","zebra11"],"user":{"mail":"kimberley@example.com","path":"/x"}}' AS j,
  '{"otp":424242,"card":4532015112830366,"password":{"hash":"zebra12","prefix":"zebra-p","tokens":12},"args":["--token","zebra13"],"user":{"mail":"kimberley@example.com","path":"/x"}}' AS body`

export interface Answer {
  status: number
  result?: Record<string, unknown>[]
  code?: string
  errors?: { detail: string }[]
}

/** @returns asks the endpoint with a key whose answers are redacted; `stop` ends its service */
export async function startPlanted() {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'))
  writeFileSync(
    join(folder, 'logs.sql'),
    `WITH seen AS (${row('a')} UNION ALL ${row('b')}), others AS (SELECT 'a' AS id, '/y' AS path, 5 AS bytes), kept AS (SELECT 424242 AS num), digits AS (SELECT n, 1 AS one FROM UNNEST(GENERATE_ARRAY(0, 9)) AS n) SELECT id FROM seen`,
  )
  writeFileSync(
    join(folder, 'logs.yaml'),
    'id: 00000000-0000-4000-8000-000000000001\ndescription: d\nparameters: {properties: {}}\nsandbox: true\ncache: {seconds: 60}\n',
  )
  const service = await startService({ tables: {}, queries: folder })
  const key = await service.issue({ redacted: true })
  return {
    async ask(sql: string): Promise<Answer> {
      const response = await service.fetch(`/api/endpoints/query/logs?sql=${encodeURIComponent(sql)}`, {
        key,
      })
      return { status: response.status, ...((await response.json()) as object) }
    },
    async stop() {
      await service.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
