/** IPv6 addresses in every form: compressed, v4-mapped, with zone, range, port or brackets. */
import { isIPv4, isIPv6 } from 'node:net'
import { mark } from './prefilter.ts'
import { endsEscape } from './escapes.ts'
import { endOf, matchAt, type PersonalClass, type Span } from './personal-class.ts'

/**
 * Two groups without a digit, such as `a::b`, are names in program text, and `::` is punctuation. No such address is in
 * use: routed ones begin with 2 or 3, link-local ones with `fe80`, multicast ones with `ff0`.
 */
const names = /^[a-f]{0,4}::[a-f]{0,4}$/i

/** The longest address between a port and a word. */
const longest = 60

const opening = /(?:\[|%5B)$/i
const closing = /\]|%5D/iy
/** `%eth0`, in URLs `%25eth0`; the escape of a printable character is none. */
const zone = /(?:%25|%(?![2-7][0-9a-f]))[\w.~-]{0,31}\w/iy
const range = /\/\d{1,3}(?!\d)/y

/** An address does not begin right after a word, or after the full stop of a number, replaced or not. */
const wordAtEnd = /[A-Za-z0-9]$|(?:\d|REDACTED)\.$/

/** A run of an address's characters from its first colon on. */
export const ipv6: PersonalClass = {
  name: 'IPv6 address',
  marks: mark.colons,
  pattern: /:(?=:|[0-9a-f]{1,4}:[0-9a-f]{0,4}:)[0-9a-f:.]+/gi,
  part: addressIn,
}

/** The name by which DNS looks an address up: its digits backwards (RFC 3596, section 2.5). */
export const ipv6InHostName: PersonalClass = {
  name: 'IPv6 address in a host name',
  marks: mark.dots, // of 32 digits some that follow each other are decimal
  pattern: /\.ip6\.arpa(?<=(?<![\w-])((?:[0-9a-f]\.){3,31}[0-9a-f])\.ip6\.arpa)/gi,
  part: hit => [hit.index - hit[1]!.length, hit.index],
}

function addressIn(hit: RegExpExecArray): Span | null {
  const { input } = hit
  const start = startOfRun(input, hit.index)
  if (endOf(hit) - start > longest) return null
  // No address has more than two colons on end: each would be tried with those before it.
  const run = input.slice(start, endOf(hit)).replace(/(?<=::):+$/, '')
  const end = start + run.length
  if (!inWord.test(input.charAt(start - 1)) && !inWord.test(input.charAt(end))) {
    if (isAddress(run, input, start, end)) return withSurroundings(input, [start, end])
  }
  // No part of a name is an address.
  if (names.test(run)) return null
  const groups = run.split(':')
  // Eight groups are the least without `::`, or seven of which the last is an IPv4 address.
  if (groups.length < (hit[0].includes('.') ? 7 : 8) && !hit[0].includes('::')) return null
  const address = findAddress(input, [start, end], groups)
  return address && withSurroundings(input, address)
}
const inWord = /[A-Za-z0-9.%]/

/**
 * The group before the first colon, up to four digits, is part of the run. An escape before it is not, but for one that
 * begins an address in use: in SQL, `LIKE '%2001:db8::%'` begins with a wildcard.
 */
function startOfRun(text: string, at: number): number {
  const start = at - /[0-9a-f]*$/i.exec(text.slice(Math.max(0, at - 4), at))![0].length
  if (text.charAt(start - 2) === '%' && endsEscape(text, start + 1)) return start + 1
  if (text.charAt(start - 1) !== '%' || at - start < 2) return start
  const isRouted = at - start === 4 && /^2[0-9a-d]/i.test(text.slice(start, at))
  return !isRouted && endsEscape(text, start + 2) ? start + 2 : start
}

/**
 * The longest address among the groups of a run. At the left a word or a colon may come before it (`from:2001:db8::1`),
 * at the right a port, a full stop or a word may follow. A word that goes on outside the run is never part of it.
 */
function findAddress(text: string, [start, end]: Span, groups: string[]): Span | null {
  const wordBefore = wordAtEnd.test(text.slice(Math.max(0, start - 12), start)) && !endsEscape(text, start)
  const wordAfter = /[A-Za-z0-9]/.test(text.charAt(end))
  for (const dropped of wordBefore ? [1, 2] : [0, 1]) {
    const from = start + groups.slice(0, dropped).join('').length + dropped
    for (const rest of endings(groups.slice(dropped), wordAfter)) {
      const address = rest.join(':')
      // After `name::` only a full address: `std::1` is none.
      if (dropped === 2 && rest.includes('')) continue
      if (isAddress(address, text, from, from + address.length)) return [from, from + address.length]
    }
  }
  return null
}

/**
 * The groups that may form an address, the longest first: all of them; without the colon that ends them; without final full stops; without the text after
 * the last full stop or an ellipsis; without the last group, and without the port before a word. An IPv4 address ends an IPv6 address.
 */
function endings(groups: string[], wordAfter: boolean): string[][] {
  const mapped = groups.findIndex(group => isIPv4(group)) + 1
  if (mapped > 0 && mapped < groups.length) return [groups.slice(0, mapped)]
  const last = groups.at(-1) ?? ''
  const others = groups.slice(0, -1)
  const lasts = new Set([/$/, /\.+$/, /\.[^.]*$/, /\.\..*/].map(end => last.replace(end, '')))
  const whole = [...lasts].filter(group => !wordAfter || group !== last).map(group => [...others, group])
  if (last === '' && others.length > 0) return [...whole, ...endings(others, false)]
  return wordAfter ? [...whole, others, others.slice(0, -1)] : [...whole, others]
}

function isAddress(address: string, text: string, from: number, to: number): boolean {
  if (!isIPv6(address)) return false
  return !names.test(address) || (address !== '::' && brackets(text, from, to) !== null)
}

/** With zone, and with brackets or range. A port stays: it identifies no person. */
function withSurroundings(text: string, [from, to]: Span): Span {
  const end = to + (matchAt(zone, text, to)?.length ?? 0)
  return brackets(text, from, end) ?? [from, end + (matchAt(range, text, end)?.length ?? 0)]
}

function brackets(text: string, from: number, to: number): Span | null {
  const opened = opening.exec(text.slice(Math.max(0, from - 3), from))
  const closed = matchAt(closing, text, to)
  return opened && closed ? [from - opened[0].length, to + closed.length] : null
}
