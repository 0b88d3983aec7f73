/** IPv4 addresses, and the signs by which versions of the same form differ from them. */
import { mark } from './prefilter.ts'
import { endOf, endsEscape, type PersonalClass, startOf } from './personal-class.ts'

const octet = String.raw`(?:25[0-5]|2[0-4]\d|[01]?\d?\d)`

/** Also with octets of three digits, `203.000.113.007`. Not as part of a longer number or word: `1.2.3.4.5`, `1.2.3.4a`. */
const pattern = new RegExp(
  String.raw`${startOf(String.raw`\d`)}${octet}(?:\.${octet}){3}(?![\dA-Za-z]|\.\d)`,
  'g',
)

/** `203.0.113.0/24`; in `http://203.0.113.7/24` the number is a path. */
const range = /(?<!\/\/[\d.]{7,15})\/\d{1,2}(?![\w./-])/y

export const ipv4: PersonalClass = {
  name: 'IPv4 address',
  marks: mark.dots,
  pattern,
  part(hit) {
    const end = endOf(hit)
    if (isVersion(hit.input, hit.index, end)) return null
    return [hit.index, isAt(range, hit.input, end) ? range.lastIndex : end]
  },
}

/** Signs of a version before the four numbers, by the character next to them. All have a bounded length. */
function isVersion(text: string, start: number, end: number): boolean {
  if (isAt(releaseAfter, text, end)) return true
  const before = text.charAt(start - 1)
  if (/[A-Za-z]/.test(before)) return !endsEscape(text, start) || isProduct(text, start, end)
  if (before === '.') return isAt(memberBefore, text, start)
  if (before === '/') return isProduct(text, start, end)
  if (before === '-' || before === '_') return isAt(fileBefore, text, start) && isAt(fileAfter, text, end)
  return /[\s:="'\\]/.test(before) && isAt(versionBefore, text, start)
}

/** `so.1.2.3.4`: a name, or a fifth number. */
const memberBefore = /(?<=\w\.)/y

/** `version 1.2.3.4`, `"appVersion":"1.2.3.4"`, `"Chromium";v="120.0.0.0"`, `PostgreSQL 15.1.0.147`: by a word. */
const versionBefore =
  /(?<=(?:version|(?<![A-Za-z])(?:v|ver|rev|rv|build|PostgreSQL|Chrome|Chromium|Opera))[\\"']{0,4}\s?[:=]?\s?[\\"']{0,4})/iy

/** Products whose versions have four numbers: `Chrome/120.0.0.0`, also `Chrome%2F120.0.0.0` and `Chrome\/120.0.0.0`. */
const productBefore =
  /(?<=(?:^|[\s"'`(;,+=[|]|%20)(?:(?:Headless)?Chrome|Chromium|CriOS|Edg|EdgA|EdgiOS|OPR|OPT|OPX|Opera|Brave|SamsungBrowser|Version|Vivaldi|YaBrowser|envoy|kong|nginx|openresty|tengine|zlib)(?:\\?\/|%2F))/y

/** Any product in the User-Agent header of a browser. Elsewhere `Client/203.0.113.7` is an address. */
const browserProductBefore = /(?<=Mozilla.{0,400}(?:[\s(;,+]|%20)[A-Z][\w.-]{0,40}(?:\\?\/|%2F))/y
const endpointAfter = /[:/]\d/y

function isProduct(text: string, start: number, end: number): boolean {
  if (isAt(endpointAfter, text, end)) return false
  return isAt(productBefore, text, start) || isAt(browserProductBefore, text, start)
}

/** The parts of a file's name, `libfoo-1.2.3.4.so`, and of a version, `1.2.3.4-beta`. */
const fileBefore = /(?<=\w[-_])/y
const fileAfter =
  /[-.](?:apk|bz2|crate|css|deb|dll|dmg|dylib|exe|gem|gz|jar|js|json|min|msi|nupkg|pkg|rpm|so|tar|tgz|whl|xz|zip|el\d|linux|darwin|win32|amd64|arm64|x86)\b/iy
const releaseAfter = /[-+](?:alpha|beta|build|dev|preview|rc|snapshot)/iy

function isAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at
  return sticky.test(text)
}
