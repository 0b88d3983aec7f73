/**
 * MAC addresses, which name a device for life: of six octets, or eight (EUI-64). Twelve and more are ids and fingerprints, but
 * for the header of a frame as a firewall logs it: two addresses, and the type of IPv4, ARP or IPv6.
 */
import { mark } from './prefilter.ts'
import { endOf, type PersonalClass, type Span, startOf } from './personal-class.ts'

export const mac: PersonalClass[] = [
  {
    name: 'MAC address',
    marks: mark.pairs,
    pattern: new RegExp(String.raw`${startOf('A-Za-z0-9')}[0-9A-F]{1,2}(?:[:-][0-9A-F]{1,2}){5,}`, 'gi'),
    part: addressIn,
  },
  {
    // As Cisco's devices write it.
    name: 'MAC address in fours',
    marks: mark.fours,
    pattern: /(?<![\w.])(?=[\d.]{0,13}[a-f])(?=[a-f.]{0,13}\d)(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?!\w|\.\w)/gi,
  },
]

/** One separator throughout. BSD leaves out a leading zero; `01:` before six octets is a type, as DHCP has it. */
function addressIn(hit: RegExpExecArray): Span | null {
  const wordAfter = /[A-Za-z0-9]/.test(hit.input.charAt(endOf(hit)))
  const run = wordAfter ? hit[0].replace(/[:-][^:-]+$/, '') : hit[0]
  const separator = /[:-]/.exec(run)![0]
  if (frameHeader.test(run)) return [hit.index, hit.index + run.length]
  const octets = run.split(separator)
  const count = octets.length === 7 ? 6 : octets.length
  const address = octets.slice(-count)
  if ((count !== 6 && count !== 8) || !isAddress(address, separator)) return null
  const end = hit.index + run.length
  return [end - address.join(separator).length, end]
}

const frameHeader = /^(?:[\dA-F]{2}:){12}(?:08:0[06]|86:dd)$/i

/** Digits only, joined by hyphens, are a date with a time of day. */
function isAddress(octets: string[], separator: string): boolean {
  const text = octets.join('')
  if (octets.every(octet => octet.length === 2)) return separator === ':' || /[A-F]/i.test(text)
  return (
    separator === ':' && /[A-F]/i.test(text) && !octets.some(octet => octet.length > 2) && text.length > 7
  )
}
