/** IP addresses as bytes, 4 or 16 of them; what public suffix a host has. */
import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { scalar, type ScalarFunction, ValueError } from './udf.ts'

/** The bytes of an address in text; null for other text. */
function addressOf(text: string): Uint8Array | null {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number)
  if (!isIPv6(text) || text.includes('%')) return null
  const mapped = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  const hex = (high: string, low: string) => ((Number(high) << 8) | Number(low)).toString(16)
  const plain = mapped ? `${mapped[1]}${hex(mapped[2]!, mapped[3]!)}:${hex(mapped[4]!, mapped[5]!)}` : text
  const [head, tail] = plain.split('::') as [string, string?]
  const groups = (part: string) => part.split(':').filter(Boolean)
  const [first, last] = [groups(head), groups(tail ?? '')]
  const all = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last]
  return Uint8Array.from(
    all.flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )
}

function known(text: string): Uint8Array {
  const address = addressOf(text)
  if (!address) throw new ValueError('Text is not an IP address')
  return address
}

function addressText(bytes: Uint8Array): string {
  checkLength(bytes)
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at]! << 8) | bytes[2 * at + 1]!).toString(16),
  )
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address
}

function checkLength({ length }: Uint8Array): void {
  if (length !== 4 && length !== 16) throw new ValueError('An IP address has 4 or 16 bytes')
}

/** Ones up to `bits`, of so many bytes. */
function mask(length: number, bits: number): Uint8Array {
  if ((length !== 4 && length !== 16) || bits < 0 || bits > 8 * length)
    throw new ValueError('A mask has 4 or 16 bytes, and no more bits')
  return Uint8Array.from({ length }, (_, at) => (0xff00 >> Math.min(Math.max(bits - 8 * at, 0), 8)) & 255)
}

function truncated(bytes: Uint8Array, bits: number): Uint8Array {
  checkLength(bytes)
  const ones = mask(bytes.length, bits)
  return bytes.map((byte, at) => byte & ones[at]!)
}

function ipv4Number(bytes: Uint8Array): bigint {
  if (bytes.length !== 4) throw new ValueError('An IPv4 address has 4 bytes')
  return bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n)
}

function ipv4Of(number: bigint): Uint8Array {
  if (number < -0x80000000n || number > 0xffffffffn) throw new ValueError('A number is out of range')
  const bits = Number(BigInt.asUintN(32, number))
  return Uint8Array.from([24, 16, 8, 0], shift => (bits >>> shift) & 255)
}

/** More than any public suffix has. */
const mostLabels = 8

/**
 * The end of a host that has so many labels more than its public suffix; null where there is none. Only suffixes of ICANN's
 * count, a host may end with a dot, and labels before two dots do not count
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/net_functions#netpublic_suffix).
 */
function endOfHost(host: string, more: 0 | 1): string | null {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  const labels = name
    .slice(name.lastIndexOf('..') + 1)
    .split('.')
    .filter(Boolean)
  // Without tldts's own check of a host's letters, which a name with `_` fails.
  const { isIcann, publicSuffix } = parse(labels.slice(-mostLabels).map(asciiLabel).join('.'), {
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
  })
  if (!isIcann || !publicSuffix) return null
  const wanted = publicSuffix.split('.').length + more
  return wanted > labels.length ? null : labels.slice(-wanted).join('.') + host.slice(name.length)
}

/** A label of DNS has at most 63 letters; Punycode takes a time that grows with their square. */
function asciiLabel(label: string): string {
  return (label.length <= 63 && domainToASCII(label)) || label.toLowerCase()
}

export const netFunctions: Record<string, ScalarFunction> = {
  gsql_ip_from_string: scalar(['VARCHAR'], 'BLOB', known),
  gsql_safe_ip_from_string: scalar(['VARCHAR'], 'BLOB', addressOf),
  gsql_ip_to_string: scalar(['BLOB'], 'VARCHAR', addressText),
  gsql_ip_net_mask: scalar(['BIGINT', 'BIGINT'], 'BLOB', (length, bits) =>
    mask(Number(length), Number(bits)),
  ),
  gsql_ip_trunc: scalar(['BLOB', 'BIGINT'], 'BLOB', (bytes, bits) => truncated(bytes, Number(bits))),
  gsql_public_suffix: scalar(['VARCHAR'], 'VARCHAR', host => endOfHost(host, 0)),
  gsql_reg_domain: scalar(['VARCHAR'], 'VARCHAR', host => endOfHost(host, 1)),
  gsql_ipv4_to_int64: scalar(['BLOB'], 'BIGINT', ipv4Number),
  gsql_ipv4_from_int64: scalar(['BIGINT'], 'BLOB', ipv4Of),
}
