/** A caller's own SQL as an endpoint, or an alert: their files are shown, and on a laptop written to `queries/`. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { asUsual, createWhole } from '../../shared/data-folder.ts'
import { emptyBindings, type Endpoint } from '../../shared/endpoints/definition.ts'
import { EngineError } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { apiErrorOf } from '../../shared/run/blame.ts'
import { columnsByEngine } from '../../shared/sandbox/offered-tables.ts'
import type { AlertWish } from '../../shared/alerts/draft.ts'
import { readChannels } from '../../shared/alerts/channels.ts'
import { numbersAmong } from '../../shared/alerts/faults.ts'
import type { Draft, Wish } from '../../shared/sandbox/as-endpoint.ts'
import type { Column } from '../../shared/sql/types.ts'
import type { Services } from '../../shared/services.ts'
import type { Call } from '../http/call.ts'
import { isFromHere } from '../http/network.ts'
import { accessEndpoint } from './access.ts'
import { resolveUpstream } from './answer.ts'
import { assertTakesSql } from './statement.ts'

/** What `POST /api/endpoints/<name>/draft` answers. */
export interface DraftAnswer {
  files: { name: string; text: string }[]
  /** Where this call could write them; `null` = nowhere. */
  folder: string | null
  written: boolean
  /** Of an alert: what its condition may read, and whom it may tell, by their names. */
  offers?: { numbers: string[]; channels: string[] }
}

/** An endpoint with the files that make it, and an alert on it, or on the endpoint that is called. */
interface DraftRequest {
  wish: Wish | null
  alert: AlertWish | null
  write: boolean
}

/**
 * `POST /api/endpoints/<name>/draft`: the two files of an endpoint that answers as the SQL does, for keys with the right
 * `definitions:read`; with `alert`, the file of an alert on it, or without SQL on the endpoint itself. With `write`, they are made
 * in `queries/`.
 */
export async function draftEndpoint(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  assertRight(caller, 'definitions:read', 'The SQL of endpoints is')
  const { wish, alert, write } = requestIn(call.req.body)
  if (wish) assertTakesSql(endpoint, caller)
  const folder = folderFor(call, caller)
  const files: DraftAnswer['files'] = []
  const made = wish && (await draft(call, endpoint, wish))
  if (made)
    files.push({ name: `${wish.name}.sql`, text: made.sql }, { name: `${wish.name}.yaml`, text: made.yaml })
  const drafted = alert && (await draftAlertOn(call.services, made?.endpoint ?? endpoint, alert))
  if (drafted) files.push(drafted.file)
  if (write) await writeFiles(call, caller, wish?.name ?? null, files, folder)
  call.res.setHeader('Cache-Control', 'no-store')
  const offers = drafted ? { offers: drafted.offers } : {}
  const result: DraftAnswer = { files, folder, written: write, ...offers }
  call.res.status(write ? 201 : 200).json({ result })
}

function assertRight({ rights }: Caller, right: Caller['rights'][number], what: string): void {
  if (!rights.includes(right))
    throw new ApiError('right_missing', `${what} for API keys with the right ${right}.`)
}

/** The draft, as `apply` would take it: its dry run succeeds. @throws ApiError */
async function draft({ services, config }: Call, endpoint: Endpoint, wish: Wish): Promise<Draft> {
  const { maxResultBytes } = endpoint
  const from = maxResultBytes === config.maxResultBytes ? { ...endpoint, maxResultBytes: null } : endpoint
  // Imported here: the check of a definition would slow down every cold start.
  const { draftOf } = await import('../../shared/sandbox/as-endpoint.ts')
  const found = await resolveUpstream(services, from)
  return withoutEngineErrors(from, async () => {
    const known = await columnsByEngine(found, wish.sql, sql => services.columnsOf(found, sql))
    const made = draftOf(from, wish, randomUUID(), known)
    await columnsFor(services, made.endpoint)
    return made
  })
}

async function draftAlertOn(services: Services, endpoint: Endpoint, alert: AlertWish) {
  const { draftAlert } = await import('../../shared/alerts/draft.ts')
  const [columns, { channels }] = await Promise.all([
    withoutEngineErrors(endpoint, () => columnsFor(services, endpoint)),
    readChannels(services.store),
  ])
  const file = { name: `${alert.name}.alert.yaml`, text: draftAlert(endpoint, alert, columns) }
  return { file, offers: { numbers: numbersAmong(columns), channels: Object.keys(channels) } }
}

/** By a dry run. @throws EngineError */
async function columnsFor(services: Services, endpoint: Endpoint): Promise<Column[]> {
  const { sql, ...tables } = await resolveUpstream(services, endpoint)
  return (await services.engine.describe({ sql, bindings: emptyBindings(tables) })).columns
}

async function withoutEngineErrors<T>(endpoint: Endpoint, act: () => Promise<T>): Promise<T> {
  return act().catch((error: unknown) => {
    throw error instanceof EngineError ? apiErrorOf(error, endpoint) : error
  })
}

const isText = (value: unknown) => typeof value === 'string'
const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

type Rules<Fields> = Record<keyof Fields, [is: (value: unknown) => boolean, what: string]>

const isTexts = (value: unknown) => isMap(value) && Object.values(value as object).every(isText)

/** What each field must be. */
const fields: Rules<Wish> = {
  name: [isText, 'a text: the name of the new endpoint'],
  description: [isText, 'a text: what the new endpoint answers'],
  sql: [isText, 'a text: the query'],
  parameters: [isMap, 'an object: parameters of the new endpoint, by name'],
  values: [isTexts, 'an object of texts: values of the endpoint’s parameters'],
  redact: [value => typeof value === 'boolean', 'true or false'],
}

/** The other fields go into the file, whose schema checks them. */
const alertFields: Rules<Pick<AlertWish, 'name' | 'parameters'>> = {
  name: [isText, 'a text: the name of the alert'],
  parameters: [isTexts, 'an object of texts: the endpoint’s parameters'],
}

function requestIn(body: unknown): DraftRequest {
  const given = (isMap(body) ? body : {}) as Wish & { alert?: AlertWish; write?: unknown }
  const isWish = given.alert === undefined || given.sql !== undefined
  const { name, description, sql, parameters, values, redact } = given
  return {
    wish: isWish ? requireFields({ name, description, sql, parameters, values, redact }, fields, '') : null,
    alert: given.alert === undefined ? null : requireFields(given.alert, alertFields, 'alert.'),
    write: given.write === true,
  }
}

/** @throws ApiError `invalid_parameter` */
function requireFields<Given extends Fields, Fields>(
  given: Given,
  rules: Rules<Fields>,
  within: string,
): Given {
  const all = isMap(given) ? given : ({} as Given)
  const problems = Object.entries<Rules<Fields>[keyof Fields]>(rules).flatMap(([field, [is, what]]) =>
    is(all[field as keyof Fields]) ? [] : [{ parameter: `${within}${field}`, detail: `must be ${what}` }],
  )
  if (problems.length > 0) throw ApiError.of('invalid_parameter', ...problems)
  return given
}

/**
 * The folder of `queries/` for a call from this machine with the right `definitions:write`; a key whose answers are redacted
 * gets none, as its endpoint could show more.
 */
function folderFor({ req, config }: Call, { rights, redacted }: Caller): string | null {
  return rights.includes('definitions:write') && !redacted && isFromHere(req) ? config.queriesDir : null
}

/**
 * @param name of an endpoint among them
 * @throws ApiError `right_missing`, `conflict` where an endpoint or a file of the name is there
 */
async function writeFiles(
  { services, notes }: Call,
  caller: Caller,
  name: string | null,
  files: DraftAnswer['files'],
  folder: string | null,
): Promise<void> {
  assertRight(caller, 'definitions:write', 'Files of endpoints are written')
  if (folder === null)
    throw new ApiError(
      'right_missing',
      'Files of endpoints are written on the machine where npm start runs alone, in a folder with queries/.',
    )
  if (name !== null && (await services.endpoints.find(name)))
    throw new ApiError('conflict', `There is an endpoint ${name} already: take another name.`)
  const texts = new Map(files.map(({ name, text }) => [join(folder, name), text]))
  const there = asUsual(() => createWhole(texts))
  if (there !== null)
    throw new ApiError('conflict', `There is a file ${there} already: take another name, or move it away.`)
  notes['saved'] = files.at(-1)!.name.replace(/(\.alert)?\.yaml$/, '')
}
