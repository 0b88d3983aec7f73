/**
 * The projects and users of the sample logs. Everything that could be personal is from the ranges reserved for
 * documentation: addresses of RFC 5737 and RFC 3849, names of RFC 2606, network numbers of RFC 5398.
 */
import { Random } from './random.ts'

export type Project = ReturnType<typeof project>
export type User = ReturnType<typeof inventUser>

/** The projects that the sample logs are about, the busiest first. */
export const projects = [
  project('qhzvnxwtrkdplmcoyaeb', 'bookshop', ['books', 'orders', 'reviews'], ['covers', 'invoices']),
  project('mtgkrwyfjcxuoahdnlve', 'fieldnotes', ['notes', 'photos', 'places'], ['photos', 'exports']),
  project('bzpsqoiujwhenktxgdfr', 'choir', ['members', 'concerts', 'seats'], ['scores', 'avatars']),
]

function project(ref: string, app: string, tables: string[], buckets: string[]) {
  const random = new Random(ref.charCodeAt(0))
  const functions = ['send-receipt', 'resize-image', 'nightly-report'].map(name => ({
    id: random.uuid(),
    name,
    deployment: `${ref}_${random.uuid()}_1`,
  }))
  return { ref, host: `${ref}.example.co`, site: `https://${app}.example.com`, tables, buckets, functions }
}

/** The address of the machine that a project's service runs on. */
export function serverAddress(project: Project): string {
  return `192.0.2.${200 + projects.indexOf(project)}`
}

/** Where a client is, as the edge sees it. */
const places = rows(
  ['continent', 'country', 'city', 'region', 'regionCode', 'timezone', 'colo', 'latitude', 'longitude'],
  `
  Europe        | DE | Berlin    | Land Berlin       | BE | Europe/Berlin       | FRA | 52.52437 | 13.41053
  Europe        | PT | Lisbon    | Lisbon            | 11 | Europe/Lisbon       | LIS | 38.71667 | -9.13333
  North America | US | Portland  | Oregon            | OR | America/Los_Angeles | PDX | 45.52345 | -122.67621
  Asia          | SG | Singapore | Central Singapore | 01 | Asia/Singapore      | SIN | 1.28967  | 103.85007
  South America | BR | Recife    | Pernambuco        | PE | America/Recife      | REC | -8.05389 | -34.88111
  Africa        | KE | Nairobi   | Nairobi Area      | 30 | Africa/Nairobi      | NBO | -1.28333 | 36.81667`,
)

/** User agents, and the header by which client libraries name themselves. */
const agents = rows(
  ['library', 'agent'],
  `
  client-js-web/2.81.1  | Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36
  client-js-web/2.76.0  | Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1
  client-ssr/0.7.0      | Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0
  client-js-node/2.81.1 | node
  client-flutter/2.10.3 | Dart/3.9 (dart:io)
  client-py/2.24.0      | python-httpx/0.28.1`,
)

function rows<K extends string>(columns: K[], text: string): Record<K, string>[] {
  return text
    .trim()
    .split('\n')
    .map(line => line.split('|').map(cell => cell.trim()))
    .map(cells => Object.fromEntries(columns.map((name, at) => [name, cells[at]])) as Record<K, string>)
}

const names =
  'ada alan barbara claude donald edsger frances grace hedy john katherine ken margaret radia tim'.split(' ')

/** @param issued seconds since 1970, the time of the tokens */
export function inventUsers(count: number, issued: number, random: Random): User[] {
  return Array.from({ length: count }, (_, index) => inventUser(index + 1, issued, random))
}

/** A user who signs in, always from one client, with a bearer token. */
function inventUser(number: number, issued: number, random: Random) {
  const [id, session] = [random.uuid(), random.uuid()]
  const email = `${random.pick(names)}.${number}@example.${random.pick(['com', 'org', 'net'])}`
  const claims = { sub: id, email, role: 'authenticated', session_id: session, exp: issued + 3600 }
  return { id, email, session, token: jsonWebToken(claims, random), client: inventClient(random) }
}

/** A token in the form of a JWT; its signature signs nothing. */
export function jsonWebToken(claims: object, random: Random): string {
  const signature = Buffer.from(Array.from({ length: 32 }, () => random.integer(0, 255)))
  return [JSON.stringify({ alg: 'HS256', typ: 'JWT' }), JSON.stringify(claims), signature]
    .map(part => Buffer.from(part).toString('base64url'))
    .join('.')
}

function inventClient(random: Random) {
  const asn = random.integer(64_496, 64_511)
  return {
    ...random.favourite(agents),
    asn,
    ip: inventAddress(random),
    organization: `Example Network ${asn - 64_495}`,
    place: random.favourite(places),
    ja3: random.hex(32),
  }
}

function inventAddress(random: Random): string {
  if (random.chance(0.25))
    return `2001:db8:${random.hex(4)}:${random.integer(1, 99)}::${random.integer(1, 9999)}`
  return `${random.pick(['192.0.2', '198.51.100', '203.0.113'])}.${random.integer(1, 254)}`
}
