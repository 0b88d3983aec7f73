/**
 * Who and what is in the sample logs. Everything that could belong to somebody is from the ranges set aside for
 * documentation: addresses of RFC 5737 and RFC 3849, names of RFC 2606, network numbers of RFC 5398.
 */
import { Random } from './random.ts'

export interface Project {
  ref: string
  host: string
  /** What its application calls itself and where it lives. */
  app: string
  site: string
  tables: string[]
  buckets: string[]
  functions: { id: string; name: string; deployment: string }[]
}

/** The projects that the sample logs are about, the busiest first. */
export const projects: Project[] = [
  project('qhzvnxwtrkdplmcoyaeb', 'bookshop', ['books', 'orders', 'reviews'], ['covers', 'invoices']),
  project('mtgkrwyfjcxuoahdnlve', 'fieldnotes', ['notes', 'photos', 'places'], ['photos', 'exports']),
  project('bzpsqoiujwhenktxgdfr', 'choir', ['members', 'concerts', 'seats'], ['scores', 'avatars']),
]

function project(ref: string, app: string, tables: string[], buckets: string[]): Project {
  const random = new Random(ref.charCodeAt(0))
  const functions = ['send-receipt', 'resize-image', 'nightly-report'].map(name => ({
    id: random.uuid(),
    name,
    deployment: `${ref}_${random.uuid()}_1`,
  }))
  return {
    ref,
    host: `${ref}.example.co`,
    app,
    site: `https://${app}.example.com`,
    tables,
    buckets,
    functions,
  }
}

/** Where a client is, as the edge sees it. */
export const places = `
  Europe        | DE | Berlin    | Land Berlin       | BE | Europe/Berlin       | FRA | 52.52437 | 13.41053
  Europe        | PT | Lisbon    | Lisbon            | 11 | Europe/Lisbon       | LIS | 38.71667 | -9.13333
  North America | US | Portland  | Oregon            | OR | America/Los_Angeles | PDX | 45.52345 | -122.67621
  Asia          | SG | Singapore | Central Singapore | 01 | Asia/Singapore      | SIN | 1.28967  | 103.85007
  South America | BR | Recife    | Pernambuco        | PE | America/Recife      | REC | -8.05389 | -34.88111
  Africa        | KE | Nairobi   | Nairobi Area      | 30 | Africa/Nairobi      | NBO | -1.28333 | 36.81667`
  .trim()
  .split('\n')
  .map(line => {
    const values = line.split('|').map(value => value.trim())
    const [continent = '', country = '', city = '', region = '', regionCode = ''] = values
    const [timezone = '', colo = '', latitude = '', longitude = ''] = values.slice(5)
    return { continent, country, city, region, regionCode, timezone, colo, latitude, longitude }
  })

/** What asks, and the header by which client libraries name themselves. */
const agents = [
  {
    agent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
    library: 'client-js-web/2.81.1',
  },
  {
    agent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    library: 'client-js-web/2.76.0',
  },
  {
    agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    library: 'client-ssr/0.7.0',
  },
  { agent: 'node', library: 'client-js-node/2.81.1' },
  { agent: 'Dart/3.9 (dart:io)', library: 'client-flutter/2.10.3' },
  { agent: 'python-httpx/0.28.1', library: 'client-py/2.24.0' },
]

export interface Client {
  ip: string
  asn: number
  organization: string
  place: (typeof places)[number]
  agent: string
  library: string
  ja3: string
}

/** Somebody who signs in; each has one client. */
export interface User {
  id: string
  email: string
  session: string
  /** A bearer token in the form of a JWT; its signature signs nothing. */
  token: string
  client: Client
}

const names =
  'ada alan barbara claude donald edsger frances grace hedy john katherine ken margaret radia tim'.split(' ')

/** @param issued seconds since 1970, the time of the tokens */
export function inventUsers(count: number, issued: number, random: Random): User[] {
  return Array.from({ length: count }, (_, index) => {
    const [id, session] = [random.uuid(), random.uuid()]
    const email = `${random.pick(names)}.${index + 1}@example.${random.pick(['com', 'org', 'net'])}`
    const claims = { sub: id, email, role: 'authenticated', session_id: session, exp: issued + 3600 }
    return { id, email, session, token: jsonWebToken(claims, random), client: inventClient(random) }
  })
}

export function jsonWebToken(claims: object, random: Random): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signature = Buffer.from(Array.from({ length: 32 }, () => random.integer(0, 255))).toString(
    'base64url',
  )
  return `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}.${signature}`
}

function inventClient(random: Random): Client {
  const asn = random.integer(64_496, 64_511)
  return {
    ...random.favourite(agents),
    asn,
    ip: inventAddress(random),
    organization: `Example Network ${asn - 64_495}`,
    place: random.favourite(places),
    ja3: random.hex(8) + random.hex(8) + random.hex(8) + random.hex(8),
  }
}

function inventAddress(random: Random): string {
  if (random.chance(0.25))
    return `2001:db8:${random.hex(4)}:${random.integer(1, 99)}::${random.integer(1, 9999)}`
  return `${random.pick(['192.0.2', '198.51.100', '203.0.113'])}.${random.integer(1, 254)}`
}

/** The address of the machine that a project's service runs on. */
export function serverAddress(project: Project): string {
  return `192.0.2.${200 + projects.indexOf(project)}`
}
