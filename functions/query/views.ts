/** Views of an endpoint that are saved on the page: any key that may call the endpoint reads them, the right `views:write` saves. */
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import {
  addView,
  faultOfView,
  listViews,
  removeView,
  replaceView,
  shelfOf,
  type ViewText,
} from '../../shared/endpoints/views.ts'
import { ApiError } from '../../shared/errors.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { redactText } from '../../shared/redact/redact.ts'
import type { Call } from '../http/call.ts'
import { accessEndpoint } from './access.ts'

/** `GET /api/endpoints/<name>/views`: the views, by name; `POST` adds one. */
export async function views(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  const { store } = call.services
  const shelf = shelfOf(endpoint.id, caller.pins)
  call.res.setHeader('Cache-Control', 'no-store')
  if (call.req.method === 'POST') {
    const result = await addView(store, shelf, textFrom(call, caller, endpoint), caller.name)
    return void call.res.status(201).json({ result })
  }
  const all = await listViews(store, shelf)
  const result = seesClear(caller, endpoint) ? all : all.filter(view => !holdsPersonalData(view))
  call.res.status(200).json({ result })
}

/** `PUT /api/endpoints/<name>/views/<id>`: another name or address; `DELETE` removes. `If-Match` has the version that was read. */
export async function changeView(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  const { store } = call.services
  const shelf = shelfOf(endpoint.id, caller.pins)
  call.res.setHeader('Cache-Control', 'no-store')
  if (call.req.method === 'DELETE') {
    assertMaySave(caller)
    await removeView(store, shelf, ifMatch(call))
    return void call.res.status(204).end()
  }
  const text = textFrom(call, caller, endpoint)
  const result = await replaceView(store, shelf, ifMatch(call), text, caller.name)
  call.res.status(200).json({ result })
}

function assertMaySave(caller: Caller): void {
  if (caller.rights.includes('views:write')) return
  throw new ApiError('right_missing', 'Views are saved by API keys with the right views:write.')
}

/** @throws ApiError where the key may not save it, or a field is wrong */
function textFrom({ req }: Call, caller: Caller, endpoint: Endpoint): ViewText {
  assertMaySave(caller)
  const { name, address } = (req.body ?? {}) as ViewText
  const fault = faultOfView({ name, address }, endpoint.name)
  if (fault) throw ApiError.of('invalid_parameter', fault)
  if (!seesClear(caller, endpoint) && holdsPersonalData({ name, address }))
    throw new ApiError(
      'redaction_locked',
      'Answers for this API key are redacted, so its views hold no personal data: take it out of the name, the parameters, the search, the filters and the SQL.',
    )
  return { name, address }
}

function ifMatch({ req, view }: Call): { id: string; version: string } {
  const [, version] = /^"([^"]+)"$/.exec(req.get('if-match') ?? '') ?? []
  if (version === undefined)
    throw ApiError.of('invalid_parameter', {
      header: 'If-Match',
      detail: 'is needed: in quotes, the version of the view that was read',
    })
  if (!/^[0-9a-f]{32}$/.test(view!)) throw new ApiError('not_found', 'There is no such view.')
  return { id: view!, version }
}

/** Whether the key can have the endpoint's answers in the clear. */
function seesClear({ redacted, rights }: Caller, { redact }: Endpoint): boolean {
  return !redacted && (!redact || rights.includes('pii:read'))
}

/** What is typed into a filter may be personal data, which redaction would take out of an answer. */
function holdsPersonalData({ name, address }: ViewText): boolean {
  const [, query = ''] = address.split(/\?(.*)/s)
  const written = [...new URLSearchParams(query)].map(([word, value]) => `${word}=${value}`)
  return [name, ...written].some(text => redactText(text) !== text)
}
