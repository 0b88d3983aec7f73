/** How to reach a person: e-mail addresses and phone numbers. */
import { mark } from './prefilter.ts'
import { outsideEscape } from './escapes.ts'
import {
  endOf,
  gap,
  isAt,
  type PersonalClass,
  replacement,
  type Span,
  startOf,
  wordStart,
} from './personal-class.ts'

/** Letters beyond ASCII, without the punctuation and the surrogates among them. */
const foreign = String.raw`\u00c0-\u1fff\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufdff`
const local = String.raw`\w.+\-${foreign}`
/** Of the other signs of RFC 5322 those that do not part fields as well, within a name; `b'...'` and the like begin a literal. */
const inName = String.raw`(?<=\w(?<!(?<!\w)[befnrux]|${replacement}))['~!](?=\w)`
const label = String.raw`[A-Za-z0-9_\-${foreign}]+`
const topLabel = String.raw`(?:xn--[A-Za-z0-9-]+|[A-Za-z${foreign}]{2,})`
/** `package@1.2.3-beta.one`, `package@1.2.3.tgz`, `logo@2x.png` and, of systemd, `user@1000.service` are no addresses. */
const version = String.raw`${replacement}\.|\d+\.\d+\.\d+(?:-|\.(?:min\.)?(?:tgz|tar|zip|js|mjs|css)\b)|\d(?:\.\d)?x\.(?:png|jpe?g|gif|webp|avif|svg|ico|bmp|heic|tiff?|pdf)\b|[\w:-]{1,60}\.(?:mount|scope|service|slice|socket|target|timer)\b(?!\.)`

/**
 * RFC 5321 as people use it: no domain without a dot. The pattern starts at the `@`, which is
 * rarer than the characters of a name. The host after the user information of a URL stays.
 */
const characters = String.raw`(?:[${local}]|${inName}|%2B)+`
/** The return path of a list or a forwarder has the reader's address in its name: `bounces+12-tom=example.com@list.example`. */
const returnPath = String.raw`(?:[\w.-]{1,64}\+[\w.+-]{1,64}=|(?:SRS[01]|prvs|msprvs1)[=+-](?:[\w.+-]{1,64}=){1,4}|[\w.-]{1,64}=(?=[\w-]{1,64}\.(?:com|net|org|edu|[a-z]{2})@))?`
const name = String.raw`${returnPath}${startOf(local)}${outsideEscape}${characters}|${characters}|"[^"\\@\r\n]{1,64}"`
export const email: PersonalClass = {
  name: 'e-mail address',
  marks: mark.at,
  pattern: new RegExp(
    String.raw`(?<!${replacement})@(?<=(${name})@)(?!${version})(?:${label}\.)+${topLabel}`,
    'gi',
  ),
  part: hit => [hit.index - hit[1]!.length, endOf(hit)],
}

/** E.164 has at most 15 digits; fewer than seven are taken for no phone number. */
const [fewest, most] = [7, 15]

/** People write `+31 (0)6-12345678`, `+49 30/123456` and `(+1) 415.555.0132`. */
const separator = String.raw`(?:${gap}|[./()]|_(?!000)){1,4}`
const inOne = String.raw`\d{${fewest - 1},${most - 1}}(?!\d)`
const inGroups = String.raw`\d{0,3}(?:${separator}\d{1,${most - 1}}){1,6}(?!\d)`

/** The zones from +10:00 on, none of which begins a number but that of Chatham, +13:45: +1 345 is the Cayman Islands. */
const zone = String.raw`\+1(?:[0-4]00|[01]30|245|345(?!${separator}\d{3}\D?\d{4}))(?!\d)`

/** `+31612345678` and, in groups, `+1 (415) 555-0132`, but not the zone of a time of day, `10:00:00 +1000`. */
export const phone: PersonalClass = {
  name: 'phone number',
  marks: mark.plus,
  pattern: new RegExp(
    String.raw`(?!(?<=\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)? ?)${zone})(?:${wordStart}|(?<=${replacement}))(?:\+|%2B)[1-9](?:${inOne}|${inGroups})(?![A-WYZa-wyz0-9]|x(?!\d))(?!\.\d)`,
    'gi',
  ),
  part: wholeGroups,
}

/** By its name, and in a geometry as text: `POINT(+4.89 +52.37)`. */
const coordinateBefore =
  /(?<=(?<![A-Za-z])(?:lat|latitude|lon|lng|longitude)\\?["']?[=:] ?|(?:POINT|STRING|POLYGON)(?: ?Z?M?) ?\({1,3}(?:[\d\s.,+(-]|\),){0,200})/iy

/** The plans of +1 and +7 have eleven digits. */
const planOfEleven = /^(?:\+|%2B)[17]/i

/** The number up to the last group that its plan or E.164 has room for: a number that follows it stays. */
function wholeGroups(hit: RegExpExecArray): Span | null {
  if (isAt(coordinateBefore, hit.input, hit.index)) return null
  const whole = planOfEleven.test(hit[0]) ? 11 : most
  // Where blanks are written as blanks, a plus behind a group begins a number as well.
  const own = /\s/.test(hit[0]) ? /^.[^+]*/.exec(hit[0])![0] : hit[0]
  let digits = 0
  let end = 0
  for (const group of own.matchAll(/%2[0B]|\d+/gi)) {
    if (group[0].startsWith('%')) continue
    if (digits === whole || digits + group[0].length > most) break
    digits += group[0].length
    end = hit.index + group.index + group[0].length
  }
  return digits < fewest ? null : [hit.index, end]
}
