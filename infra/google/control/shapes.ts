/**
 * The shape of a request as Google's own clients know it: gcloud brings a client for each API, generated from Google's
 * description of it. What they could not send, Google refuses: a path, a parameter, a field or a word of a list that is not there.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sdkRoot } from '../sdk-root.ts'

interface Method {
  verb: string
  pattern: RegExp
  parameters: Set<string>
  /** Name of the body's message; `null` = none. */
  body: string | null
}

interface Message {
  /** By name; `type` is that of a message or a list of words. */
  fields: Map<string, { kind: string; type: string | undefined; isRepeated: boolean }>
  words: Set<string>
}

/** By name; one inside another as `Outer.Inner`. */
type Messages = Map<string, Message>

interface Api {
  methods: Method[]
  messages: Messages
}

const read = new Map<string, Api | null>()

/** Of all methods ("System parameters"). */
const ofAll = new Set(['$alt', 'alt', 'fields', 'key', 'prettyPrint', 'quotaUser', '$.xgafv', 'uploadType'])

/**
 * @param path `api/version/...`
 * @returns what is wrong; `null` where nothing is, and where this machine has no description of the API
 */
export function shapeFault(verb: string, path: string, query: URLSearchParams, body: unknown): string | null {
  const [api = '', version = '', ...rest] = path.split('/')
  const known = describe(api, version)
  if (!known) return null
  // BigQuery's paths are described without the version.
  const asked = api === 'bigquery' ? rest.join('/') : [version, ...rest].join('/')
  const method = known.methods.find(one => one.verb === verb && one.pattern.test(asked))
  if (!method) return `${api} has no method ${verb} ${asked}`
  for (const name of query.keys())
    if (!ofAll.has(name) && !method.parameters.has(name.replaceAll('.', '_')))
      return `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter.`
  const mask = query.get('updateMask')
  const { messages } = known
  const unknown = mask?.split(',').find(path => method.body !== null && !isPath(messages, method.body, path))
  if (unknown !== undefined) return `Invalid field path in update_mask: ${unknown}`
  if (body === undefined) return null
  if (method.body === null) return `${verb} ${asked} takes no body`
  return faultIn(messages, method.body, body, '')
}

/** Such as `serviceConfig.environmentVariables`, also as `service_config.environment_variables`. */
function isPath(messages: Messages, type: string, path: string): boolean {
  const [head = '', ...rest] = path
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    .split('.')
  const fields = messages.get(type)?.fields
  if (!fields || fields.has('additionalProperties')) return true
  const field = fields.get(head)
  if (!field || rest.length === 0) return field !== undefined
  return field.type !== undefined && isPath(messages, within(messages, type, field.type), rest.join('.'))
}

/** Numbers of 64 bits are texts in JSON. */
const plain: Record<string, (value: unknown) => boolean> = {
  StringField: value => typeof value === 'string',
  BytesField: value => typeof value === 'string',
  BooleanField: value => typeof value === 'boolean',
  IntegerField: value => Number.isInteger(typeof value === 'string' && value !== '' ? Number(value) : value),
  FloatField: value => typeof value === 'number',
}

function faultIn(messages: Messages, type: string, value: unknown, path: string): string | null {
  const message = messages.get(type)
  if (!message || value === null) return null
  const wrong = `Invalid value at '${path}': `
  // "ProtoJSON": the number of a word is as good.
  if (message.words.size > 0)
    return typeof value === 'number' || message.words.has(value as string)
      ? null
      : wrong + JSON.stringify(value)
  if (typeof value !== 'object' || Array.isArray(value)) return `${wrong}not an object`
  if (message.fields.has('additionalProperties')) return null
  for (const [name, inner] of Object.entries(value)) {
    const field = message.fields.get(name)
    const at = path ? `${path}.${name}` : name
    if (!field)
      return `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`
    if (field.isRepeated && inner !== null && !Array.isArray(inner))
      return `Invalid value at '${at}': not a list`
    for (const item of (field.isRepeated ? (inner ?? []) : [inner]) as unknown[]) {
      const fault = field.type ? faultIn(messages, within(messages, type, field.type), item, at) : null
      if (fault) return fault
      if (!field.type && item !== null && plain[field.kind]?.(item) === false)
        return `Invalid value at '${at}': ${JSON.stringify(item)}`
    }
  }
  return null
}

/** The innermost message of that name. */
function within(messages: Messages, outer: string, name: string): string {
  for (let scope = outer; scope !== ''; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.'))))
    if (messages.has(`${scope}.${name}`)) return `${scope}.${name}`
  return name
}

// ---- gcloud's files

function describe(api: string, version: string): Api | null {
  const key = `${api}_${version}`
  const present = read.get(key)
  if (present !== undefined) return present
  const folder = join(sdkRoot() ?? '', 'lib/googlecloudsdk/generated_clients/apis', api, version)
  const [client, messages] = ['client', 'messages'].map(part => join(folder, `${key}_${part}.py`))
  const found =
    existsSync(client!) && existsSync(messages!)
      ? readApi(readFileSync(client!, 'utf8'), readFileSync(messages!, 'utf8'))
      : null
  read.set(key, found)
  return found
}

function readApi(client: string, text: string): Api {
  const messages = readMessages(text)
  const methods = [...client.matchAll(/ApiMethodInfo\(([\s\S]*?)\n {4}\)/g)].map(([, info = '']): Method => {
    const said = (name: string) => new RegExp(`${name}='([^']*)'`).exec(info)?.[1] ?? ''
    const path = said('flat_path') || said('relative_path')
    const request = said('request_type_name')
    const field = said('request_field')
    const body = field === '<request>' ? request : (messages.get(request)?.fields.get(field)?.type ?? null)
    const parameters = /query_params=\[([^\]]*)\]/.exec(info)?.[1]?.match(/[^', ]+/g) ?? []
    const escaped = path.replaceAll(/[.()*$+]/g, String.raw`\$&`).replaceAll(/\{[^}]+\}/g, '[^/:]+')
    return {
      verb: said('http_method'),
      pattern: new RegExp(`^${escaped}$`),
      parameters: new Set(parameters),
      body,
    }
  })
  return { methods, messages }
}

function readMessages(text: string): Messages {
  const messages: Messages = new Map()
  let scope: string[] = []
  for (const line of text.split('\n')) {
    const opened = /^( *)class (\w+)\(/.exec(line)
    if (opened) {
      scope = [...scope.slice(0, opened[1]!.length / 2), opened[2]!]
      messages.set(scope.join('.'), { fields: new Map(), words: new Set() })
    }
    // After a class inside it, a line is the outer one's again.
    const depth = line.search(/\S/) / 2
    const message = messages.get(scope.slice(0, depth).join('.'))
    const field = /^ +(\w+) = _messages\.(\w+Field)\((?:'(\w+)')?.*?(repeated=True)?\)$/.exec(line)
    if (field)
      message!.fields.set(field[1]!, {
        kind: field[2]!,
        type: field[3],
        isRepeated: field[4] !== undefined,
      })
    const word = /^ +(\w+) = \d+$/.exec(line)
    if (word) message!.words.add(word[1]!)
  }
  return messages
}
