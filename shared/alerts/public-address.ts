/** Which addresses are on the internet: the receivers of alerts are there, and what is inside of a network is not reached. */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

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
