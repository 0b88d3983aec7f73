/** Invented requests to the projects of `sample.yaml`, which says what each of them leaves in the logs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { packageFolder } from '../../../shared/package-folder.ts'
import { type Json, uuidOf } from './entries.ts'

export type Random = ReturnType<typeof randomOf>
export type User = ReturnType<typeof inventUser>
export type Request = ReturnType<typeof inventRequest>
export type Project = (typeof projects)[number]

type Fields = { [name: string]: Json }
/** What texts of the templates name. */
type Words = { [name: string]: string | number | null }

const world = parse(readFileSync(join(packageFolder, 'infra/lqe/logs/sample.yaml'), 'utf8'), {
  merge: true,
}) as {
  projects: {
    ref: string
    site: string
    server: string
    tables: string[]
    buckets: string[]
    functions: Record<string, string>
  }[]
  names: string[]
  places: Record<string, string>[]
  agents: Record<string, string>
  calls: Record<string, string[]>
  statuses: Record<number, Fields>
  entries: {
    table: string
    if?: string
    chance?: number
    delay?: number
    message?: string | string[]
    hasProject?: boolean
    metadata: Fields
  }[]
}

const calls = Object.entries(world.calls).map(
  ([service, lines]) => [service, lines.map(fillingText)] as const,
)
const statuses = new Map(
  Object.entries(world.statuses).map(([status, more]) => [Number(status), filling(more)] as const),
)
const entries = world.entries.map(({ if: wanted = '', message, metadata, ...entry }) => ({
  ...entry,
  wanted: new RegExp(wanted),
  messages: [message ?? []].flat().map(fillingText),
  metadataOf: filling(metadata),
}))

/** Names of the tables that they leave entries in. */
export const tablesOfRequests: ReadonlySet<string> = new Set(world.entries.map(({ table }) => table))

/** The busiest first. */
export const { projects } = world

/**
 * Pseudo-random choices (mulberry32), by which the same seed makes the same logs on every machine: `Math.random` cannot be
 * seeded. Not for secrets.
 */
export function randomOf(seed: number) {
  let state = seed | 0
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const next = () => bits() / 2 ** 32
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  const hex = (words: number) =>
    Array.from({ length: words }, () => bits().toString(16).padStart(8, '0')).join('')
  return {
    /** From 0 up to, not including, 1. */
    next,
    /** Both bounds are included. */
    integer,
    /** Eight digits a word. */
    hex,
    uuid: () => uuidOf(hex(4), 4, integer(0, 3)),
    chance: (probability: number) => next() < probability,
    pick: <T>(list: readonly T[]): T => list[integer(0, list.length - 1)]!,
    /** Of six, the first nearly half the time, the last once in seventy: as users, pages and clients are. */
    favourite: <T>(list: readonly T[]): T => list[Math.floor(next() * next() * list.length)]!,
    /** Far more often a small number than a large one, as times and sizes are. */
    longTail: (least: number, most: number) => Math.floor(least * (most / least) ** (next() * next())),
  }
}

/** Who signs in, always from one client. @param issued the time of the token, in seconds since 1970 */
export function inventUser(number: number, issued: number, random: Random) {
  const [id, session, ja3] = [random.uuid(), random.uuid(), random.hex(4)]
  const email = `${random.pick(world.names)}.${number}@example.${random.pick(['com', 'org', 'net'])}`
  const claims = { sub: id, email, session_id: session, exp: issued + 3600 }
  // In the form of a JWT; its signature signs nothing.
  const parts = [JSON.stringify({ alg: 'HS256', typ: 'JWT' }), JSON.stringify(claims), random.hex(4)]
  const token = parts.map(part => Buffer.from(part).toString('base64url')).join('.')
  const ipv4 = `${random.pick(['192.0.2', '198.51.100', '203.0.113'])}.${random.integer(1, 199)}`
  const ip = random.chance(0.25) ? `2001:db8::${random.hex(1).slice(4)}:${random.integer(1, 9999)}` : ipv4
  const [library, agent] = random.favourite(Object.entries(world.agents))
  const asn = random.integer(64_496, 64_511)
  const network = {
    asn,
    organization: `Example Network ${asn - 64_495}`,
    ja3,
    ...random.favourite(world.places),
  }
  return { id, session, email, token, client: { ip, library, agent, ...network } }
}

/** @param time when the edge answers, in microseconds since 1970 */
export function inventRequest(time: number, users: User[], random: Random) {
  // Three of six requests are to the first project, two to the second.
  const project = projects[random.pick([0, 0, 0, 1, 1, 2])]!
  const user = random.favourite(users)
  const [service, lines] = random.favourite(calls)
  const [name, functionId] = random.favourite(Object.entries(project.functions))
  const words: Words = {
    table: random.favourite(project.tables),
    bucket: random.favourite(project.buckets),
    function: name,
    functionId,
    hex: random.hex(1),
    user: user.id,
    token: user.token,
    signature: user.token.slice(-43, -37),
    encodedEmail: encodeURIComponent(user.email),
    encodedSite: encodeURIComponent(project.site),
  }
  const line = String(random.favourite(lines)(words, random))
  const [method = '', target = '', subject = '', usual, ...others] = line.split(' ')
  const status = Number(random.chance(0.93) ? usual : random.pick(others))
  const [duration, bytes] = [random.longTail(3, 3000), String(random.longTail(2, 500_000))]
  return { time, words, project, user, service, method, target, subject, status, duration, bytes }
}

/** All that a request leaves in the logs: first the edge's entry, then its service's. */
export function* entriesOf({ time, words, project, user, target, ...call }: Request, random: Random) {
  const { client, email, session } = user
  const { ref, site, server } = project
  const [path = ''] = target.split('?')
  const host = `${ref}.example.co`
  const known: Words = {
    ...words,
    ...call,
    ...client,
    email,
    session,
    ref,
    site,
    server,
    host,
    statusText: String(call.status),
    path,
    search: target.slice(path.length),
    url: `https://${host}${target}`,
    address: `${client.ip.includes(':') ? `[${client.ip}]` : client.ip}:${random.integer(1024, 65_535)}`,
    ray: random.hex(2),
    worker: random.hex(1),
    execution: random.uuid(),
    // Query ids are hashes of all 64 bits.
    queryId: String(BigInt.asIntN(64, BigInt(`0x${random.hex(2)}`))),
  }
  Object.assign(known, statuses.get(call.status)?.(known, random))
  const kind = `${call.service} ${call.status} ${call.subject}`
  for (const { table, wanted, chance = 1, delay = 0, hasProject, messages, metadataOf } of entries) {
    if (!wanted.test(kind) || !random.chance(chance)) continue
    const at = { ...known, ...timesOf(time + delay) }
    const metadata = metadataOf(at, random)
    const event_message = messages.length > 0 ? random.pick(messages)(at, random) : JSON.stringify(metadata)
    const more = hasProject ? { project: ref } : {}
    yield { table, entry: { id: random.uuid(), timestamp: time + delay, event_message, ...more, metadata } }
  }
}

/** The forms in which programs write a time. @param micros since 1970 */
function timesOf(micros: number): Words {
  const date = new Date(micros / 1000)
  const time = date.toISOString()
  const databaseTime = time.replace('T', ' ').replace('Z', ' UTC')
  return { micros, time, databaseTime, date: date.toUTCString(), expires: Math.floor(micros / 1e6) + 3600 }
}

/** Makes a copy of a template, with the words of its texts as values; one that is not known is `null`. */
type Fill<Value = Json> = (words: Words, random: Random) => Value
type FillText = Fill<Words[string]>

function filling(template: Json): Fill {
  if (typeof template === 'string') return fillingText(template)
  if (typeof template !== 'object' || template === null) return () => template
  const parts = Object.entries(template).map(([name, item]) => [name, filling(item)] as const)
  if (Array.isArray(template)) return (words, random) => parts.map(([, fill]) => fill(words, random))
  return (words, random) => {
    const filled: Fields = {}
    for (const [name, fill] of parts) filled[name] = fill(words, random)
    return filled
  }
}

function fillingText(template: string): FillText {
  // Every second part is a word.
  const [before = '', word, ...others] = template.split(/[{}]/)
  if (word === undefined) return () => template
  const value = valueOf(word)
  if (template === `{${word}}`) return value
  const texts = [value, ...others.map((text, at): FillText => (at % 2 === 0 ? () => text : valueOf(text)))]
  return (words, random) => texts.reduce((text, fill) => text + String(fill(words, random)), before)
}

function valueOf(word: string): FillText {
  const choices = word.split('|')
  if (choices.length > 1) return (_, random) => random.pick(choices)
  const [, least, most] = /^(\d+)-(\d+)$/.exec(word) ?? []
  if (least !== undefined) return (_, random) => random.integer(Number(least), Number(most))
  return words => words[word] ?? null
}
