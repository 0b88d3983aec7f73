/**
 * Addresses and e-mail addresses of a log line, by a slow and strict way of its own, against which the redactor is judged:
 * the line is cut into words, and parsers decide. It shares no code and no pattern with `shared/redact`.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

export type Kind = 'IPv4' | 'IPv4 in a host name' | 'IPv6' | 'MAC' | 'e-mail'

export interface Member {
  kind: Kind
  text: string
}

/** Characters that no address and no host name holds. */
const separators = new Set(' \t\r\n"\'`()<>{},;=|&?#!*$\\/~'.split(''))

/** @returns the texts of all members in the line, with repetitions */
export function personalData(line: string): Member[] {
  const agents = userAgents(line)
  return wordsOf(line).flatMap(({ text, at }) => {
    const inAgent = agents.some(([start, end]) => start <= at && at < end)
    const isVersion = inAgent || ['~', 'version ', 'version='].some(sign => line.slice(0, at).endsWith(sign))
    const found = emailsIn(text)
    if (found.length > 0) return found
    const stripped = [text, text.slice(1, -1), text.slice(0, -1), text.slice(1)]
    const ipv6 = stripped.flatMap(part => ipv6In(part)).at(0)
    if (ipv6 !== undefined) return [{ kind: 'IPv6', text: ipv6 }]
    const mac = stripped.find(part => isMac(part))
    if (mac !== undefined) return [{ kind: 'MAC', text: mac }]
    return [...(isVersion ? [] : quadsIn(text)), ...hostQuadsIn(text)]
  })
}

function wordsOf(line: string): { text: string; at: number }[] {
  const words = []
  let start = 0
  for (let at = 0; at <= line.length; at++) {
    if (at < line.length && !separators.has(line.charAt(at))) continue
    if (at > start) words.push({ text: line.slice(start, at), at: start })
    start = at + 1
  }
  return words
}

/** Quoted texts whose first word is a product with a version, as in the combined format of web servers. */
function userAgents(line: string): [start: number, end: number][] {
  const quotes = [...line.matchAll(/"/g)].map(({ index }) => index)
  return quotes.flatMap((start, number): [number, number][] => {
    const end = quotes[number + 1]
    if (end === undefined) return []
    const [product = '', version = ''] = line
      .slice(start + 1, end)
      .split(' ', 1)[0]!
      .split('/', 2)
    const isProduct = product !== '' && !product.includes(':') && version !== '' && Number(version[0]) >= 0
    return isProduct && !isIPv4(version) ? [[start, end]] : []
  })
}

/** Four numbers between dots that `node:net` takes for an address, with none before or after them, and no letter after. */
function quadsIn(word: string): Member[] {
  const runs = [...word.matchAll(/\d[\d.]*(?<!\.)/g)].filter(
    ({ 0: run, index }) => !isLetter(word[index + run.length]),
  )
  return runs.flatMap(([run]): Member[] => {
    const numbers = run.split('.').filter(number => number !== '')
    const isAddress = numbers.length === 4 && isIPv4(numbers.map(Number).join('.'))
    return isAddress ? [{ kind: 'IPv4', text: numbers.join('.') }] : []
  })
}

/** Four numbers between hyphens, in a label with letters or before a domain; the first may follow a letter. */
function hostQuadsIn(word: string): Member[] {
  const [label = '', ...domain] = word.split('.')
  const parts = label.split('-')
  const numbers = parts.map(part => Number(part))
  const inLabel = label.split('').some(isLetter) || isLetter(domain.at(-1)?.[0])
  return parts.flatMap((part, at): Member[] => {
    const first = part.slice(part.split('').findLastIndex(isLetter) + 1)
    const address = [first, ...parts.slice(at + 1, at + 4)]
    const isQuad = address.length === 4 && address.every(octet => octet !== '' && Number(octet) <= 255)
    const beside = (part === first && numbers[at - 1]! >= 0) || numbers[at + 4]! >= 0
    return inLabel && isQuad && !beside ? [{ kind: 'IPv4 in a host name', text: address.join('-') }] : []
  })
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && character.toLowerCase() !== character.toUpperCase()
}

/** With brackets, a zone and a port taken off; names such as `a::b` in programs are none. */
function ipv6In(word: string): string[] {
  const parts = word.split(/[[\]%@]/)
  const bare = parts.flatMap(part => [
    part,
    // Before a port and a word; twelve groups are an id.
    part.split(':').length > 10 ? '' : part.split(':').slice(0, 8).join(':'),
    part.split(':').slice(0, -1).join(':'),
    part.split(':').slice(1).join(':'),
  ])
  return bare.filter(part => isIPv6(part) && part !== '::' && /[0-9]/.test(part))
}

function isMac(word: string): boolean {
  const octets = word.replaceAll('-', ':').split(':')
  return (
    octets.length === 6 && octets.every(octet => octet.length === 2 && !Number.isNaN(Number(`0x${octet}`)))
  )
}

/** A name and a domain with a top-level domain of letters; `%40` is an `@`. */
function emailsIn(word: string): Member[] {
  const text = word.replaceAll('%40', '@')
  const at = text.indexOf('@')
  if (at < 1) return []
  const name = text
    .slice(0, at)
    .split(/[:[\]+%]/)
    .at(-1)!
  const domain = text
    .slice(at + 1)
    .split(/[:@[\]%_]/)[0]!
    .replace(/\.+$/, '')
  const labels = domain.split('.')
  const isDomain = labels.length > 1 && /^[a-z]{2,}$/i.test(labels.at(-1)!) && domainToASCII(domain) !== ''
  return name !== '' && isDomain
    ? [{ kind: 'e-mail', text: word.includes('%40') ? `${name}%40${domain}` : `${name}@${domain}` }]
    : []
}
