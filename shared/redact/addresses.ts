/** IPv4 addresses, and the signs by which versions of the same form differ from them; IPv6 and MAC addresses. */
import { isIPv4, isIPv6 } from 'node:net'
import { endsEscape } from './escapes.ts'
import { endOf, isAt, matchAt, type PersonalClass, type Span, startOf } from './personal-class.ts'
import { mark } from './prefilter.ts'

const octet = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d?\d)`

/** Also with octets of three digits, `203.000.113.007`. Not as part of a longer number or word: `1.2.3.4a`. */
export const ipv4: PersonalClass = {
  name: 'IPv4 address',
  marks: mark.dots,
  pattern: new RegExp(
    // It starts at the first dot, which is rarer than digits. Read by lookahead: in `ns1.203.0.113.7` a refused candidate
    // begins one number before the address.
    String.raw`\.(?=\d{1,3}\.\d)(?<=(${startOf(String.raw`\d`)}(?=(${octet}(?:\.${octet}){3})(?![\dA-Za-z]))\d{1,3}\.))`,
    'g',
  ),
  part(hit) {
    const start = hit.index + 1 - hit[1]!.length
    const end = start + hit[2]!.length
    if (isVersion(hit.input, start, end)) return null
    return [start, isAt(maskAfter, hit.input, end) ? maskAfter.lastIndex : end]
  },
}

/** `203.0.113.0/24`; in `http://203.0.113.7/24` the number is a path. */
const maskAfter = /(?<!\/\/[\d.]{7,15})\/\d{1,2}(?![\w./-])/y

/**
 * A fifth number: a port, as tcpdump and netstat write it, by its size or its place, of which netstat has two side by side;
 * otherwise a part of a version.
 */
const fifth = /\.\d/y
const five = String.raw`(?<![\d.])(?:\d{1,3}\.){4}\d{1,5}(?![\w.])`
const portAfter = new RegExp(
  String.raw`\.(?:(?:25[6-9]|2[6-9]\d|[3-9]\d\d|\d{4,5})(?![\w.])|\d{1,5}(?: > |: |\s{1,20}(?:\*\.|${five})))`,
  'y',
)
const portOf = new RegExp(String.raw`(?<=(?: > |${five}\s{1,20})[\d.]{7,15})\.\d{1,5}(?![\w.])`, 'y')

/** Signs of a version around the four numbers, by the character before them. All have a bounded length. */
function isVersion(text: string, start: number, end: number): boolean {
  // Most stand alone.
  if (end === text.length && start === 0) return false
  // A port: `PostgreSQL 10.0.0.5:5432`.
  if (isAt(endpointAfter, text, end)) return false
  if (isAt(releaseAfter, text, end)) return true
  if (isAt(fifth, text, end) && !isAt(portAfter, text, end) && !isAt(portOf, text, end)) return true
  const before = text.charAt(start - 1)
  if (/[A-Za-z]/.test(before))
    return endsEscape(text, start) ? isProduct(text, start, end) : isNumberOfVersion(text, start, end)
  if (before === '.') return isMember(text, start, end)
  if (before === '/') return isProduct(text, start, end)
  if (before === '~') return isAt(packageBefore, text, start)
  if (before === '@') return isNumberOfVersion(text, start, end)
  if (before === '-' && (isAt(dayBefore, text, start) || isNumberOfVersion(text, start, end))) return true
  if (before === '-' || before === '_') return isAt(nameBefore, text, start) && isAt(fileAfter, text, end)
  return /[\s:="'\\(]/.test(before) && (isAt(versionBefore, text, start) || isAt(relationBefore, text, start))
}

/** `v1.2.3.4`, `jdk1.8.0.102`, `release-1.2.3.4`; a host is called `v-10-0-0-5.example.com`, and `fw-10.0.0.5` or `build-10.0.0.5`. */
function isNumberOfVersion(text: string, start: number, end: number): boolean {
  return (
    isAt(versionWordBefore, text, start) && (!isAt(domainAfter, text, end) || isAt(archiveAfter, text, end))
  )
}
const versionWordBefore = /(?<=(?<![A-Za-z])(?:(?:v|ver|version|release)[-_]?|(?:jdk|jre)[-_@]?))/iy
const archiveAfter = /\.(?:7z|bz2|gz|tar|tgz|xz|zip|final|ga|jar)\b/iy

/** After a full stop: `libfoo.so.1.2.3.4` and a fifth number, but not the name of a host, `ns1.203.0.113.7`. */
function isMember(text: string, start: number, end: number): boolean {
  if (text.charAt(start - 2) === '.') return false
  const inHostName =
    isAt(labelBefore, text, start) || (isAt(numberedBefore, text, start) && isAt(domainAfter, text, end))
  return !inHostName || isAt(versionLabelBefore, text, start) || isAt(fileAfter, text, end)
}
const labelBefore = /(?<=[A-Za-z]\d{0,9}\.)/y
const numberedBefore = /(?<=-\d{1,9}\.)/y
const versionLabelBefore = /(?<=(?<![A-Za-z])(?:so|v|ver|version|release|dylib)\d{0,9}\.)/iy

/**
 * `version 1.2.3.4`, `"appVersion":"1.2.3.4"`, `"Chromium";v="120.0.0.0"`, by a word and not its end (`conversion`); behind a
 * product only one blank: in `Chrome (203.0.113.7)` and in a column after its name an address stands.
 */
const versionBefore =
  /(?<=(?:(?:(?<![A-Za-z])(?:[Vv]ersions?|VERSION|[Vv]er\.?|[Rr]ev\.?|rv)|(?<=[A-Za-z\d])Versions?|;[Vv]=?)[\\"']{0,4} ?[:=-]? ?[\\"']{0,4}|(?<![A-Za-z])(?:[Bb]uild:?|PostgreSQL|\.NET|Flash Player|Chrome|Chromium|Opera|[Vv]\.?) ))/y

/** A relation to a package of Debian, `zlib1g (>= 1:1.2.3.4)`. */
const relationBefore = /(?<=\((?:<<|<=|=|>=|>>) (?:\d:)?)/y

/** `KB3149090~amd64~~6.1.1.0`, Debian's `1.0~1.2.3.4`; `=~` and `!~` search. */
const packageBefore = /(?<=[\w~]~)/y

/** A time of day after a date, `2005-07-15-23.49.42.108`, as DB2 writes it. */
const dayBefore = /(?<=\d{4}-\d\d-\d\d-)\d\d\.\d\d\.\d\d\.\d/y

/** Products whose versions have four numbers: `Chrome/120.0.0.0`, also `Chrome%2F120.0.0.0` and `Chrome\/120.0.0.0`. */
const productBefore =
  /(?<=(?:^|[\s"'`(;,+=[|]|%20)(?:(?:Headless)?Chrome|Chromium|CriOS|Firefox|FxiOS|Safari|Edge?|EdgA|EdgiOS|OPR|OPT|OPX|Opera|Brave|SamsungBrowser|UCBrowser|UP\.Browser|Version|Vivaldi|WhatsApp|YaBrowser|GSA|envoy|kong|nginx|openresty|tengine|zlib)(?:\\?\/|%2F))/y

/**
 * Any product in a User-Agent header: a text that begins with a product, `okhttp/4.9.3`, and its version, up to the next
 * quotation mark or bar (RFC 9110, section 10.1.5). Elsewhere `Client/203.0.113.7` is an address.
 */
const agentProductBefore =
  /(?<=(?:Mozilla|(?:^|["|'\n]\s{0,2})(?!HTTP)[A-Z][\w.-]{1,40}\/\d{1,4}\.\d{1,4}(?:\.\d{1,6})?(?=[ ;)]))[^"|\n]{0,400}(?:[\s(;,+]|%20)[A-Z][\w.-]{0,40}(?:\\?\/|%2F))/iy
/** An application's own agent: `MyApp/1.2.3.4 (iOS 17)`. */
const systemAfter =
  / (?:\((?:Android|Linux|Macintosh|Windows|X11|compatible|iOS|iPad|iPhone|macOS)\b|(?:Alamofire|CFNetwork|Dalvik|Darwin|okhttp)\/\d)/y
const endpointAfter = /[:/]\d/y

function isProduct(text: string, start: number, end: number): boolean {
  if (isAt(endpointAfter, text, end)) return false
  return (
    isAt(productBefore, text, start) || isAt(agentProductBefore, text, start) || isAt(systemAfter, text, end)
  )
}

/**
 * The parts of a file's name, `libfoo-1.2.3.4.so` and `foo-1.2.3.4-py3-none-any.whl`, and of a version, `1.2.3.4-rc1`. Files of
 * data and archives are named for addresses too, `scan_203.0.113.7.json`, and so are hosts, `10.0.0.5-dev`.
 */
const nameBefore = /(?<=\w[-_])/y
const fileAfter =
  /(?:(?:[-_.][\w.+~-]{1,60})?\.(?:apk|crate|deb|dll|dmg|dylib|exe|gem|jar|msi|nupkg|pkg|rpm|whl)|\.so)\b(?!\.[a-z])|\.orig\.tar\.|\.el\d/iy
const releaseAfter =
  /(?:(?:-SNAPSHOT|\.(?:RELEASE|Final)|(?:-[\w.+~]{1,40})?_(?:amd64|arm64|armhf|i386|all)\.u?deb)(?![\w-]|\.[a-z])|-(?:alpha|beta|rc)\.?\d{1,3}(?![\w-]|\.[a-z])|\+(?:dfsg|(?:build|deb|git)\.?\d)|-\d{1,3}(?:(?:ubuntu|deb|build)\d|~|\+(?:b|deb|nmu)\d|\.(?:el|fc)\d))/iy

// ---- in the names of hosts

/** Numbers joined by hyphens, taken as one run, so that a part of a list or a date is no address. */
const hyphenated = /(?<!\d-?)\d{1,10}(?:-\d{1,10}){3,}/g
const octetInName = /^(?:0\d\d|25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/

/** A letter directly before the numbers, or joined to them: `ec2-10-0-0-5`, `h64-187-1-131`. */
const letterBefore = /(?<=[A-Za-z][-_]?)/y
/** The time of day behind a date, in the names of files: `postgresql-2025-10-10-13-55-36.log`. */
const dateAndTime =
  /^(?:19|20)\d\d-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])-(?:[01]?\d|2[0-3])-[0-5]?\d(?:-[0-5]?\d)?(?:-\d+)?$/
const domainAfter = /(?:-[A-Za-z][\w-]{0,60})?\.[a-z]/y

/** `ec2-203-0-113-7.compute.example`, `82-68-222-195.dsl.example`. Bare numbers may be a date, a version or a range. */
export const ipv4InHostName: PersonalClass = {
  name: 'IPv4 address in a host name',
  marks: mark.dashes,
  pattern: hyphenated,
  part(hit) {
    const { input, index } = hit
    const end = endOf(hit)
    if (/\w/.test(input.charAt(end)) || isAt(fileAfter, input, end) || dateAndTime.test(hit[0])) return null
    const named = isAt(letterBefore, input, index)
    if (named && isNumberOfVersion(input, index, end)) return null
    const address = addressAmong(hit[0].split('-'), named, isAt(domainAfter, input, end))
    if (!address || !address.every(number => octetInName.test(number)) || /^0+$/.test(address[0]!))
      return null
    const start = input.indexOf(address.join('-'), index)
    return [start, start + address.join('-').length]
  },
}

/**
 * Four numbers with a name or a domain; of more, the last four with both, or after a name that ends in a number
 * (`pool2-10-0-0-5`), or those before a port or an id.
 */
function addressAmong(numbers: string[], named: boolean, inDomain: boolean): string[] | null {
  if (numbers.length === 4) return named || inDomain ? numbers : null
  if (!named || (numbers.length > 5 && !inDomain)) return null
  return !inDomain && numbers[4]!.length > 3 ? numbers.slice(0, 4) : numbers.slice(-4)
}

// ---- IPv6, in every form: compressed, v4-mapped, with zone, range, port or brackets.

/**
 * Two groups without a digit, such as `a::b`, are names in program text, and `::` is punctuation. No such address is in
 * use: routed ones begin with 2 or 3, link-local ones with `fe80`, multicast ones with `ff0`.
 */
const names = /^[a-f]{0,4}::[a-f]{0,4}$/i

/** The longest address between a port and a word. */
const longest = 60

const opening = /(?:\[|%5B)$/i
const closing = /\]|%5D/iy
/** `%eth0`, in URLs `%25eth0`; the escape of a printable character is not a zone. */
const zone = /(?:%25|%(?![2-7][0-9a-f]))[\w.~-]{0,31}\w/iy
const rangeAfter = /\/\d{1,3}(?!\d)/y

/** An address does not begin right after a word, or after the full stop of a number, replaced or not. */
const wordAtEnd = /[A-Za-z0-9]$|(?:\d|REDACTED)\.$/

/** A run of an address's characters from its first colon on. */
export const ipv6: PersonalClass = {
  name: 'IPv6 address',
  marks: mark.colons,
  pattern: /:(?=:|[0-9a-f]{1,4}:[0-9a-f]{0,4}:)[0-9a-f:.]+/gi,
  part: ipv6In,
}

/** The name by which DNS looks an address up: its digits backwards (RFC 3596, section 2.5). */
export const ipv6InHostName: PersonalClass = {
  name: 'IPv6 address in a host name',
  marks: mark.dots, // of 32 digits some that follow each other are decimal
  pattern: /\.ip6\.arpa(?<=(?<![\w-])((?:[0-9a-f]\.){3,31}[0-9a-f])\.ip6\.arpa)/gi,
  part: hit => [hit.index - hit[1]!.length, hit.index],
}

function ipv6In(hit: RegExpExecArray): Span | null {
  const { input } = hit
  const start = startOfRun(input, hit.index)
  if (endOf(hit) - start > longest) return null
  // No address has more than two colons on end: each would be tried with those before it.
  const run = input.slice(start, endOf(hit)).replace(/(?<=::):+$/, '')
  const end = start + run.length
  if (!inWord.test(input.charAt(start - 1)) && !inWord.test(input.charAt(end))) {
    if (isIpv6(run, input, start, end)) return withSurroundings(input, [start, end])
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
      // After `name::` only a full address: `std::1` is not one.
      if (dropped === 2 && rest.includes('')) continue
      if (isIpv6(address, text, from, from + address.length)) return [from, from + address.length]
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

function isIpv6(address: string, text: string, from: number, to: number): boolean {
  if (!isIPv6(address)) return false
  return !names.test(address) || (address !== '::' && brackets(text, from, to) !== null)
}

/** With zone, and with brackets or range. A port stays: it identifies no person. */
function withSurroundings(text: string, [from, to]: Span): Span {
  const end = to + (matchAt(zone, text, to)?.length ?? 0)
  return brackets(text, from, end) ?? [from, end + (matchAt(rangeAfter, text, end)?.length ?? 0)]
}

function brackets(text: string, from: number, to: number): Span | null {
  const opened = opening.exec(text.slice(Math.max(0, from - 3), from))
  const closed = matchAt(closing, text, to)
  return opened && closed ? [from - opened[0].length, to + closed.length] : null
}

// ---- MAC addresses, which name a device for life: of six octets, or eight (EUI-64). Twelve and more are ids and fingerprints, but
// for the header of a frame as a firewall logs it: two addresses, and the type of IPv4, ARP or IPv6.

export const mac: PersonalClass[] = [
  {
    name: 'MAC address',
    marks: mark.pairs,
    pattern: new RegExp(String.raw`${startOf('A-Za-z0-9')}[0-9A-F]{1,2}(?:[:-][0-9A-F]{1,2}){5,}`, 'gi'),
    part: macIn,
  },
  {
    // As Cisco's devices write it.
    name: 'MAC address in fours',
    marks: mark.fours,
    pattern: /(?<![\w.])(?=[\d.]{0,13}[a-f])(?=[a-f.]{0,13}\d)(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?!\w|\.\w)/gi,
  },
]

/** One separator throughout. BSD leaves out a leading zero; `01:` before six octets is a type, as DHCP has it. */
function macIn(hit: RegExpExecArray): Span | null {
  const wordAfter = /[A-Za-z0-9]/.test(hit.input.charAt(endOf(hit)))
  const run = wordAfter ? hit[0].replace(/[:-][^:-]+$/, '') : hit[0]
  const separator = /[:-]/.exec(run)![0]
  if (frameHeader.test(run)) return [hit.index, hit.index + run.length]
  const octets = run.split(separator)
  const count = octets.length === 7 ? 6 : octets.length
  const address = octets.slice(-count)
  if ((count !== 6 && count !== 8) || !isMac(address, separator)) return null
  const end = hit.index + run.length
  return [end - address.join(separator).length, end]
}

const frameHeader = /^(?:[\dA-F]{2}:){12}(?:08:0[06]|86:dd)$/i

/** Digits only, joined by hyphens, are a date with a time of day. */
function isMac(octets: string[], separator: string): boolean {
  const text = octets.join('')
  if (octets.every(octet => octet.length === 2)) return separator === ':' || /[A-F]/i.test(text)
  return (
    separator === ':' && /[A-F]/i.test(text) && !octets.some(octet => octet.length > 2) && text.length > 7
  )
}
