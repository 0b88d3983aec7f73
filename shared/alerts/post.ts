/**
 * One POST to a receiver of alerts, whose address a file has: its name is resolved once, every address that it has is checked,
 * and the connection goes to one of these. Redirects are not followed, proxies of the environment are not used, and of the
 * answer nothing but the status and Retry-After is read.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { version } from '../version.ts'

export interface Post {
  url: string
  headers?: Record<string, string>
  /** Sent as JSON. */
  body: string
  /** One of Google's own, which may be reached within a network (Private Service Connect). */
  anywhere?: true
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>

const resolveHere: Resolve = name => lookup(name, { all: true })

/** One lookup of a name at a time: each takes one of the process's few threads while name servers are silent. */
export function oneAtATime(resolve: Resolve = resolveHere): Resolve {
  const pending = new Map<string, Promise<LookupAddress[]>>()
  return name => {
    const addresses = pending.get(name) ?? resolve(name).finally(() => pending.delete(name))
    pending.set(name, addresses)
    return addresses
  }
}

interface Options {
  /** Whether receivers may be on this machine, and with http. */
  toLoopback: boolean
  resolve: Resolve
  signal: AbortSignal
}

export interface PostResult {
  status: number
  retryAfter: string | undefined
}

/** An address that is not posted to. The message says why. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress'
}

const standard = { 'Content-Type': 'application/json', 'User-Agent': `log-query-endpoints/${version}` }

/** @throws RefusedAddress; what Node throws, where there is no answer or `signal` aborts */
export async function post({ url, headers, body, anywhere }: Post, options: Options): Promise<PostResult> {
  const target = targetOf(url)
  const addresses = await addressesOf(target, options)
  if (!anywhere) assertReachable(target, addresses, options.toLoopback)
  return new Promise((resolve, reject) => {
    const request = (target.protocol === 'http:' ? requestHttp : requestHttps)(target, {
      method: 'POST',
      headers: { ...standard, 'Content-Length': Buffer.byteLength(body), ...headers },
      agent: false, // the global one takes proxies from the environment
      lookup: (_name, { all }, done) =>
        all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family),
      signal: options.signal,
    })
    request.on('response', ({ statusCode, headers: answered }) => {
      resolve({ status: statusCode!, retryAfter: answered['retry-after'] })
      request.destroy()
    })
    request.on('error', reject)
    request.end(body)
  })
}

/**
 * The URL, in which other forms of an IPv4 address, such as 2130706433 and 0x7f.1, have become 127.0.0.1. No error quotes the
 * text, which may be a secret.
 */
function targetOf(url: string): URL {
  const target = URL.parse(url)
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password)
    throw new RefusedAddress('its address is no https://HOST/PATH')
  return target
}

async function addressesOf({ hostname }: URL, { resolve }: Options): Promise<LookupAddress[]> {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(name)
  const addresses = family === 0 ? await resolve(name) : [{ address: name, family }]
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' })
  return addresses
}

function assertReachable({ protocol }: URL, addresses: LookupAddress[], toLoopback: boolean): void {
  if (addresses.every(({ address }) => isLoopback(address))) {
    if (toLoopback) return
    throw new RefusedAddress('it is on this machine, which ALERTS_TO_LOOPBACK=yes allows on a laptop')
  }
  if (protocol !== 'https:') throw new RefusedAddress('its address is not https')
  if (!addresses.every(({ address }) => isPublic(address)))
    throw new RefusedAddress('it is in a private network or on this machine, and not on the internet')
}

/** Not globally reachable, or another protocol's: https://www.iana.org/assignments/iana-ipv4-special-registry */
const special = listOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // behind a provider's NAT; Alibaba's metadata
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local; the metadata of Google, Amazon and Azure
  ['168.63.129.16', 32], // Azure's own services for a machine
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
])

/** All that is global unicast: without fc00::/7, fe80::/10, ::1, and the forms of IPv4 in ::/96, ::ffff:0:0/96 and 64:ff9b::/96. */
const global = listOf('ipv6', [['2000::', 3]])

/** Of these: https://www.iana.org/assignments/iana-ipv6-special-registry */
const specialOfGlobal = listOf('ipv6', [
  ['2001::', 23], // Teredo and others, which have IPv4 within
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4
  ['3fff::', 20],
])

const loopback = listOf('ipv4', [['127.0.0.0', 8]])

function listOf(family: 'ipv4' | 'ipv6', subnets: [string, number][]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family)
  return list
}

/** @param address as the resolver has it; anything else is not public */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !special.check(address)
  return isIPv6(address) && global.check(address, 'ipv6') && !specialOfGlobal.check(address, 'ipv6')
}

/** Whether it is this machine. */
export function isLoopback(address: string): boolean {
  return isIPv4(address) ? loopback.check(address) : address === '::1'
}
