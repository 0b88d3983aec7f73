/** IPv4 addresses, and the signs by which versions of the same form differ from them. */
import { endsEscape } from './escapes.ts'
import { mark } from './prefilter.ts'
import { endOf, isAt, type PersonalClass, startOf } from './personal-class.ts'

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
    return [start, isAt(range, hit.input, end) ? range.lastIndex : end]
  },
}

/** `203.0.113.0/24`; in `http://203.0.113.7/24` the number is a path. */
const range = /(?<!\/\/[\d.]{7,15})\/\d{1,2}(?![\w./-])/y

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
