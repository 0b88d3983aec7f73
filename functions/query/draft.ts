/** A caller's own SQL as an endpoint: its two files are shown, and on a laptop written to `queries/`. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { asUsual } from '../../shared/data-folder.ts'
import { emptyBindings, type Endpoint } from '../../shared/endpoints/definition.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { apiErrorOf } from '../../shared/run/engine-errors.ts'
import { columnsByEngine } from '../../shared/sandbox/offered-tables.ts'
import type { Draft, Wish } from '../../shared/sandbox/as-endpoint.ts'
import type { Services } from '../../shared/services.ts'
import { createWhole } from '../../shared/whole-file.ts'
import type { Call } from '../http/call.ts'
import { isFromHere } from '../http/network.ts'
import { accessEndpoint } from './access.ts'
import { foundUpstream } from './answer.ts'
import { assertTakesSql } from './statement.ts'

/** What `POST /api/endpoints/<name>/draft` answers. */
export interface DraftAnswer {
  files: { name: string; text: string }[]
  /** Where this call could write them; `null` = nowhere. */
  folder: string | null
  written: boolean
}

/**
 * `POST /api/endpoints/<name>/draft`: the two files of an endpoint that answers as the SQL does, for keys with the right
 * `definitions:read`. With `write`, they are made in `queries/`.
 */
export async function draftEndpoint(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  assertRight(caller, 'definitions:read', 'The SQL of endpoints is')
  assertTakesSql(endpoint, caller)
  const { write, ...wish } = wishIn(call.req.body)
  const folder = folderFor(call, caller)
  const { maxResultBytes } = endpoint
  const own = maxResultBytes === call.config.maxResultBytes ? { ...endpoint, maxResultBytes: null } : endpoint
  const { sql, yaml } = await draft(call.services, own, wish)
  const files = [
    { name: `${wish.name}.sql`, text: sql },
    { name: `${wish.name}.yaml`, text: yaml },
  ]
  if (write) await writeFiles(call, caller, wish.name, files, folder)
  call.res.setHeader('Cache-Control', 'no-store')
  call.res.status(write ? 201 : 200).json({ result: { files, folder, written: write } satisfies DraftAnswer })
}

function assertRight({ rights }: Caller, right: Caller['rights'][number], what: string): void {
  if (!rights.includes(right))
    throw new ApiError('right_missing', `${what} for API keys with the right ${right}.`)
}

/** The draft, as `apply` would take it: its dry run succeeds. @throws ApiError */
async function draft(services: Services, from: Endpoint, wish: Wish): Promise<Draft> {
  // Only these calls need what checks a definition, which a cold start should not read.
  const { draftOf } = await import('../../shared/sandbox/as-endpoint.ts')
  const found = await foundUpstream(services, from)
  try {
    const known = await columnsByEngine(found, wish.sql, sql => services.columnsOf(found, sql))
    const made = draftOf(from, wish, randomUUID(), known)
    const { sql, ...tables } = await foundUpstream(services, made.endpoint)
    await services.engine.describe({ sql, bindings: emptyBindings(tables) })
    return made
  } catch (error) {
    throw error instanceof EngineError ? apiErrorOf(error, from) : error
  }
}

const isText = (value: unknown) => typeof value === 'string'
const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What each field must be. */
const fields: Record<keyof Wish, [is: (value: unknown) => boolean, what: string]> = {
  name: [isText, 'a text: the name of the new endpoint'],
  description: [isText, 'a text: what the new endpoint answers'],
  sql: [isText, 'a text: the query'],
  parameters: [isMap, 'an object: parameters of the new endpoint, by name'],
  values: [
    value => isMap(value) && Object.values(value as object).every(isText),
    'an object of texts: values of the endpoint’s parameters',
  ],
  redact: [value => typeof value === 'boolean', 'true or false'],
}

function wishIn(body: unknown): Wish & { write: boolean } {
  const given = (isMap(body) ? body : {}) as Wish & { write?: unknown }
  const problems = Object.entries(fields).flatMap(([parameter, [is, what]]) =>
    is(given[parameter as keyof Wish]) ? [] : [{ parameter, detail: `must be ${what}` }],
  )
  if (problems.length > 0) throw ApiError.of('invalid_parameter', ...problems)
  const { name, description, sql, parameters, values, redact } = given
  return { name, description, sql, parameters, values, redact, write: given.write === true }
}

/** Of those who sit at the machine, with a key that may: one whose answers are redacted could make an endpoint that shows more. */
function folderFor({ req, config }: Call, { rights, redacted }: Caller): string | null {
  return rights.includes('definitions:write') && !redacted && isFromHere(req) ? config.queriesDir : null
}

/** @throws ApiError `right_missing`, `conflict` where an endpoint or a file of the name is there */
async function writeFiles(
  { services, notes }: Call,
  caller: Caller,
  name: string,
  files: DraftAnswer['files'],
  folder: string | null,
): Promise<void> {
  assertRight(caller, 'definitions:write', 'Files of endpoints are written')
  if (folder === null)
    throw new ApiError(
      'right_missing',
      'Files of endpoints are written on the machine where npm start runs alone, in a folder with queries/.',
    )
  if (await services.endpoints.find(name))
    throw new ApiError('conflict', `There is an endpoint ${name} already: take another name.`)
  const texts = new Map(files.map(({ name, text }) => [join(folder, name), text]))
  const there = asUsual(() => createWhole(texts))
  if (there !== null)
    throw new ApiError('conflict', `There is a file ${there} already: take another name, or move it away.`)
  notes['saved'] = name
}
