/** Hidden and control characters, by the classes of Unicode's own data (UCD 16, UTS 39). */
import { expect, test } from '@jest/globals'
import { allVisible, visible, visibleJson } from './visible-text.ts'

test.each([
  ['controls', '\0\x07\b\r\x1b\x7f', 0x85, 0x9b],
  ['marks of direction', 0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069],
  ['joiners and blanks without a width', 0x00ad, 0x034f, 0x180e, 0x200b, 0x200d, 0x2060, 0x2064, 0xfeff],
  ['letters that are blank', 0x115f, 0x1160, 0x17b4, 0x3164, 0xffa0, 0x2800, 0x1d159, 0x13441, 0x16fe4],
  ['joiners that are not drawn', 0x2d7f, 0x1107f],
  ['selectors of variants', 0x180b, 0x180f, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef],
  ['tags, assigned or not', 0xe0000, 0xe0001, 0xe0041, 0xe007f, 0xe0fff],
  ['separators and unusual spaces', 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x205f],
  ['annotations and musical controls', 0xfff9, 0xfffb, 0x1d173, 0x1bca0],
  ['private, unassigned and lone halves', 0xe000, 0xf0000, 0xfdd0, 0xffff, 0xd800, 0xdfff],
])('%s are shown as escapes', (_, ...given) => {
  const all = given.flatMap(code => (typeof code === 'number' ? code : Array.from(Buffer.from(code))))
  for (const code of all) {
    const text = `a${String.fromCodePoint(code)}b`
    expect(visible(text)).toBe(`a\\u{${code.toString(16)}}b`)
    expect(allVisible({ [text]: [text, 1, null] })).toEqual({ [visible(text)]: [visible(text), 1, null] })
  }
})

test.each([
  'GET /a?b=c 200',
  'a\tb\nc',
  'naïve déjà-vu, 1\u00a0000\u202f€, 日本\u3000語, e\u0301',
  'مرحبا بالعالم، שלום עולם, नमस्ते, ไทย, 한국어, ខ្មែរ',
  '😀 👍🏽 ✓ → “quoted” … ﷼ ½',
  'C:\\new\\u{202e} "x" \\\\u001b',
])('ordinary text stays: %j', text => {
  expect(visible(text)).toBe(text)
})

test('JSON stays the same value', () => {
  const value = { 'a\u001b\u202e': ['\u009b\u{e0041}\ufeff', 'é\u00a0😀', '\ud800'] }
  const json = visibleJson(JSON.stringify(value, null, 2))
  expect(JSON.parse(json)).toEqual(value)
  expect(json).toMatch(/\\u009b\\udb40\\udc41\\ufeff/)
  expect(json).not.toMatch(/[^\P{C}\n]/u)
})
