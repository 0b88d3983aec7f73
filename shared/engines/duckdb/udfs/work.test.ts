/** Every user-defined function with values as large as it takes, which take it long, and larger ones. */
import { describe, expect, test } from '@jest/globals'
import { functions } from './register.ts'
import type { ColumnType } from './udf.ts'
import { mostJsonTokens, mostOf, sizeOf } from './work.ts'
import { expectProcessorTime } from '../../../testing/processor-time.ts'

/** Milliseconds of processor time for one row: 100 on a machine with nothing else to do. */
const mostMs = 500

const fill = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

/** Texts of so many characters. */
const texts = (size: number): string[] => [
  ...[
    'a',
    'A',
    '9',
    '.',
    'é',
    '각',
    '😀',
    ' ',
    '%c',
    '%0',
    '-',
    'YYYY',
    '"',
    '\\',
    '\u0001',
    'a.',
    'é.',
    '\u0301\u0316',
  ].map(unit => fill(unit, size)),
  `1${' '.repeat(size - 2)}x`,
  `+${' '.repeat(size - 2)}x`,
  `"${fill('\\n', size - 3).replace(/\\$/, '')}"`,
  `[${fill('1,', size - 4).replace(/,$/, '')}]`,
  `[${fill('{},', size - 6).replace(/[^}]+$/, '')}]`,
  `{${fill('"a":1.5e9,', size - 12).replace(/[^0-9]+$/, '')}}`,
  // As many values as there may be.
  `[${fill('1,', Math.min(size - 4, mostJsonTokens - 4)).replace(/,$/, '')}]`,
  `{${Array.from({ length: Math.min(size / 12, mostJsonTokens / 4) - 1 }, (_, at) => `"${at.toString(36)}":1.5`).join(',')}}`,
  `${'['.repeat(400)}"${'a'.repeat(Math.max(size - 802, 0))}"${']'.repeat(400)}`,
  `${'{"k":'.repeat(400)}[${fill('1,', Math.max(size - 2802, 0))}1]${'}'.repeat(400)}`,
  `${`{"${'k'.repeat(Math.floor(size / 800))}":`.repeat(400)}1${'}'.repeat(400)}`,
]

const small: Record<ColumnType, unknown[]> = {
  BIGINT: [1n, -1n, 500_000n],
  BLOB: [new Uint8Array([65])],
  BOOLEAN: [true, false],
  DECIMAL: [10n ** 37n],
  DOUBLE: [1e308, 5e-324],
  INTERVAL: [{ months: 1, days: 1, micros: 1n }],
  VARCHAR: ['a', '[]', '["a"]', 'UTC', 'NFKD', 'exact', 'lax', 'base2', '&'],
  'VARCHAR[]': [['1']],
}

/** Values of a type that fill a row of so many characters. */
const large: Partial<Record<ColumnType, (size: number) => unknown[]>> = {
  VARCHAR: texts,
  BLOB: size => [255, 97, 0xe2].map(byte => new Uint8Array(size).fill(byte)),
  'VARCHAR[]': size => [Array<string>(Math.floor(size / 4)).fill('65')],
}

/** Calls with one large value and small ones, and of two large texts of half the size. */
function hostile(parameters: ColumnType[], size: number): unknown[][] {
  const calls = parameters.flatMap((type, at) =>
    (large[type]?.(size - 64) ?? []).flatMap(value =>
      (parameters.length > 1 ? [0, 3, 6] : [0]).map(turn =>
        parameters.map((type, other) =>
          other === at ? value : small[type][(turn + other) % small[type].length],
        ),
      ),
    ),
  )
  const pair = [fill('a', size / 2 - 32), fill('a', size / 2 - 32)]
  const pairs = parameters.map((type, at) => (type === 'VARCHAR' && at < 2 ? pair[at] : small[type].at(-1)))
  return [...calls, pairs]
}

function attempt(act: () => unknown): void {
  try {
    act()
  } catch (error) {
    // Others come of arguments that the rewriting never makes, such as paths that are none.
    if (error instanceof RangeError && error.message.includes('stack')) throw error
  }
}

const ofTexts = Object.entries(functions).filter(([, { parameters }]) => parameters.some(type => large[type]))

describe.each(ofTexts)('%s', (name, { parameters, compute }) => {
  test('ends soon with values as large as it takes', async () => {
    const act = compute as (...values: unknown[]) => unknown
    for (const values of hostile(parameters, mostOf(name)))
      if (sizeOf(values) <= mostOf(name))
        await expectProcessorTime(mostMs, () => attempt(() => act(...values)))
  })
})
