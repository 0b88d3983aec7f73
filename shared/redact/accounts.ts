/** Numbers of accounts: payment cards and IBANs, which differ from other numbers by issuer, length and check digits. */
import { mark } from './prefilter.ts'
import { gap, isAt, type PersonalClass, type Span, wordStart } from './personal-class.ts'

/**
 * Prefixes and lengths in use, by ISO/IEC 7812 and the issuers' own tables. None begins with 1, as times since 1970 do in
 * seconds to nanoseconds until 2033. Visa's 13 digits, long withdrawn, would be EAN codes.
 */
const issuers: Record<string, string> = {
  Visa: String.raw`4\d{15}`,
  Mastercard: String.raw`(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}`,
  'American Express': String.raw`3[47]\d{13}`,
  'Diners Club': String.raw`3(?:0[0-5]|[689]\d)\d{11}`,
  JCB: String.raw`35(?:2[89]|[3-8]\d)\d{12}`,
  Discover: String.raw`(?:6011|64[4-9]\d|65\d\d)\d{12}`,
  UnionPay: String.raw`62\d{14,17}`,
  Maestro: String.raw`(?:50(?:18|20|38)|5893|6304|6759|676[1-3])\d{9,15}`,
  Mir: String.raw`220[0-4]\d{12}`,
}
const issued = new RegExp(`^(?:${Object.values(issuers).join('|')})$`)

/** Whether `digits` are a payment card's: an issuer's prefix and length, and the check digit of Luhn. */
export function isCard(digits: string): boolean {
  return issued.test(digits) && luhn(digits)
}

function luhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48
    sum += at % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)
  }
  return sum % 10 === 0
}

/**
 * In groups of three digits or more but for the last, or run together; signs that numbers and paths have too separate them
 * twice or more, and the same. The few cards of 17 to 19 digits are found in groups only: run
 * together they look like the 64-bit ids of a database's log.
 */
const blanks = String.raw`(?:${gap}|\t){1,3}`
const groups = String.raw`\d{3,16}(?:(?:${blanks}\d{1,16}){1,5}|([./_\u00b7])\d{1,16}(?:\2\d{1,16}){1,5}|(?<=\d{4})([,;|] ?|\r?\n)(?:\d{4}\3\d{4}\3\d{4}|\d{6}\3\d{5})(?!\3?\d))?`

/** `visa4111...`, and the track of a magnetic stripe, `%B4111...^`. */
const wordOfCard = '[Cc]ard|CARD|[Vv]isa|VISA|[Aa]mex|AMEX|[Pp]an|PAN|(?<![A-Za-z0-9])[Cc][Cc]|%B'

/** As databases and JSON write a number that has a fraction in its type: `4.53201511283036e+15`. */
const asFloat = String.raw`\d\.\d{1,15}[Ee]\+?1[2-5](?![\dA-Za-z])`

/**
 * The candidate is read by lookahead, so that a refused one cannot hide another that begins inside it. The digits of a
 * fraction are no card, nor is the id of a span after the id of its trace.
 */
export const card: PersonalClass = {
  name: 'payment card',
  marks: mark.card,
  pattern: new RegExp(
    String.raw`(?=[2-6](?:\d\d|\.))(?:${wordStart}|(?<=${wordOfCard}))(?<!(?:\d|REDACTED)\.|[0-9A-Fa-f]{32}-)(?=(${asFloat}|${groups}))\d(?:\d\d|\.)`,
    'g',
  ),
  part: cardIn,
}

/** An id or a size by its name, `blk_-5195120009388265`, or a negative number: one in 40 would pass for a card. */
const idBefore =
  /(?<=(?:(?<![A-Za-z]|(?:card|pan)[_-])(?:ids?|IDs?|blk|block|uuid|guid|trace|span|offset|size|bytes|lsn|xid|txn?|seq|nonce)|(?<!card|Card|pan|Pan)(?<=[a-z])Id)["'\\]{0,4}[ _:=#-]{0,2}["'\\]{0,4}-?|[\s_=:(,[]-)/y

/** As many groups of digits as are a card's number, since its expiry and code may follow. */
function cardIn({ 0: { length }, 1: whole, input, index }: RegExpExecArray): Span | null {
  if (/e/i.test(whole!)) return isCard(String(Number(whole))) ? [index, index + whole!.length] : null
  let [digits, end] = ['', index]
  for (const { 0: group, 1: own, index: at } of whole!.matchAll(groupOfDigits)) {
    digits += own!
    const past = index + at + group.length
    const isId = past === index + digits.length && (digits.length > 16 || isAt(idBefore, input, index))
    if (!isId && isCard(digits) && !isAt(numberAfter, input, past)) end = past
    if (own!.length < length) break
  }
  return end > index ? [index, end] : null
}

const groupOfDigits = /(?:%20|\D){0,9}(\d+)/g
/** The fraction of a number, but for one without a value. */
const numberAfter = /[A-Za-z0-9]|\.(?!00?(?!\d))\d/y

/** Length of an IBAN by country: SWIFT's IBAN registry, release 99. */
const ibanLengths =
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
  'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
  'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
  'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
const lengthOf = new Map(ibanLengths.split(' ').map(entry => [entry.slice(0, 2), Number(entry.slice(2))]))

/** ISO 13616: country, two check digits, up to 30 letters and digits, often in groups. */
const gaps = String.raw`(?:${gap}|[\t./_\u00b7]){0,3}`
export const iban: PersonalClass = {
  name: 'IBAN',
  marks: mark.iban,
  pattern: new RegExp(
    String.raw`[A-Za-z]{2}\d{2}(?<=(?:${wordStart}|(?<=[Ii][Bb][Aa][Nn]))(?=([A-Za-z]{2}\d{2}(?:${gaps}[A-Za-z0-9]){11,30}))....)`,
    'g',
  ),
  part: ibanIn,
}

/** The candidate may have run into the words that follow: the country says where it ends. */
function ibanIn(hit: RegExpExecArray): Span | null {
  const candidate = hit[1]!
  const length = lengthOf.get(candidate.slice(0, 2).toUpperCase())
  if (length === undefined) return null
  const ends = [...candidate.matchAll(ibanCharacters)].map(({ 0: text, index }) => index + text.length)
  const end = ends[length - 1]
  if (end === undefined || /[A-Za-z0-9]/.test(hit.input.charAt(hit.index + end))) return null
  const iban = candidate.slice(0, end).replace(ibanCharacters, '$1')
  return mod97(iban) ? [hit.index, hit.index + end] : null
}

/** One character with the gap before it. */
const ibanCharacters = new RegExp(`${gaps}([A-Za-z0-9])`, 'g')

/** ISO 7064: with the first four characters at the end and letters as 10 to 35, the rest of a division by 97 is 1. */
function mod97(text: string): boolean {
  let rest = 0
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
