/**
 * The shape of a request as Google's own clients know it: gcloud brings a client for each API, generated from Google's
 * description of it. What they could not send, Google refuses: a path, a parameter, a field or a word of a list that is not there.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sdkRoot } from '../sdk-root.ts'
import { keysOf } from './plane.ts'

interface Method {
  verb: string
  pattern: RegExp
  parameters: string[]
  /** Name of the body's message; `null` = none. */
  body: string | null
}

/** `type` is that of a message or a list of words. */
interface Field {
  kind: string
  type: string | undefined
  isRepeated: boolean
}

/** Fields of a message, or `null` for each word of a list, by name; messages by theirs, one inside another as `Outer.Inner`. */
type Messages = Map<string, Map<string, Field | null>>

interface Api {
  methods: Method[]
  messages: Messages
}

const read = new Map<string, Api | null>()

/** Of all methods ("System parameters"). */
const ofAll = ['$alt', 'alt', 'fields', 'key', 'prettyPrint', 'quotaUser', '$.xgafv', 'uploadType']

/**
 * @param path `api/version/...`
 * @returns what is wrong; `null` where nothing is, and where this machine has no description of the API
 */
export function shapeFault(verb: string, path: string, query: URLSearchParams, body: unknown): string | null {
  const [api = '', version = '', ...rest] = path.split('/')
  const known = read.get(`${api}_${version}`) ?? describe(api, version)
  if (!known) return null
  // BigQuery's paths are described without the version.
  const asked = [...(api === 'bigquery' ? [] : [version]), ...rest].join('/')
  const method = known.methods.find(one => one.verb === verb && one.pattern.test(asked))
  if (!method) return `${api} has no method ${verb} ${asked}`
  const { parameters, body: type } = method
  for (const name of query.keys())
    if (!ofAll.includes(name) && !parameters.includes(name.replaceAll('.', '_')))
      return `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter.`
  if (type === null) return body === undefined ? null : `${verb} ${asked} takes no body`
  const nested = (mask: string) => keysOf(mask).reduceRight<unknown>((inner, key) => ({ [key]: inner }), null)
  for (const mask of query.get('updateMask')?.split(',') ?? [])
    if (faultIn(known.messages, type, nested(mask), '')) return `Invalid field path in update_mask: ${mask}`
  return body === undefined ? null : faultIn(known.messages, type, body, '')
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
  if (!message || value === null || message.has('additionalProperties')) return null
  // "ProtoJSON": the number of a word is as good.
  if ([...message.values()].includes(null))
    return typeof value === 'number' || message.has(value as string) ? null : wrong(path, value)
  if (typeof value !== 'object' || Array.isArray(value)) return `Invalid value at '${path}': not an object`
  for (const [name, inner] of Object.entries(value)) {
    const field = message.get(name)
    const at = path ? `${path}.${name}` : name
    if (!field)
      return `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`
    const { kind, type: of, isRepeated } = field
    if (isRepeated && inner !== null && !Array.isArray(inner)) return `Invalid value at '${at}': not a list`
    for (const item of (isRepeated ? (inner ?? []) : [inner]) as unknown[]) {
      const isPlain = item === null || (plain[kind]?.(item) ?? true)
      const fault = of
        ? faultIn(messages, within(messages, type, of), item, at)
        : isPlain
          ? null
          : wrong(at, item)
      if (fault) return fault
    }
  }
  return null
}

function wrong(path: string, value: unknown): string {
  return `Invalid value at '${path}': ${JSON.stringify(value)}`
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
  const folder = join(sdkRoot() ?? '', 'lib/googlecloudsdk/generated_clients/apis', api, version)
  const [client, texts] = ['client', 'messages'].map(part => join(folder, `${key}_${part}.py`)) as [
    string,
    string,
  ]
  if (!existsSync(client) || !existsSync(texts)) return null
  const messages = readMessages(readFileSync(texts, 'utf8'))
  const infos = readFileSync(client, 'utf8').matchAll(/ApiMethodInfo\(([\s\S]*?)\n {4}\)/g)
  const found = { messages, methods: [...infos].map(([, info = '']) => readMethod(info, messages)) }
  read.set(key, found)
  return found
}

function readMethod(info: string, messages: Messages): Method {
  const said = (name: string) => new RegExp(`${name}='([^']*)'`).exec(info)?.[1] ?? ''
  const path = said('flat_path') || said('relative_path')
  const [request, field] = [said('request_type_name'), said('request_field')]
  const escaped = path.replaceAll(/[.()*$+]/g, String.raw`\$&`).replaceAll(/\{[^}]+\}/g, '[^/:]+')
  return {
    verb: said('http_method'),
    pattern: new RegExp(`^${escaped}$`),
    parameters: /query_params=\[([^\]]*)\]/.exec(info)?.[1]?.match(/[^', ]+/g) ?? [],
    body: field === '<request>' ? request : (messages.get(request)?.get(field)?.type ?? null),
  }
}

function readMessages(text: string): Messages {
  const messages: Messages = new Map()
  let scope: string[] = []
  for (const line of text.split('\n')) {
    const [, indent, name] = /^( *)class (\w+)\(/.exec(line) ?? []
    if (name) {
      scope = [...scope.slice(0, indent!.length / 2), name]
      messages.set(scope.join('.'), new Map())
    }
    // After a class inside it, a line is the outer one's again.
    const message = messages.get(scope.slice(0, line.search(/\S/) / 2).join('.'))
    const [, field, kind, type, repeated] =
      /^ +(\w+) = _messages\.(\w+Field)\((?:'(\w+)')?.*?(repeated=True)?\)$/.exec(line) ?? []
    if (field) message!.set(field, { kind: kind!, type, isRepeated: repeated !== undefined })
    const [, word] = /^ +(\w+) = \d+$/.exec(line) ?? []
    if (word) message!.set(word, null)
  }
  return messages
}
